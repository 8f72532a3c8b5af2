"""Deliveries on hold: what waits for them, what does not, and when they are sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from billcore.testing import ControlError, Sandbox, SandboxAccount
from sandbox.shop import Shop
from sandbox.support import Receiver, attempted, events, make, names, sign, states
from support.waiting import GENEROUS, until


def test_a_retry_on_hold_is_sent_after_its_release(shop: Shop, receiver: Receiver) -> None:
    control = shop.control
    receiver.script = [500]
    control.create_endpoint(receiver.url)
    make(control, *"ab")
    attempted(control, 1, 1)
    held = control.deliveries()[0]
    assert control.hold(held["id"]) == held["seq"]
    assert control.state()["counts"]["jobs"] == 0
    # Neither a move of the clock nor a wait for all deliveries waits for it.
    assert control.advance(days=1)["pending_deliveries"] == 0
    (shown, _) = control.wait_for_deliveries(GENEROUS)
    assert (shown["state"], shown["reason"], len(shown["attempts"])) == ("on_hold", "a control route holds it", 1)
    assert control.deliveries(state="on_hold") == [shown]
    with pytest.raises(TimeoutError, match=r"1 of 2 ended deliveries .*product.updated on_hold \(1\)"):
        control.wait(delivery={}, count=2, timeout=0)
    assert control.release(held["id"]) == held["seq"]
    (shown, _) = control.wait_for_deliveries(GENEROUS)
    assert (shown["state"], shown["reason"], len(shown["attempts"])) == ("delivered", None, 2)
    assert [each["kind"] for each in control.ledger() if "seq" in each] == ["hold", "release"]


def test_a_release_in_a_queue_sends_once(shop: Shop, receiver: Receiver) -> None:
    control = shop.control
    endpoint = control.create_endpoint(receiver.url, paused=True, concurrency=5)["id"]
    first, second, _ = (f"seq:{each['seq']}" for each in make(control, *"abc"))
    for each in (first, second):
        control.hold(each)
    control.release(second)
    receiver.hold()
    control.change_endpoint(endpoint, paused=False)
    receiver.wait(2)
    receiver.open()
    control.wait_for_deliveries(GENEROUS)
    assert sorted(names(receiver.received)) == ["b", "c"]
    control.release(first)
    control.wait_for_deliveries(GENEROUS)
    assert names(receiver.received)[2:] == ["a"]


def test_a_fault_holds_the_next_event(shop: Shop, receiver: Receiver) -> None:
    control = shop.control
    secret = control.create_endpoint(receiver.url)["secret"]
    control.fault("event_hold", event="order.paid")
    shop.buy()
    (held,) = control.wait(delivery={"state": "on_hold"}, timeout=GENEROUS)
    assert (held["event"], held["reason"], held["faults"]) == (
        "order.paid",
        "the fault event_hold holds it",
        ["event_hold"],
    )
    assert control.advance(days=30)["pending_deliveries"] == 0
    assert events(receiver.received)[-1] == "subscription.renewed"
    count = len(receiver.received)
    control.release(held["id"])
    control.wait_for_deliveries(GENEROUS)
    (sent,) = receiver.received[count:]
    assert sent.sent == (held["body"].encode(), sign(sent.body, secret))


def test_what_cannot_be_held_or_released(mine: SandboxAccount, receiver: Receiver) -> None:
    control = mine.control
    endpoint = control.create_endpoint(receiver.url)["id"]
    receiver.act = lambda received: receiver.hold()
    (delivery,) = make(control, "a")
    receiver.wait(1)
    for how, message in (
        (control.hold, "422 not_allowed: The delivery is being attempted: hold it after the attempt."),
        (control.release, "422 not_allowed: The delivery is pending: only a delivery on hold can be released."),
    ):
        with pytest.raises(ControlError, match=message):
            how(delivery["id"])
    receiver.open()
    control.wait_for_deliveries(GENEROUS)
    with pytest.raises(ControlError, match="422 not_allowed: The delivery is delivered: only a pending delivery can"):
        control.hold(delivery["id"])
    with pytest.raises(ControlError, match="404 not_found: No delivery has the seq 1"):
        control.hold("seq:1")
    control.fault("event_hold")
    make(control, "b")
    control.endpoint(endpoint, "delete")
    assert states(control) == ["delivered", "failed"]


def test_a_restart_keeps_deliveries_on_hold(tmp_path: Path, receiver: Receiver) -> None:
    db = tmp_path / "billing.db"
    with Sandbox(db=db, keep=1) as sandbox:
        sandbox.control.create_endpoint(receiver.url)
        sandbox.control.fault("event_hold")
        make(sandbox.control, *"abcd")
        until(lambda: not sandbox.control.deliveries(state="pending"))
    with Sandbox(db=db, keep=1) as sandbox:
        control = sandbox.control
        make(control, "e")
        until(lambda: not control.deliveries(state="pending"))
        held, last = control.deliveries()
        assert (held["state"], last["state"], names(receiver.received)) == ("on_hold", "delivered", [*"bcde"])
        control.release(held["id"])
        receiver.wait(5)
        assert names(receiver.received)[4:] == ["a"]
