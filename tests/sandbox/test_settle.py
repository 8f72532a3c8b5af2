"""A move of the clock, instant by instant: what a receiver sees that calls the sandbox while it receives."""

from __future__ import annotations

from datetime import timedelta
from email.utils import parsedate_to_datetime
from time import monotonic, sleep
from typing import Any

import pytest

from billcore.testing import Control, ControlError, Sandbox, WaitTimeout, _calls
from sandbox.shop import BEGIN, Shop, after, time
from sandbox.support import Received, Receiver, Service, events
from support.waiting import GENEROUS, LATE, until


def read_again(shop: Shop, receiver: Receiver, subscription: str) -> list[tuple[str, float]]:
    """Lets the receiver read the subscription while it receives; the list gets its status, and Date in days."""
    seen: list[tuple[str, float]] = []

    def read(received: Received) -> None:
        answer = shop.service.get(f"/subscription/{subscription}")
        date = parsedate_to_datetime(answer.headers["date"])
        assert date.isoformat() == received.event["created_at"]
        seen.append((answer.data["status"], after(date.isoformat())))

    receiver.act = read
    return seen


def test_a_receiver_that_reads_again_sees_the_state_of_the_time_of_the_event(shop: Shop, receiver: Receiver) -> None:
    subscription = shop.buy(declines=True)
    shop.control.create_endpoint(receiver.url)
    seen = read_again(shop, receiver, subscription)
    moved = shop.control.advance(days=35)
    assert seen == [("delayed", 28), ("unpaid", 32)]
    assert [each["cause"] for each in moved["happened"]] == ["renew"] * 3
    assert (moved["pending_deliveries"], moved["unanswered"]) == (0, [])


def test_without_settling_all_changes_come_before_the_deliveries(shop: Shop, receiver: Receiver) -> None:
    subscription = shop.buy(declines=True)
    shop.control.create_endpoint(receiver.url)
    seen: list[Any] = []
    receiver.act = lambda received: seen.append(shop.shown(subscription)["status"])
    assert shop.control.advance(days=35, settle=False)["pending_deliveries"] == 0
    assert seen == ["unpaid", "unpaid"]


def test_what_a_receiver_does_happens_before_the_next_due_time(shop: Shop, receiver: Receiver) -> None:
    subscription, towel = shop.buy(), shop.control.create_product("Towel")["id"]
    shop.control.create_endpoint(receiver.url)

    def charge(received: Received) -> None:
        if received.event["name"] == "subscription.renewed":
            shop.service.post(f"/subscription/{subscription}/order", {"product_id": towel, "amount": 900})

    receiver.act = charge
    assert shop.control.advance(days=60)["pending_deliveries"] == 0
    paid = ["order.confirmed", "order.paid"]
    assert events(receiver.received) == [*paid, "subscription.renewed", *paid] * 2
    assert [after(each.event["created_at"]) for each in receiver.received] == [28] * 5 + [59] * 5
    assert [after(each["at"]) for each in shop.control.ledger("charge")] == [28, 59]


def test_a_retry_happens_at_its_own_due_time(shop: Shop, receiver: Receiver) -> None:
    subscription = shop.buy(product={"interval": "week"})
    receiver.script = [500, 200, 200, 503]
    shop.control.create_endpoint(receiver.url, retry_schedule=[86400, 2 * 86400])
    seen: list[float] = []
    receiver.act = lambda received: seen.append(
        after(parsedate_to_datetime(shop.service.get("/products").headers["date"]).isoformat())
    )
    assert shop.control.advance(days=14)["pending_deliveries"] == 0
    assert seen == [7, 7, 7, 8, 10, 14, 14, 14]
    first = shop.control.deliveries()[0]
    assert [(after(each["at"]), each["status"]) for each in first["attempts"]] == [(7, 500), (8, 503), (10, 200)]
    assert len(shop.orders(subscription)) == 3


def test_a_receiver_that_hangs_costs_one_time_out_and_is_named(receiver: Receiver) -> None:
    with Sandbox(delivery_timeout=5, retry_schedule=[60]) as sandbox, Receiver() as silent:
        shop = Shop(sandbox.new_account(demo=False))
        subscription = shop.buy(declines=True)
        for _ in range(5):
            shop.buy(product={"interval": "week"})
        silent.hold()
        number = shop.control.create_endpoint(silent.url)["id"]
        shop.control.create_endpoint(receiver.url)
        seen = read_again(shop, receiver, subscription)
        moved = shop.control.advance(days=35)
        ended = [each for each in shop.control.deliveries() if each["endpoint_id"] == number and each["attempts"]]
        # The move has waited for one time-out of a hundred; later attempts may have begun meanwhile.
        assert 1 <= len(ended) <= 3 and ended[0]["attempts"][0]["error"] == "no answer within 5 s"
        pending = len(shop.control.deliveries(state="pending"))
        assert moved["unanswered"] == [
            {"endpoint_id": number, "url": silent.url, "pending": pending, "error": "no answer within 5 s"}
        ]
        assert moved["pending_deliveries"] == pending == 77
        assert {status for status, _ in seen} == {"active", "delayed", "unpaid"}
        assert {day for status, day in seen if status == "delayed"} == {28}


