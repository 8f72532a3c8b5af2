"""Faults of events, as a real listener gets them: bodies, deliveries and single attempts."""

from __future__ import annotations

import json
import os
import signal
import socket
import threading
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from billcore.testing import Attempt, Control, ControlError, Delivery, Sandbox, SandboxAccount
from sandbox.support import Received, Receiver, ended, names, sign
from support.waiting import GENEROUS, until

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


def got(item: Received) -> tuple[bytes, str]:
    return item.body, item.headers["Service-Signature"]


@pytest.mark.parametrize("kind", [*BODY_KINDS, *ATTEMPT_KINDS, "event_duplicate", "event_reorder", "event_delay"])
def test_the_record_has_the_bytes_that_the_receiver_got(mine: SandboxAccount, receiver: Receiver, kind: Any) -> None:
    control = mine.control
    endpoint = control.create_endpoint(receiver.url)["id"]
    receiver.script = [500]
    control.fault(kind, event="product.updated", endpoint_id=endpoint)
    control.create_product(NAME)
    control.create_product(NAME)
    control.advance(seconds=60)
    deliveries = ended(control)
    sent = [as_sent(delivery, each) for delivery in deliveries for each in delivery["attempts"]]
    assert sorted(sent) == sorted(got(item) for item in receiver.received)
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
    assert [sign(each.body, secret) for each in (changed, plain)] == [got(each)[1] for each in (changed, plain)]
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
    control.create_product(NAME)
    until(lambda: len(control.deliveries()[0]["attempts"]) == 1)
    for _ in range(2):
        control.advance(seconds=60)
    (delivery,) = ended(control)
    assert [each["fault"] for each in delivery["attempts"]] == [None, kind, None]
    first, changed, retried = receiver.received
    assert got(first) == got(retried) == (delivery["body"].encode(), sign(first.body, secret))
    assert as_sent(delivery, delivery["attempts"][1]) == got(changed) != got(first)
    right = sign(changed.body, secret) == got(changed)[1]
    if kind == "event_truncated":
        assert first.body.startswith(changed.body) and len(first.body) // 2 - 3 <= len(changed.body)
        assert not right
    elif kind == "event_oversize":
        assert right and len(changed.body) > 2 << 20
        assert {name: value for name, value in changed.event.items() if name != "padding"} == first.event
    else:
        assert changed.body == first.body and not right


