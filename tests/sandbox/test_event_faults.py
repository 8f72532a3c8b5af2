"""Faults of events, as a real listener gets them: bodies, deliveries and single attempts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from billcore.testing import Attempt, Control, ControlError, Delivery, SandboxAccount
from sandbox.support import Receiver, account_of, attempted, ended, make, names, sign
from support.waiting import until

BODY_KINDS = ("event_integers", "event_unknown_name", "event_unknown_fields", "event_escapes")
ATTEMPT_KINDS = ("event_signature", "event_old_secret", "event_truncated", "event_oversize")
# A name with `<`, quotes and backslashes, which the styles of event_escapes encode differently, and with characters of
# two and of four bytes.
NAME = 'Bøger & <b>"Tea"</b> \\ it\'s / \\" \N{PARTY POPPER}'


def as_sent(delivery: Delivery, attempt: Attempt) -> tuple[bytes, str]:
    """The body and the signature that were sent, according to the records of the delivery and the attempt."""
    body, signature = attempt.get("body", delivery["body"]), attempt.get("signature", delivery["signature"])
    assert ["Service-Signature", signature] in attempt["headers"]
    assert ["Content-Length", str(len(body.encode()))] in attempt["headers"]
    return body.encode(), signature


@pytest.mark.parametrize("kind", [*BODY_KINDS, *ATTEMPT_KINDS, "event_duplicate", "event_reorder", "event_delay"])
def test_the_record_has_the_bytes_that_the_receiver_got(mine: SandboxAccount, receiver: Receiver, kind: Any) -> None:
    control = mine.control
    endpoint = control.create_endpoint(receiver.url)["id"]
    receiver.script = [500]
    control.fault(kind, event="product.updated", endpoint_id=endpoint)
    make(control, NAME, NAME)
    control.advance(seconds=60)
    deliveries = ended(control)
    sent = [as_sent(delivery, each) for delivery in deliveries for each in delivery["attempts"]]
    assert sorted(sent) == sorted(item.sent for item in receiver.received)
    assert {each["state"] for each in deliveries} == {"delivered"}
    kinds = {kind for each in deliveries for kind in each["faults"]}
    kinds |= {attempt["fault"] for each in deliveries for attempt in each["attempts"] if attempt["fault"] is not None}
    assert kinds == {kind}
    (fault,) = control.faults()
    assert (fault["event"], fault["endpoint_id"], fault["fired"], fault["left"]) == ("product.updated", endpoint, 1, 0)


# ---- Bodies ----------------------------------------------------------------------------------------------------------


def body_with(control: Control, receiver: Receiver, kind: Any, **fields: Any) -> tuple[bytes, bytes]:
    """The body of an event with this fault, and the body of the next event, which has no fault."""
    secret = control.create_endpoint(receiver.url)["secret"]
    control.fault(kind, **fields)
    product = control.create_product(NAME)["id"]
    control.create_group(NAME, [product])
    changed, plain = receiver.wait(2)
    assert [each.sent[1] for each in (changed, plain)] == [sign(each.body, secret) for each in (changed, plain)]
    # redeliver sends the same bytes, and replay changes only the id.
    control.redeliver(f"seq:{control.deliveries()[0]['seq']}")
    control.replay(f"seq:{control.deliveries()[0]['seq']}")
    _, again, replayed = receiver.wait(4)[1:]
    assert again.body == changed.body
    assert replayed.body.partition(b"name")[2] == changed.body.partition(b"name")[2]
    assert replayed.event["id"] != changed.event["id"]
    return changed.body, plain.body


def test_integers_that_a_double_or_64_bits_do_not_hold(mine: SandboxAccount, receiver: Receiver) -> None:
    event = json.loads(body_with(mine.control, receiver, "event_integers")[0])
    assert event["id"] > 2**53 and int(float(event["id"])) != event["id"]
    assert event["data"]["id"] > 2**63
    assert event["data"]["price"] == 10_000 + 2**53 + 1
    assert mine.control.deliveries()[0]["id"] == event["id"]


def test_an_unknown_name(mine: SandboxAccount, receiver: Receiver) -> None:
    event = json.loads(body_with(mine.control, receiver, "event_unknown_name")[0])
    assert event["name"] == mine.control.deliveries()[0]["event"] == "invoice.exploded"


def test_unknown_fields(mine: SandboxAccount, receiver: Receiver) -> None:
    changed, plain = (json.loads(body) for body in body_with(mine.control, receiver, "event_unknown_fields"))
    more = changed.keys() - plain.keys()
    assert len(more) == 3 and more <= changed["data"].keys()
    assert changed["data"]["name"] == NAME


@pytest.mark.parametrize(
    ("style", "name"),
    [
        ("raw", 'Bøger & <b>\\"Tea\\"</b> \\\\ it\'s / \\\\\\" \N{PARTY POPPER}'),
        (
            "html",
            r"B\u00f8ger \u0026 \u003Cb\u003E\u0022Tea\u0022\u003C\/b\u003E \\ it\u0027s \/ \\\u0022 \ud83c\udf89",
        ),
        ("pretty", r"B\u00f8ger & <b>\"Tea\"<\/b> \\ it's \/ \\\" \ud83c\udf89"),
    ],
)
def test_escapes_as_encoders_write_them(mine: SandboxAccount, receiver: Receiver, style: str, name: str) -> None:
    changed, plain = body_with(mine.control, receiver, "event_escapes", style=style)
    assert f'"{name}"'.encode() in changed
    assert json.loads(changed)["data"]["name"] == json.loads(plain)["data"]["name"] == NAME
    assert changed.startswith(b'{\n    "id": ' if style == "pretty" else b'{"id":')
    assert changed.endswith(b"}\n") is (style == "pretty")


# ---- Single attempts -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ATTEMPT_KINDS)
def test_a_fault_of_an_attempt_leaves_the_retry_right(mine: SandboxAccount, receiver: Receiver, kind: Any) -> None:
    control = mine.control
    control.freeze()
    secret = control.create_endpoint(receiver.url)["secret"]
    receiver.script = [400, 400]
    control.fault(kind, nth=2)
    make(control, NAME)
    attempted(control, 1)
    for _ in range(2):
        control.advance(seconds=60)
    (delivery,) = ended(control)
    assert [each["fault"] for each in delivery["attempts"]] == [None, kind, None]
    first, changed, retried = receiver.received
    assert first.sent == retried.sent == (delivery["body"].encode(), sign(first.body, secret))
    assert as_sent(delivery, delivery["attempts"][1]) == changed.sent != first.sent
    right = sign(changed.body, secret) == changed.sent[1]
    if kind == "event_truncated":
        assert first.body.startswith(changed.body) and len(first.body) // 2 - 3 <= len(changed.body)
        assert not right
    elif kind == "event_oversize":
        assert right and len(changed.body) > 2 << 20
        assert {name: value for name, value in changed.event.items() if name != "padding"} == first.event
    else:
        assert changed.body == first.body and not right


def test_the_old_secret_is_that_of_before_the_rotation(mine: SandboxAccount, receiver: Receiver) -> None:
    endpoint = mine.control.create_endpoint(receiver.url)
    secrets = (endpoint["secret"], mine.control.rotate_secret(endpoint["id"]))
    mine.control.fault("event_old_secret")
    make(mine.control, *"ab")
    ended(mine.control)
    signed = [[sign(item.body, secret) == item.sent[1] for secret in secrets] for item in receiver.received]
    assert signed == [[True, False], [False, True]]


# ---- Deliveries ------------------------------------------------------------------------------------------------------


def test_concurrent_duplicates_are_there_at_the_same_moment(receiver: Receiver) -> None:
    receiver.hold()
    with account_of() as account:
        account.control.create_endpoint(receiver.url)
        account.control.fault("event_duplicate", concurrent=True)
        make(account.control, "a")
        until(lambda: receiver.waiting == 2)
        receiver.open()
        one, two = ended(account.control)
        assert (one["id"], one["body"], one["signature"]) == (two["id"], two["body"], two["signature"])
        assert one["seq"] != two["seq"]


def test_duplicates_one_after_the_other(mine: SandboxAccount, receiver: Receiver) -> None:
    mine.control.create_endpoint(receiver.url)
    mine.control.fault("event_duplicate", copies=3)
    make(mine.control, *"ab")
    ended(mine.control)
    assert (names(receiver.received), receiver.most) == (["a", "a", "a", "a", "b"], 1)


def test_reordering_waits_for_the_next_event_or_for_the_clock(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    control.freeze()
    control.create_endpoint(receiver.url)
    control.fault("event_reorder", times=2)
    make(control, *"abc")
    ended(control)
    assert names(receiver.received) == ["c", "a", "b"]
    control.fault("event_reorder", delay=30)
    make(control, "d")
    assert control.advance(seconds=29)["pending_deliveries"] == 1
    assert control.advance(seconds=1)["pending_deliveries"] == 0
    assert names(receiver.received)[3:] == ["d"]


def test_delay_and_drop(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    control.freeze()
    control.create_endpoint(receiver.url)
    control.fault("event_delay", delay=60)
    control.fault("event_drop", nth=3)
    make(control, *"abc")
    until(lambda: len(receiver.received) == 1)
    control.advance(seconds=60)
    shown = [(each["state"], each["faults"], each["reason"]) for each in control.deliveries()]
    assert shown == [
        ("delivered", ["event_delay"], None),
        ("delivered", [], None),
        ("dropped", ["event_drop"], "the fault event_drop dropped it"),
    ]
    assert names(receiver.received) == ["b", "a"]


def test_selectors_choose_the_events(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    control.create_endpoint(receiver.url)
    other = control.create_endpoint(receiver.url + "&other")["id"]
    control.create_endpoint("https://shop.example/")
    control.fault("event_drop", event="product-group.updated", endpoint_id=other, times=9)
    product = control.create_product("Tea")["id"]
    control.create_group("Group", [product])
    states = [(each["event"], each["endpoint_id"] == other, each["state"]) for each in ended(control)]
    assert [each for each in states if each[2] == "dropped"] == [("product-group.updated", True, "dropped")]
    # Faults do not happen to held-back deliveries, because held-back deliveries are not sent.
    assert [each[2] for each in states].count("held_back") == 2
    assert control.faults()[0]["seen"] == 1


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"kind": "event_drop", "operation": "x"}, "'operation' is not a field of event_drop: it takes .*event"),
        ({"kind": "status", "event": "order.paid"}, "'event' is not a field of status"),
        ({"kind": "event_drop", "event": "order.piad"}, "No event has the name 'order.piad': there are subs"),
        ({"kind": "event_drop", "endpoint_id": 10**6}, "No endpoint has the id 1000000: GET /_sandbox/endpoints lists"),
        ({"kind": "event_duplicate", "copies": 101}, "copies"),
        ({"kind": "event_oversize", "bytes": 10**9}, "bytes"),
        ({"kind": "event_escapes", "style": "yaml"}, "style. .use one of raw, html, pretty"),
    ],
)
def test_wrong_faults_are_refused(mine: SandboxAccount, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ControlError, match=f"422 validation_error: .*{message}"):
        mine.control._call("POST", "faults", fields)
    assert mine.control.faults() == []