def test_a_time_out_stops_the_clock_on_its_way(shop: Shop, receiver: Receiver) -> None:
    subscription = shop.buy()
    shop.control.create_endpoint(receiver.url)
    receiver.script = [500]
    receiver.act = lambda received: receiver.hold() if len(receiver.received) == 2 else None
    begin = monotonic()
    with pytest.raises(WaitTimeout) as stopped:
        shop.control.advance(days=90, timeout=0.5)
    assert 0.5 <= monotonic() - begin < LATE
    error, day = stopped.value, time("2031-02-28T09:00:00+00:00")
    assert (error.arrived, error.pending, (error.last_answer or {})["status"]) == (1, 3, 500)
    details = error.details
    assert (time(details["now"]), time(details["to"])) == (day, BEGIN + timedelta(days=90))
    assert [each["subscription"] for each in details["happened"]] == [subscription]
    assert str(error) == (
        f"The time-out ended when the clock showed {details['now']}, on its way to {details['to']} (changes so far: 1,"
        f" pending deliveries: 3). Move to {details['to']} again to go on."
    )
    (account,) = shop.control.state()["accounts"]
    assert (account["now"], account["frozen"], shop.orders(subscription)) == (
        details["now"],
        True,
        ["2031-01-31", "2031-02-28"],
    )
    receiver.open()
    moved = shop.control.advance(to=details["to"])
    assert (moved["now"], moved["pending_deliveries"], len(moved["happened"])) == (details["to"], 0, 2)
    assert shop.orders(subscription) == ["2031-01-31", "2031-02-28", "2031-03-31", "2031-04-30"]


def test_a_clock_that_runs_goes_on_from_where_it_stopped(process: Sandbox, receiver: Receiver) -> None:
    account = process.new_account()
    account.control.create_endpoint(receiver.url)
    receiver.hold()
    with pytest.raises(WaitTimeout) as stopped:
        account.control.advance(days=60, timeout=0)
    receiver.open()
    (shown,) = account.control.state()["accounts"]
    at, to = (time(stopped.value.details[name]) for name in ("now", "to"))
    assert not shown["frozen"] and at <= time(shown["now"]) < at + timedelta(days=1)
    assert account.control.advance(to=to)["pending_deliveries"] == 0
    renewed = [each["subscription_id"] for each in account.control.ledger("renew")]
    assert {renewed.count(each) for each in renewed} <= {1, 2}


def test_a_longer_time_out_is_several_calls(shop: Shop, receiver: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_calls, "_LONGEST_WAIT", 0.2)
    shop.buy(product={"interval": "week"})
    shop.control.create_endpoint(receiver.url)
    receiver.act = lambda received: sleep(0.1)
    answers: list[int] = []
    real = Control._call

    def call(control: Control, *given: Any, **more: Any) -> Any:
        answers.append(0)
        return real(control, *given, **more)

    monkeypatch.setattr(Control, "_call", call)
    moved = shop.control.advance(days=28, timeout=GENEROUS)
    assert len(answers) > 2 and [after(each["at"]) for each in moved["happened"]] == [7, 14, 21, 28]
    with pytest.raises(WaitTimeout) as stopped:
        shop.control.advance(days=700, timeout=1)
    assert stopped.value.arrived == len(stopped.value.details["happened"]) == len(shop.control.ledger("renew")) - 4


@pytest.mark.parametrize("how", ["delete", "reset"])
def test_a_move_ends_when_its_account_does(receiver: Receiver, how: str) -> None:
    with Sandbox(delivery_timeout=GENEROUS) as sandbox:
        account = sandbox if how == "reset" else sandbox.new_account()
        uuid = Service(account.accounts[0]).account
        account.control.create_endpoint(receiver.url)
        end = sandbox.control.reset if how == "reset" else lambda: sandbox.control.delete_account(uuid)
        receiver.act = lambda received: end() if len(receiver.received) == 1 else None
        before = time(sandbox.control.state()["accounts"][0]["now"])
        with pytest.raises(ControlError, match="409 gone: The account was deleted, or the sandbox was reset"):
            account.control.advance(days=400)
        (first, *_) = sandbox.control.state()["accounts"]
        assert not first["frozen"] and before <= time(first["now"]) < before + timedelta(days=1)
        assert sandbox.control.ledger("renew") == []
        assert sandbox.control.advance(days=40)["happened"] != []


def test_the_end_of_the_sandbox_ends_a_move(receiver: Receiver) -> None:
    with Sandbox(delivery_timeout=GENEROUS) as sandbox:
        sandbox.control.create_endpoint(receiver.url)
        receiver.hold()
        receiver.act = lambda received: sandbox._process.terminate()
        with pytest.raises((ControlError, ConnectionError), match=r"503 stopped|closed|reset"):
            sandbox.control.advance(days=400)
        until(lambda: sandbox._process.poll() is not None, LATE)
        assert "Traceback" not in sandbox.stderr()
