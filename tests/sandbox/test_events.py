"""Signed events, received by a real listener: their envelope and data, and sending a delivery again."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest

from billcore.testing import Control, ControlError, Sandbox, SandboxAccount
from sandbox.support import Receiver, Service, ended, events, make, sign
from support.waiting import until


def test_a_charge_fires_two_signed_events(mine: SandboxAccount, receiver: Receiver) -> None:
    control, service = mine.control, Service(mine.accounts[0])
    secret = control.create_endpoint(receiver.url)["secret"]
    order = service.charge(amount=1234).data
    deliveries = ended(control)
    assert [each.event["data"]["state"] for each in receiver.received] == ["confirmed", "paid"]
    for item, delivery in zip(receiver.received, deliveries, strict=True):
        assert item.path == "/hook?shop=1"
        assert (item.headers["User-Agent"], item.headers["Content-Type"]) == ("Service/1.0", "application/json")
        assert item.headers["Service-Signature"] == sign(item.body, secret)
        assert sorted(item.event) == ["account", "created_at", "data", "id", "name"]
        assert (delivery["id"], delivery["event"]) == (item.event["id"], item.event["name"])
        assert (delivery["body"].encode(), delivery["state"]) == (item.body, "delivered")
        assert item.event["account"] == control.state()["accounts"][0]["number"]
        assert datetime.fromisoformat(item.event["created_at"]).tzinfo is not None
        assert (str(item.event["data"]["id"]), item.event["data"]["total"]) == (order["id"], 1234)
    assert events(receiver.received) == ["order.confirmed", "order.paid"]


def test_serialising_again_changes_the_bytes(mine: SandboxAccount, receiver: Receiver) -> None:
    mine.control.create_endpoint(receiver.url)
    make(mine.control, "Bøger / “no. 1” \N{PARTY POPPER}")
    item = receiver.wait(1)[0]
    assert b"B\\u00f8ger \\/ \\u201cno" in item.body
    for separators in ((",", ":"), (", ", ": ")):
        for ascii_only in (True, False):
            assert json.dumps(item.event, separators=separators, ensure_ascii=ascii_only).encode() != item.body


def test_ids_and_fields_depend_on_how_many_events_the_account_had(process: Sandbox, receiver: Receiver) -> None:
    """Not on the ids of events, which other accounts' events shift: a test must get the same fields in each run."""
    accounts = [process.new_account() for _ in range(2)]
    full = set(Service(accounts[0].accounts[0]).charge("demo-invoice").data)  # before there is a receiver
    for number, each in enumerate(accounts):
        each.control.create_endpoint(receiver.url + f"&{number}")
    accounts[1].control.create_endpoint(receiver.url + "&again")
    for number in (0, 1, 1, 0, 1, 0, 1, 0, 1, 0):
        Service(accounts[number].accounts[0]).charge("demo-invoice")
    kept = {"id", "total", "total_with_vat", "currency", "reference_id", "state", "remote_id", "delivery"}
    expected = [(int, full), (str, full), (int, kept), (str, kept), (int, full)]
    for query in ("0", "1", "again"):
        sent = [each.event for each in receiver.wait(15) if each.path.endswith(query)]
        assert [(type(event["data"]["id"]), set(event["data"])) for event in sent] == expected
    assert len({each.event["id"] for each in receiver.received}) == 15


def test_the_test_hook(service: Service, other: Service, control: Control, receiver: Receiver) -> None:
    for each, url in ((service, receiver.url), (other, receiver.url + "&other")):
        assert each.post("/webhooks/endpoints", {"url": url}).status == 200
    assert control.test_hook() == [1, 2]
    for item in receiver.wait(2):
        assert (item.event["id"], item.event["name"], item.event["data"]) == (0, "test.hook", None)
    assert {item.event["account"] for item in receiver.received} == {4001, 4002}
    assert control.test_hook(2, data={"junk": [1]}) == [2]
    assert receiver.wait(3)[2].event["data"] == {"junk": [1]}
    with pytest.raises(ControlError, match="404"):
        control.test_hook(3)


