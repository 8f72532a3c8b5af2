"""Events as objects and as stored bytes: the envelope as plain JSON, comparison, pickle, parse_unverified."""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from typing import Any

import pytest

import billcore
from billcore import webhooks

from .support import SECRET, sign

ENVELOPE: dict[str, Any] = {
    "id": 50001,
    "name": "order.paid",
    "account": 77,
    "created_at": "2026-05-01T10:00:00Z",
    "data": {"id": 9102337, "total": 19900, "delivery": None},
    "added later": [1, {"of": 18446744073709551616}],
}
BODY = json.dumps(ENVELOPE).encode()


def verified(body: bytes = BODY) -> webhooks.Event:
    return webhooks.unwrap(body, sign(body), SECRET)


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


def test_of_two_equal_names_the_last_one_counts() -> None:
    event = verified(b'{"name":"order.confirmed","id":1,"name":"order.paid"}')
    assert event.name == event["name"] == event.to_dict()["name"] == "order.paid"


def test_the_body_makes_events_equal() -> None:
    event, other = verified(), verified(json.dumps({**ENVELOPE, "id": 50002}).encode())
    assert event == verified() and hash(event) == hash(verified())
    assert event != other and event != BODY and event != ENVELOPE
    assert {event, verified(), other} == {other, event}
    with pytest.raises(TypeError):
        assert event < other  # type: ignore[operator]


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_the_body(protocol: int) -> None:
    event = verified()
    stored = pickle.dumps(event, protocol)
    loaded = pickle.loads(stored)
    assert type(loaded) is webhooks.OrderPaid and loaded == event and loaded.raw == BODY
    assert isinstance(loaded.data, billcore.Order) and loaded.data.total == 19900
    if protocol >= 3:
        assert BODY in stored


def test_a_worker_loads_no_client() -> None:
    """An event from a queue can be read in a process that imports only signatures and events."""
    program = (
        "import pickle, sys; event = pickle.load(sys.stdin.buffer); "
        "print(event.name, event.data.total, 'billcore._client' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps(verified()), capture_output=True, check=True, timeout=60
    )
    assert done.stdout.decode().split() == ["order.paid", "19900", "False"]


def test_a_copy_is_the_event_itself() -> None:
    event = verified()
    assert copy.copy(event) is event and copy.deepcopy([event])[0] is event


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
        (b"", "not valid JSON"),
        (b'{"name":"order.paid"', "not valid JSON"),
        (b"[]", "an array, not an object"),
        (b'"order.paid"', "a string, not an object"),
        (b'{"data":' * 600 + b"1" + b"}" * 600, "nested deeper than 512"),
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
