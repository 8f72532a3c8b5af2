"""Events as objects and as stored bytes: their classes, the envelope as plain JSON, comparison, pickle,
parse_unverified. tests/conformance/test_webhook_vectors.py has the values of each field."""

from __future__ import annotations

import copy
import json
import pickle
from datetime import UTC, datetime
from typing import Any

import pytest

import billcore
from billcore import webhooks

from .model_support import EVENTS
from .support import ORDER, SECRET, event, sign

ENVELOPE: dict[str, Any] = {
    "id": 50001,
    "name": "order.paid",
    "account": 77,
    "created_at": "2026-05-01T10:00:00Z",
    "data": {"id": 9102337, "total": 19900, "delivery": None},
    "added later": [1, {"of": 18446744073709551616}],
}
BODY = json.dumps(ENVELOPE).encode()
NO_OBJECTS: list[Any] = [None, "text", 5, 1.5, True, [], [{}]]


def verified(body: bytes = BODY) -> webhooks.Event:
    return webhooks.unwrap(body, sign(body), SECRET)


# Each event name has its own class, which determines the type of the data.


@pytest.mark.parametrize("name", EVENTS)
def test_each_event_has_its_class(name: str) -> None:
    kind, data, sample = EVENTS[name]
    made = event(sample, name)
    assert type(made) is kind and isinstance(made, webhooks.Event)
    assert (made.id, made.name, made.account) == (7, name, 3)
    assert made.created_at == datetime(2025, 4, 25, 10, tzinfo=UTC)
    assert type(made.data) is data and made.data is made.data
    assert made.data.to_dict() == sample and made.data.response_info is None
    for again in (webhooks.parse_unverified(made.raw), pickle.loads(pickle.dumps(made))):
        assert again == made and type(again) is kind


def test_every_class_is_public_and_final() -> None:
    public = {value for name in webhooks.__all__ if isinstance(value := getattr(webhooks, name), type)}
    kinds = {kind for kind, *_ in EVENTS.values()}
    assert set(webhooks.Event.__subclasses__()) == kinds <= public
    for kind in kinds:
        assert getattr(webhooks, kind.__name__) is kind and pickle.loads(pickle.dumps(kind)) is kind
        with pytest.raises(TypeError):
            type("Mine", (kind,), {})
        with pytest.raises(billcore.ConfigError, match="cannot be made by hand"):
            kind()
    assert webhooks.OrderPaid.__doc__ == "order.paid; its data is an Order. Service interface: Events."
    assert webhooks.TestHook.__test__ is False  # pytest does not collect it


@pytest.mark.parametrize("value", NO_OBJECTS)
def test_data_that_is_no_object_is_plain(value: Any) -> None:
    for name, (kind, data, _) in EVENTS.items():
        made = event(value, name)
        assert type(made) is (webhooks.UnknownEvent if data is not billcore.Resource else kind) and made.name == name
        assert made.data == value and type(made.data) is type(value)
    absent = webhooks.parse_unverified(b'{"name":"order.paid"}')
    assert type(absent) is webhooks.UnknownEvent and absent.data is None


@pytest.mark.parametrize("name", ["order.paid ", "Order.paid", "", None, 5, ["order.paid"]])
def test_other_names_are_unknown(name: Any) -> None:
    made = event(ORDER, name)
    assert type(made) is webhooks.UnknownEvent and type(made.data) is billcore.Resource


def test_of_two_equal_members_the_last_one_counts() -> None:
    body = b'{"name":"order.confirmed","name":"order.paid","data":%s,"data":%s}'
    last = webhooks.parse_unverified(body % (b"5", b'{"total":1}'))
    assert type(last) is webhooks.OrderPaid and last.name == last["name"] == last.to_dict()["name"] == "order.paid"
    assert type(webhooks.parse_unverified(body % (b'{"total":1}', b"5"))) is webhooks.UnknownEvent


# ---- The envelope ----------------------------------------------------------------------------------------------------


def test_an_event_without_anything() -> None:
    made = verified(b"{}")
    assert made.data is None
    for name in ("id", "name", "account", "created_at"):
        with pytest.raises(billcore.MissingFieldError, match=rf"^{name} is absent"):
            getattr(made, name)
        assert not hasattr(made, name) and getattr(made, name, "default") == "default"


def test_the_envelope_is_plain_json() -> None:
    event = verified()
    assert event.to_dict() == ENVELOPE
    assert {name: event[name] for name in ENVELOPE} == ENVELOPE
    assert "data" in event and "added later" in event
    assert not any(name in event for name in ("Data", "", "total", "\ud800", None, 1))
    with pytest.raises(KeyError, match="total"):
        event["total"]
    with pytest.raises(KeyError):
        event[0]  # type: ignore[index]
    event.to_dict()["data"]["total"] = 0
    event["data"]["total"] = 0
    assert event.to_dict() == ENVELOPE
    with pytest.raises(TypeError):
        iter(event)  # type: ignore[call-overload]


def test_the_body_makes_events_equal() -> None:
    event, other = verified(), verified(json.dumps({**ENVELOPE, "id": 50002}).encode())
    assert event == verified() and hash(event) == hash(verified())
    assert event != other and event != BODY and event != ENVELOPE
    assert {event, verified(), other} == {other, event}
    with pytest.raises(TypeError):
        assert event < other  # type: ignore[operator]
    assert copy.copy(event) is event and copy.deepcopy([event])[0] is event


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_the_body(protocol: int) -> None:
    event = verified()
    stored = pickle.dumps(event, protocol)
    loaded = pickle.loads(stored)
    assert type(loaded) is webhooks.OrderPaid and loaded == event and loaded.raw == BODY
    assert isinstance(loaded.data, billcore.Order) and loaded.data.total == 19900
    if protocol >= 3:
        assert BODY in stored


# ---- Stored bytes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_stored_bytes_are_read_without_a_signature(kind: type) -> None:
    event = webhooks.parse_unverified(kind(BODY))
    assert event == verified() and type(event.raw) is bytes
    assert event.data == verified().data and event.id == 50001
    assert webhooks.parse_unverified(raw=b'{"name":"test.hook"}').name == "test.hook"


def test_a_buffer_that_changes_later_changes_no_event() -> None:
    buffer = bytearray(BODY)
    event = webhooks.parse_unverified(buffer)
    buffer[:] = b" " * len(buffer)
    assert event.raw == BODY and event.to_dict() == ENVELOPE


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b'{"name":"order.paid"', "not valid JSON"),
        (b"[]", "an array, not an object"),
        (b"[" * (4 << 20), "nested deeper than 512"),
        (b'{"data":[' + b"1," * (4 << 20) + b"1]}", "too many to load at once"),
    ],
)
def test_bytes_that_are_no_event(raw: bytes, words: str) -> None:
    with pytest.raises(billcore.DecodeError, match=words) as caught:
        webhooks.parse_unverified(raw)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("raw", [None, "{}", 1, {}, memoryview(b"1234")[::2]])
def test_a_raw_event_that_is_not_bytes_is_refused(raw: Any) -> None:
    with pytest.raises(billcore.InvalidArgumentError, match=r"^raw "):
        webhooks.parse_unverified(raw)