def test_a_refused_request_or_another_account_fires_nothing(
    process: Sandbox, mine: SandboxAccount, receiver: Receiver
) -> None:
    service, other = Service(mine.accounts[0]), Service(process.accounts[1])
    mine.control.create_endpoint(receiver.url)
    assert service.charge("demo-declined").status == 402
    assert service.charge(amount=0).status == service.charge(amount=2**63 - 1).status == 422
    assert other.post(f"/product/{other.product()['id']}", {"price": 5}).status == 200
    assert mine.control.deliveries() == []


@pytest.mark.parametrize("retry", [0.2, 3600])
def test_a_retry_from_before_a_reset_does_not_meet_a_later_delivery(receiver: Receiver, retry: float) -> None:
    receiver.script = [500] * 100
    with Sandbox(retry_schedule=[retry, 3600]) as sandbox:
        control = sandbox.control

        def attempts() -> list[int]:
            return [len(delivery["attempts"]) for delivery in control.deliveries()]

        for _ in range(2):
            control.reset()
            assert control.deliveries() == []
            control.create_endpoint(receiver.url)
            control.test_hook()
            until(lambda: attempts() >= [1])  # 2 if this test was slow
        if retry == 3600:
            assert attempts() == [1]
            return
        until(lambda: attempts()[0] >= 2)
        # Any retry left from before the reset would run before the second attempt of this new delivery.
        control.test_hook()
        until(lambda: attempts()[1] >= 2)
        assert attempts() == [2, 2]


# ---- Sending a delivery again ----------------------------------------------------------------------------------------


def test_redeliver_replay_and_edit(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    secret = control.create_endpoint(receiver.url)["secret"]
    make(control, "Tea / 1")
    (first,) = ended(control)
    again = control.redeliver(first["id"])
    new_id = control.replay(first["id"])
    changes = {"name": "product.lost", "data": {"price": 2**63, "more": "ø"}}
    edited = control.edit(first["id"], changes=changes)
    verbatim = control.edit(f"seq:{first['seq']}", body=' {"id" : 5, "ø":1} ')
    unsigned = control.edit(first["id"], changes={"id": 12345}, sign=False)
    sent = ended(control)
    assert [(each["body"].encode(), each["signature"]) for each in sent] == [each.sent for each in receiver.received]
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
    ended(control)
    *_, wrong, right_again = receiver.received
    assert wrong.sent == (six, sent[0]["signature"])
    assert right_again.headers["Service-Signature"] == sign(one, new_secret)
    kinds = [effect["kind"] for effect in control.ledger()]
    assert [kinds.count(kind) for kind in ("redeliver", "replay", "edit")] == [3, 1, 3]


def test_after_is_time_of_the_accounts_clock(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    control.freeze()
    control.create_endpoint(receiver.url)
    make(control, "a")
    (first,) = ended(control)
    control.redeliver(first["id"], after=60)
    control.replay(first["id"], after=30)
    control.edit(first["id"], body="{}", after=30)
    moved = control.advance(seconds=29.9)
    assert (moved["pending_deliveries"], moved["happened"], len(receiver.received)) == (3, [], 1)
    assert control.advance(seconds=0.1)["pending_deliveries"] == 1
    assert control.advance(seconds=30)["pending_deliveries"] == 0
    assert receiver.received[3].body == receiver.received[0].body


@pytest.mark.parametrize(
    ("route", "fields", "message"),
    [
        ("edit", {}, "edit takes one of body .* and changes"),
        ("edit", {"changes": [1]}, "Expected `object"),
        ("edit", {"body": "x", "after": -1}, "Expected `float` >= 0"),
        ("replay", {"after": 1e300}, "Expected `float` <= "),
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
    (hook,) = ended(control)
    text = control.edit(f"seq:{hook['seq']}", body="no JSON")
    for number, message in (
        (1, "No delivery has the id 1: GET /_sandbox/deliveries lists them."),
        ("seq:x", "No delivery has the seq x"),
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
