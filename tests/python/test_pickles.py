"""Pickles that an earlier version stored, which objects can be pickled, and the memory for many events."""

from __future__ import annotations

import base64
import io
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import billcore

from .model_support import EVENTS
from .support import event
from .test_errors import SAMPLES

STORED = json.loads((Path(__file__).resolve().parents[1] / "fixtures" / "pickles.json").read_text("utf-8"))
ROWS = {row["name"]: base64.b64decode(row["pickle"]) for row in STORED["rows"]}
RESOURCES = {kind.__name__: sample for _, kind, sample in EVENTS.values()}


def load(name: str) -> Any:
    return pickle.loads(ROWS[name])


def test_the_fixture_holds_what_can_be_stored() -> None:
    errors = {type(error).__name__ for error in SAMPLES}
    events = {f"event {name}" for name in EVENTS}
    assert ROWS.keys() >= errors | events | RESOURCES.keys() | {"CustomFieldValue", "Delivery", "Attempt", "NotGiven"}


@pytest.mark.parametrize("name", EVENTS)
def test_a_stored_event(name: str) -> None:
    kind, data, sample = EVENTS[name]
    loaded, made = load(f"event {name}"), event(sample, name)
    assert type(loaded) is kind and loaded == made and loaded.raw == made.raw
    assert type(loaded.data) is data and loaded.data == made.data


@pytest.mark.parametrize("name", RESOURCES)
def test_a_stored_resource(name: str) -> None:
    loaded = load(name)
    assert type(loaded).__name__ == name and loaded.to_dict() == RESOURCES[name] and loaded.response_info is None


@pytest.mark.parametrize("error", SAMPLES, ids=lambda error: type(error).__name__)
def test_a_stored_error(error: billcore.BillcoreError) -> None:
    loaded = load(type(error).__name__)
    assert type(loaded) is type(error) and str(loaded) == str(error)
    for name, value in loaded.__dict__.items():
        if name not in ("__notes__", "__cause__"):
            assert getattr(error, name) == value, name


def test_a_pickle_names_nothing_but_billcore() -> None:
    """Services restrict unpickling to a list of allowed names; a pickle must need only names of billcore."""
    found = []

    class Unpickler(pickle.Unpickler):
        def find_class(self, module: str, name: str) -> Any:
            found.append(f"{module}.{name}")
            return super().find_class(module, name)

    for name, (_, _, sample) in EVENTS.items():
        resource = event(sample, name).data
        for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
            assert Unpickler(io.BytesIO(pickle.dumps(resource, protocol))).load() == resource
    assert set(found) == {"billcore._webhook._restore"}


def test_stored_pickles_of_other_objects_load() -> None:
    assert load("NotGiven") is billcore.NOT_GIVEN
    assert load("CustomFieldValue").value == [1] and load("Delivery").link == "https://x.example/"
    attempt = load("Attempt")
    assert (attempt.route, attempt.status, attempt.wait) == ("/subscription/{id}", 503, 1.5)
