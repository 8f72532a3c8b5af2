"""The record of an attempt, and sending a delivery again: unchanged, with a new id, edited, later, after a kill."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from billcore.testing import Control, ControlError, Sandbox, SandboxAccount
from sandbox.support import Receiver, ended, gate, make, names, sign
from support.waiting import GENEROUS, until

# ---- Records ---------------------------------------------------------------------------------------------------------


def test_an_attempt_is_recorded_as_sent_and_answered(mine: SandboxAccount, receiver: Receiver) -> None:
    receiver.script = [503]
    mine.control.create_endpoint(receiver.url)
    make(mine.control, "Bøger / 1")
    (delivery,) = mine.control.wait_for_deliveries()
    failed, delivered = delivery["attempts"]
    assert delivery["body"].encode() == receiver.received[0].body == receiver.received[1].body
    assert [dict(each["headers"]) for each in (failed, delivered)] == [each.headers for each in receiver.received]
    assert dict(failed["headers"])["Service-Signature"] == delivery["signature"]
    assert [(each["status"], each["answer_body"], each["fault"]) for each in (failed, delivered)] == [
        (503, "ok", None),
        (200, "ok", None),
    ]
    assert ["Content-Length", "2"] in failed["answer_headers"]
    assert "body" not in failed and "signature" not in failed


def test_the_record_of_a_large_or_broken_answer_is_small(mine: SandboxAccount) -> None:
    body = ("æ" * 3000).encode()
    many = b"".join(b"X-%d: %s\r\n" % (number, b"y" * 600) for number in range(20))
    answers = [
        b"HTTP/1.1 200 OK\r\n" + many + b"Content-Length: 6000\r\n\r\n" + body,
        b"HTTP/1.1 500 No\r\nContent-Length: 104857600\r\n\r\n" + b"x" * (200 << 10),
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf\xff",
    ]
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            for answer in answers:
                wire = listener.accept()[0]
                # The sandbox does not read the second answer to its end, so sendall() may fail.
                with wire, contextlib.suppress(OSError):
                    wire.recv(65536)
                    wire.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        mine.control.create_endpoint(
            f"http://127.0.0.1:{listener.getsockname()[1]}/", retry_schedule=[], keep_alive=False
        )
        make(mine.control, *"abc")
        long, huge, half = [each["attempts"][0] for each in ended(mine.control)]
        thread.join(GENEROUS)
    assert (long["status"], long["answer_body"]) == (200, "æ" * 2000)
    assert [len(value) for _, value in long["answer_headers"]] == [500] * 20 + [4]
    assert (huge["status"], huge["answer_body"]) == (500, "x" * 2000)
    assert (half["status"], half["answer_body"]) == (None, "half\N{REPLACEMENT CHARACTER}")
    assert "received 5 bytes, expected 10" in (half["error"] or "")


def test_a_closed_port_says_so_in_one_sentence(mine: SandboxAccount) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        mine.control.create_endpoint(f"http://127.0.0.1:{port}/", retry_schedule=[])
        make(mine.control, "a")
        (delivery,) = ended(mine.control)
    assert (delivery["state"], delivery["attempts"][0]["error"]) == (
        "failed",
        f"no program listens on 127.0.0.1 port {port}: the connection was refused",
    )


# ---- Once more -------------------------------------------------------------------------------------------------------


def test_redeliver_replay_and_edit(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    secret = control.create_endpoint(receiver.url)["secret"]
    make(control, "Tea / 1")
    (first,) = control.wait_for_deliveries()
    again = control.redeliver(first["id"])
    new_id = control.replay(first["id"])
    changes = {"name": "product.lost", "data": {"price": 2**63, "more": "ø"}}
    edited = control.edit(first["id"], changes=changes)
    verbatim = control.edit(f"seq:{first['seq']}", body=' {"id" : 5, "ø":1} ')
    unsigned = control.edit(first["id"], changes={"id": 12345}, sign=False)
    sent = control.wait_for_deliveries()
    assert [each["body"].encode() for each in sent] == [each.body for each in receiver.received]
    assert [each["signature"] for each in sent] == [each.headers["Service-Signature"] for each in receiver.received]
    assert [each["seq"] for each in sent] == [first["seq"], again, new_id, edited, verbatim, unsigned]
    assert [each["id"] for each in sent] == [first["id"], first["id"], new_id, first["id"], first["id"], 12345]
    one, two, three, four, five, six = (each.body for each in receiver.received)
    assert two == one
    assert three == one.replace(str(first["id"]).encode(), str(new_id).encode(), 1)
    before = json.loads(one)
    assert json.loads(four) == {**before, "name": "product.lost", "data": {**before["data"], **changes["data"]}}  # type: ignore[dict-item]
    assert five == ' {"id" : 5, "ø":1} '.encode()
    assert json.loads(six) == {**before, "id": 12345}
    right = [sign(each.body, secret) == each.headers["Service-Signature"] for each in receiver.received]
    assert right == [True] * 5 + [False]
    # redeliver keeps a signature that is wrong on purpose; otherwise it signs again, here with the new secret.
    new_secret = control.rotate_secret(control.endpoints()[0]["id"])
    control.redeliver(f"seq:{unsigned}")
    control.redeliver(first["id"])
    control.wait_for_deliveries()
    *_, wrong, right_again = receiver.received
    assert (wrong.body, wrong.headers["Service-Signature"]) == (six, sent[0]["signature"])
    assert right_again.headers["Service-Signature"] == sign(one, new_secret)
    kinds = [effect["kind"] for effect in control.ledger()]
    assert [kinds.count(kind) for kind in ("redeliver", "replay", "edit")] == [3, 1, 3]


def test_after_is_time_of_the_accounts_clock(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    control.freeze()
    control.create_endpoint(receiver.url)
    make(control, "a")
    (first,) = control.wait_for_deliveries()
    control.redeliver(first["id"], after=60)
    control.replay(first["id"], after=30)
    control.edit(first["id"], body="{}", after=30)
    moved = control.advance(seconds=29.9)
    assert (moved["pending_deliveries"], moved["happened"], len(receiver.received)) == (3, [], 1)
    assert control.advance(seconds=0.1)["pending_deliveries"] == 1
    assert control.advance(seconds=30)["pending_deliveries"] == 0
    assert [each.body for each in receiver.received][3] == receiver.received[0].body


@pytest.mark.parametrize(
    ("route", "fields", "message"),
    [
        ("edit", {}, "edit takes one of body .* and changes"),
        ("edit", {"body": "x", "changes": {}}, "edit takes one of body"),
        ("edit", {"body": {"id": 1}}, r"Expected `str \| null`, got `object` - at `\$.body`"),
        ("edit", {"changes": [1]}, "Expected `object"),
        ("edit", {"body": "x", "after": -1}, "Expected `float` >= 0"),
        ("edit", {"body": "x", "sing": False}, "unknown field `sing`"),
        ("redeliver", {"body": "x"}, "unknown field `body`"),
        ("replay", {"after": 1e300}, "Expected `float` <= "),
        ("replay", {"id": 1}, "unknown field `id`"),
    ],
)
def test_wrong_requests_send_nothing(mine: SandboxAccount, route: str, fields: dict[str, Any], message: str) -> None:
    mine.control.create_endpoint("https://shop.example/")
    (delivery,) = make(mine.control, "a")
    with pytest.raises(ControlError, match=message):
        mine.control._call("POST", f"deliveries/{delivery['id']}/{route}", fields)
    assert mine.control.deliveries() == [delivery]


def test_what_cannot_be_sent_again_says_why(process: Sandbox, mine: SandboxAccount, receiver: Receiver) -> None:
    control, stranger = mine.control, process.new_account(demo=False).control
    endpoint = control.create_endpoint(receiver.url)["id"]
    control.test_hook()
    (hook,) = control.wait_for_deliveries()
    text = control.edit(f"seq:{hook['seq']}", body="no JSON")
    for number, message in (
        (1, "No delivery has the id 1: GET /_sandbox/deliveries lists them."),
        ("0", "No delivery has the id 0"),
        ("seq:x", "No delivery has the seq x"),
        ("9" * 50, "No delivery has the id 9999"),
    ):
        with pytest.raises(ControlError, match=f"404 not_found: {message}"):
            control.redeliver(number)
    with pytest.raises(ControlError, match="422 validation_error: The body of this delivery does not begin with an id"):
        control.replay(f"seq:{text}")
    with pytest.raises(ControlError, match="422 validation_error: The body of this delivery is not a JSON object"):
        control.edit(f"seq:{text}", changes={"id": 1})
    with pytest.raises(ControlError, match="404 not_found: No delivery has the seq"):
        stranger.redeliver(f"seq:{hook['seq']}")
    control.endpoint(endpoint, "disable")
    with pytest.raises(ControlError, match="The endpoint of this delivery is disabled: enable it first"):
        control.redeliver(f"seq:{hook['seq']}")
    assert len(control.deliveries()) == 2


# ---- kill -9 ---------------------------------------------------------------------------------------------------------


def test_nothing_is_lost_when_the_process_is_killed(tmp_path: Path, receiver: Receiver) -> None:
    """One delivery is being attempted, one waits for `after`, one for a retry, and two wait for the end of a pause."""
    db = tmp_path / "billing.db"
    with gate() as silent:
        with Sandbox(db=db, delivery_timeout=GENEROUS) as sandbox:
            account = sandbox.new_account(demo=False)
            uuid, control = account.base_url.rpartition("/")[2], account.control
            control.freeze()
            receiver.script = [500]
            live = control.create_endpoint(receiver.url, retry_schedule=[120])["id"]
            paused = control.create_endpoint(receiver.url + "&paused", paused=True)["id"]
            make(control, "a")
            until(lambda: control.deliveries()[0]["attempts"])
            control.redeliver(control.deliveries()[0]["id"], after=60)
            control.endpoint(live, "disable")
            make(control, "b")
            control.endpoint(live, "enable")
            control.endpoint(paused, "disable")
            control.create_endpoint(silent.url)
            control.test_hook(control.endpoints()[2]["id"])
            until(lambda: silent.waiting == 1)
            before = control.deliveries()
            os.kill(sandbox.pid, signal.SIGKILL)
        silent.open()
        with Sandbox(db=db, delivery_timeout=GENEROUS) as sandbox:
            control = Control(sandbox.control_url, account=uuid)
            until(lambda: control.deliveries()[-1]["state"] == "delivered")
            assert control.deliveries()[:-1] == before[:-1]
            assert [each["state"] for each in before] == ["pending"] * 5
            assert len(receiver.received) == 1
            control.advance(seconds=60)
            assert len(receiver.received) == 2
            control.advance(seconds=60)
            assert len(receiver.received) == 3
            control.endpoint(paused, "enable")
            assert len(receiver.received) == 3
            control.change_endpoint(paused, paused=False)
            assert [each["state"] for each in control.wait_for_deliveries()] == ["delivered"] * 5
    assert names(receiver.received) == ["a", "a", "a", "a", "b"]
    assert [each.path.endswith("paused") for each in receiver.received] == [False] * 3 + [True] * 2