def test_the_old_secret_is_that_of_before_the_rotation(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    endpoint = control.create_endpoint(receiver.url)
    new = control.rotate_secret(endpoint["id"])
    control.fault("event_old_secret")
    for _ in range(2):
        control.create_product("Tea")
    ended(control)
    secrets = (endpoint["secret"], new)
    signed = [[sign(item.body, secret) == got(item)[1] for secret in secrets] for item in receiver.received]
    assert signed == [[True, False], [False, True]]


def test_a_body_without_room_leaves_the_fault_for_the_next(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    control.create_endpoint(receiver.url)
    control.test_hook(data="}")
    hook = f"seq:{ended(control)[0]['seq']}"
    control.fault("event_oversize", bytes=5)
    for body in ("no JSON }", "[" * 100_000, '["}"]', " { } "):
        control.edit(hook, body=body)
        ended(control)
    assert [item.body for item in receiver.received][2:] == [b"[" * 100_000, b'["}"]', b' { "padding":"xxxxx"} ']


def test_an_answer_before_the_end_of_a_large_body_counts(mine: SandboxAccount) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        mine.control.create_endpoint(f"http://127.0.0.1:{listener.getsockname()[1]}/", retry_schedule=[])
        mine.control.fault("event_oversize", bytes=64 << 20)
        mine.control.create_product("Tea")
        with listener.accept()[0] as wire:
            wire.recv(1000)
            wire.sendall(b"HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n")
            (delivery,) = ended(mine.control)
    assert [each["status"] for each in delivery["attempts"]] == [413]


# ---- Deliveries ------------------------------------------------------------------------------------------------------


class Shop:
    """A receiver that handles each event once if `safe` is true. Otherwise the receiver waits
    for a second request after it has checked an id and before it records the id, so both of two concurrent duplicates
    are handled."""

    def __init__(self, *, safe: bool) -> None:
        self.handled: list[int] = []
        seen: set[int] = set()
        lock, meeting, shop = threading.Lock(), threading.Barrier(2), self

        def handle(number: int) -> None:
            if number not in seen:
                with suppress(threading.BrokenBarrierError):
                    meeting.wait(0 if safe else GENEROUS)
                seen.add(number)
                shop.handled.append(number)

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                event = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                if safe:
                    with lock:
                        handle(event["id"])
                else:
                    handle(event["id"])
                self.send_response(204)
                self.end_headers()

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.mark.parametrize(("safe", "times"), [(False, 2), (True, 1)])
def test_a_race_of_a_receiver_is_found(safe: bool, times: int) -> None:
    with Sandbox(delivery_timeout=GENEROUS) as sandbox:
        control, shop = sandbox.new_account(demo=False).control, Shop(safe=safe)
        control.create_endpoint(shop.url)
        control.fault("event_duplicate", concurrent=True)
        control.create_product("Tea")
        one, two = ended(control)
        assert (one["id"], one["body"], one["signature"]) == (two["id"], two["body"], two["signature"])
        assert one["seq"] != two["seq"]
        assert shop.handled == [one["id"]] * times
        shop.server.shutdown()


def test_duplicates_one_after_the_other(mine: SandboxAccount, receiver: Receiver) -> None:
    mine.control.create_endpoint(receiver.url)
    mine.control.fault("event_duplicate", copies=3)
    for name in "ab":
        mine.control.create_product(name)
    ended(mine.control)
    assert names(receiver.received) == ["a", "a", "a", "a", "b"]


def test_reordering_waits_for_the_next_event_or_for_the_clock(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    control.freeze()
    control.create_endpoint(receiver.url)
    control.fault("event_reorder", times=2)
    for name in "abc":
        control.create_product(name)
    ended(control)
    assert names(receiver.received) == ["c", "a", "b"]
    control.fault("event_reorder", delay=30)
    control.create_product("d")
    assert control.advance(seconds=29)["pending_deliveries"] == 1
    assert control.advance(seconds=1)["pending_deliveries"] == 0
    assert names(receiver.received)[3:] == ["d"]


def test_delay_and_drop(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    control.freeze()
    control.create_endpoint(receiver.url)
    control.fault("event_delay", delay=60)
    control.fault("event_drop", nth=2)
    for name in "abc":
        control.create_product(name)
    until(lambda: len(receiver.received) == 1)
    control.advance(seconds=60)
    shown = [(each["state"], each["faults"], each["reason"]) for each in control.deliveries()]
    assert shown == [
        ("delivered", ["event_delay"], None),
        ("delivered", [], None),
        ("dropped", ["event_drop"], "the fault event_drop dropped it"),
    ]
    assert names(receiver.received) == ["b", "a"]


def test_a_body_and_a_delivery_can_both_go_wrong(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    control.create_endpoint(receiver.url)
    for kind in ("event_unknown_name", "event_duplicate", "event_signature"):
        control.fault(kind)
    control.create_product("Tea")
    one, two = ended(control)
    assert one["faults"] == two["faults"] == ["event_unknown_name", "event_duplicate"]
    assert [each["attempts"][0]["fault"] for each in (one, two)] == ["event_signature", None]


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
        (
            {"kind": "event_drop", "operation": "charge"},
            "'operation' is not a field of event_drop: it takes .*event",
        ),
        ({"kind": "status", "event": "order.paid"}, "'event' is not a field of status"),
        (
            {"kind": "event_drop", "event": "order.piad"},
            "No event has the name 'order.piad': there are subs",
        ),
        ({"kind": "event_drop", "endpoint_id": 10**6}, "No endpoint has the id 1000000: GET /_sandbox/endpoints lists"),
        ({"kind": "event_drop", "delay": 1}, "'delay' is not a field of event_drop"),
        ({"kind": "event_duplicate", "copies": 0}, "copies"),
        ({"kind": "event_duplicate", "copies": 101}, "copies"),
        ({"kind": "event_oversize", "bytes": 10**9}, "bytes"),
        ({"kind": "event_escapes", "style": "yaml"}, "style. .use one of raw, html, pretty"),
        ({"kind": "event_dorp"}, "No fault has the kind 'event_dorp': there are .*event_drop"),
    ],
)
def test_wrong_faults_are_refused(mine: SandboxAccount, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(ControlError, match=f"422 validation_error: .*{message}"):
        mine.control._call("POST", "faults", fields)
    assert mine.control.faults() == []


def test_what_faults_hold_survives_a_kill(tmp_path: Path, receiver: Receiver) -> None:
    db = tmp_path / "billing.db"
    with Sandbox(db=db, delivery_timeout=GENEROUS) as sandbox:
        account = sandbox.new_account(demo=False)
        uuid, control = account.base_url.rpartition("/")[2], account.control
        control.freeze()
        control.create_endpoint(receiver.url)
        paused = control.create_endpoint(receiver.url + "&paused", paused=True)["id"]
        control.fault("event_delay", endpoint_id=paused, delay=60)
        control.fault("event_duplicate", endpoint_id=paused, concurrent=True)
        for name in ("late", "twice"):
            control.create_product(name)
        until(lambda: [each["state"] for each in control.deliveries()].count("delivered") == 2)
        control.fault("event_reorder", delay=3600)
        control.create_product("held")
        os.kill(sandbox.pid, signal.SIGKILL)
    with Sandbox(db=db, delivery_timeout=GENEROUS) as sandbox:
        control = Control(sandbox.control_url, account=uuid)
        control.change_endpoint(paused, paused=False)
        until(lambda: len(receiver.received) == 5)
        assert sorted(names(receiver.received)[2:]) == ["held", "twice", "twice"]
        control.create_product("next")
        until(lambda: len(receiver.received) == 8)
        assert sorted(names(receiver.received)[5:]) == ["held", "next", "next"]
        # Wait, because the receiver gets an event before the sandbox records the attempt.
        until(lambda: [each["state"] for each in control.deliveries()].count("pending") == 1)
        control.advance(seconds=60)
        assert names(receiver.received)[8:] == ["late"]
