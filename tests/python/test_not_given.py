"""NOT_GIVEN is the default value of each argument that can be omitted; editors show the docstrings of all functions."""

from __future__ import annotations

import copy
import inspect
import pickle
import re
from collections.abc import Iterator
from typing import Any

import pytest

import billcore
from billcore import NOT_GIVEN, webhooks

from .conftest import Serve
from .support import SUBSCRIPTION, data


def test_not_given_is_one_object_with_its_own_name() -> None:
    assert repr(NOT_GIVEN) == str(NOT_GIVEN) == f"{NOT_GIVEN}" == "NOT_GIVEN"
    assert type(NOT_GIVEN) is billcore.NotGiven and billcore.NotGiven() is NOT_GIVEN
    assert not NOT_GIVEN and NOT_GIVEN == NOT_GIVEN and NOT_GIVEN != b"" and len({NOT_GIVEN, b""}) == 2
    assert copy.copy(NOT_GIVEN) is copy.deepcopy(NOT_GIVEN) is NOT_GIVEN
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(NOT_GIVEN, protocol)) is NOT_GIVEN


def test_not_given_counts_as_left_out(serve: Serve) -> None:
    server, client = serve([data(SUBSCRIPTION)] * 2)
    client.subscriptions.get("s", timeout=NOT_GIVEN)
    client.with_options(timeout=NOT_GIVEN, max_retries=NOT_GIVEN, headers=NOT_GIVEN).subscriptions.get("s")
    assert len(server.requests) == 2


@pytest.mark.parametrize("wrong", [..., b"", object()])
def test_other_placeholders_are_refused(serve: Serve, wrong: Any) -> None:
    server, client = serve([])
    with pytest.raises(billcore.InvalidArgumentError, match="timeout must be a number of seconds"):
        client.subscriptions.get("s", timeout=wrong)
    with pytest.raises(billcore.InvalidArgumentError):
        client.request("POST", "/x", json={"a": NOT_GIVEN})
    assert server.requests == []


def public_functions() -> Iterator[tuple[str, Any]]:
    for module in (billcore, webhooks):
        for name in module.__all__:
            value = getattr(module, name)
            if inspect.isclass(value) and not issubclass(value, BaseException | billcore.NotGiven):
                for key in vars(value):
                    if not key.startswith("_") and inspect.isroutine(getattr(value, key)):
                        yield f"{name}.{key}", getattr(value, key)
            elif inspect.isroutine(value):
                yield name, value


FUNCTIONS = dict(public_functions())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_argument_has_a_line(name: str) -> None:
    """Functions with two or more arguments document each one in the section Args."""
    parameters = [one for one in inspect.signature(FUNCTIONS[name]).parameters if one != "self"]
    text = inspect.getdoc(FUNCTIONS[name]) or ""
    section = re.search(r"^Args:\n((?:    .*\n?)+)", text, re.MULTILINE)
    if section is None:
        assert len(parameters) < 2 or name.startswith("Arrow") or name in ALIKE, parameters
        return
    lines = section[1].splitlines()
    assert [re.match(r"    (\w+): \S", line)[1] for line in lines if re.match(r"    \w+: ", line)] == parameters  # type: ignore[index]
    assert len(lines) == len(parameters), "a line each"


# Functions whose arguments are documented at another function or in the running text.
ALIKE = {
    "Verifier.allowing_any_key_length",
    "explain",
    "from_asgi",
    "from_lambda",
    "from_wsgi",
    "same_id",
    "sign",
}


def test_no_signature_shows_an_ellipsis() -> None:
    for name, function in FUNCTIONS.items():
        assert all(one.default is not ... for one in inspect.signature(function).parameters.values()), name
    assert inspect.signature(billcore.Subscriptions.get).parameters["timeout"].default is NOT_GIVEN
