"""The clock of an account: the changes that it causes, and deliveries while the clock moves; date arithmetic."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any

import pytest

from billcore.testing import Control, ControlError, Sandbox, SandboxAccount
from billcore_sandbox import clock
from sandbox.shop import BEGIN, Shop, time
from sandbox.support import Receiver, events, make
from support.waiting import until

# Seconds after BEGIN of each attempt with the schedule of conftest.py, and the answers.
SENT = [(0, 500), (0.02, 503), (0.07, 500), (0.17, 200)]


def now(control: Control) -> datetime:
    return time(control.state()["accounts"][0]["now"])


@pytest.mark.parametrize(
    ("start", "interval", "count", "end"),
    [
        ("2025-01-31", "month", 1, "2025-02-28"),
        ("2025-01-31", "month", 2, "2025-03-31"),
        ("2024-02-29", "year", 1, "2025-02-28"),
        ("2024-02-29", "year", 4, "2028-02-29"),
        ("2025-11-30", "quarter", 1, "2026-02-28"),
        ("2025-06-15", "half_year", 1, "2025-12-15"),
        ("2025-12-31", "day", 1, "2026-01-01"),
        ("2025-12-29", "week", 2, "2026-01-12"),
        ("2025-05-05", None, 1, "2025-06-05"),
        ("2025-05-05", "moon", 1, "2025-06-05"),
    ],
)
def test_intervals_end_on_the_right_day(start: str, interval: str | None, count: int, end: str) -> None:
    assert clock.add_interval(time(start), interval, count) == time(end)


def test_the_end_of_a_period_is_after_the_given_time() -> None:
    start = "2025-01-31"
    for after, end in (("2024-12-01", start), (start, "2025-02-28"), ("2025-03-30", "2025-03-31")):
        assert clock.period_end(time(start), "month", time(after)) == time(end)


def test_it_begins_at_real_time_and_is_frozen_moved_and_run(mine: SandboxAccount) -> None:
    control, before = mine.control, datetime.now(UTC)
    (account,) = control.state()["accounts"]
    assert before <= time(account["now"]) <= datetime.now(UTC)
    assert account["frozen"] is False
    until(lambda: now(control) > time(account["now"]))
    frozen = control.freeze()
    assert (frozen["frozen"], frozen["happened"]) == (True, [])
    begin = time(frozen["now"])
    assert now(control) == begin
    assert time(control.advance(days=1.5)["now"]) == begin + timedelta(days=1.5)
    assert time(control.advance(days=1, seconds=90)["now"]) == begin + timedelta(days=2.5, seconds=90)
    assert time(control.advance(to=begin + timedelta(days=3))["now"]) == begin + timedelta(days=3)
    assert control.run_clock()["frozen"] is False
    until(lambda: now(control) > begin + timedelta(days=3))
    moved = control.advance(days=10)
    assert (moved["frozen"], time(moved["now"]) > begin + timedelta(days=13)) == (False, True)
    until(lambda: now(control) > time(moved["now"]))


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"to": "2031-01-31T08:59:59Z"}, "The clock shows 2031-01-31T09:00:00+00:00 and only moves forward"),
        ({"to": "0001-01-01T00:00:00+14:00"}, "The clock cannot show a time that far away: 9000 is its last year"),
        ({"to": "9999-12-31T23:59:59Z"}, "The clock cannot show a time that far away"),
        ({"days": 100_001}, "100000"),
        ({"days": -1}, "days"),
        ({"seconds": -0.001}, "seconds"),
        ({"to": "tomorrow"}, "The field to must be a time as ISO 8601 writes it"),
        ({"to": "2032-01-01T00:00:00Z", "days": 1}, "to cannot be combined with days or seconds"),
        ({"freeze": True, "run": True}, "freeze and run contradict each other"),
    ],
)
def test_impossible_moves_of_a_clock_are_refused(shop: Shop, body: dict[str, Any], message: str) -> None:
    with pytest.raises(ControlError, match="422") as refused:
        shop.control._call("POST", "clock", body)
    assert message in str(refused.value)
    assert now(shop.control) == BEGIN


def test_each_account_has_its_own(shop: Shop, mine: SandboxAccount) -> None:
    subscription = shop.buy()
    mine.control.freeze()
    before = mine.control.state()["accounts"]
    assert shop.happened(days=28) == [("renew", "28")]
    assert mine.control.state()["accounts"] == before
    mine.control.advance(days=400)
    assert shop.orders(subscription) == ["2031-01-31", "2031-02-28"]


def test_the_date_of_answers_and_the_times_of_records_follow_it(shop: Shop) -> None:
    for path, key, status in (("/products", "", 200), ("/nothing", "", 404), ("/products", "x", 401)):
        answer = shop.service.send("GET", path, headers={"X-API-KEY": key} if key else {})
        assert (answer.status, parsedate_to_datetime(answer.headers["date"])) == (status, BEGIN)
    assert shop.shown(shop.buy())["created_at"] == "2031-01-31T09:00:00+00:00"
    assert {time(each["at"]) for each in (*shop.control.ledger(), *shop.control.requests())} == {BEGIN}


def test_a_year_of_renewals_runs_in_order(shop: Shop, receiver: Receiver) -> None:
    bought = [shop.buy(product={"interval": each}) for each in ("week", "month", "year")]
    shop.control.create_endpoint(receiver.url)
    moved = shop.control.advance(days=365)
    assert moved["pending_deliveries"] == 0
    times = [each["at"] for each in moved["happened"]]
    assert times == sorted(times)
    renewed = [each["subscription"] for each in moved["happened"]]
    assert [renewed.count(each) for each in bought] == [52, 12, 1]
    created = [each.event["created_at"] for each in receiver.received]
    assert created == sorted(created)
    assert events(receiver.received) == ["order.confirmed", "order.paid", "subscription.renewed"] * 65
    assert now(shop.control) == BEGIN + timedelta(days=365)


def test_a_subscription_that_begins_on_the_31st_keeps_its_day(shop: Shop) -> None:
    subscription = shop.buy()
    for _ in range(6):
        shop.control.advance(days=31)
    shop.control.advance(to="2032-03-31T09:00:00Z")
    days = [day[5:] for day in shop.orders(subscription)]
    assert days[:8] == ["01-31", "02-28", "03-31", "04-30", "05-31", "06-30", "07-31", "08-31"]
    assert days[-3:] == ["01-31", "02-29", "03-31"]
    assert shop.shown(subscription)["renews_at"] == "2032-04-30T09:00:00+00:00"


def test_a_renewal_that_comes_late_moves_on_to_the_next_date(shop: Shop) -> None:
    subscription = shop.buy(product={"interval": "week"})
    shop.control.subscription(subscription, "change_billing", declines=True)
    assert shop.happened(days=30) == [("renew", "7"), ("renew", "8"), ("renew", "11")]
    shop.control.subscription(subscription, "change_billing", declines=False)
    shop.control.renew(subscription)
    assert time(shop.shown(subscription)["renews_at"]) == BEGIN + timedelta(days=35)
    assert shop.happened(days=6) == [("renew", "35")]


def test_a_start_and_the_end_of_a_trial(shop: Shop) -> None:
    subscription = shop.buy(starts_in_days=7, trial_days=14)
    status = []
    for move in (6, 1, 13, 1):
        happened = shop.happened(days=move)
        status.append((shop.shown(subscription)["status"], happened))
    assert status == [
        ("future_start", []),
        ("trialing", [("start", "7")]),
        ("trialing", []),
        ("active", [("renew", "21")]),
    ]
    assert shop.shown(subscription)["renews_at"] == "2031-03-21T09:00:00+00:00"


def test_failed_renewals_are_retried_after_days(shop: Shop) -> None:
    unpaid, paid = shop.buy(declines=True), shop.buy(declines=True)
    assert shop.happened(days=28) == [("renew", "28")] * 2
    assert shop.shown(unpaid)["status"] == "delayed"
    shop.control.subscription(paid, "change_billing", declines=False)
    assert shop.happened(days=1) == [("renew", "29")] * 2
    shown = shop.shown(paid)
    assert (shown["status"], shown["renews_at"]) == ("active", "2031-03-31T09:00:00+00:00")
    assert shop.shown(unpaid)["status"] == "delayed"
    assert shop.happened(days=20) == [("renew", "32")]
    assert (shop.shown(unpaid)["status"], shop.orders(unpaid)) == ("unpaid", ["2031-01-31"])


@pytest.mark.parametrize(
    "fields", [{}, {"trial_days": 7}, {"starts_in_days": 7}, {"starts_in_days": 7, "trial_days": 7}]
)
def test_it_expires_after_its_cycles(shop: Shop, fields: dict[str, int]) -> None:
    subscription = shop.buy("fixed_cycle", {"cycles": 3, "interval": "week"}, **fields)
    shop.control.advance(days=60)
    shown = shop.shown(subscription)
    assert (shown["status"], shown["renews_at"]) == ("expired", None)
    days = sum(fields.values()) + 21
    assert time(shown["ends_at"]) == BEGIN + timedelta(days=days)
    # The first order of a trial is not counted as a cycle.
    assert len(shop.orders(subscription)) == (4 if "trial_days" in fields else 3)


def test_a_cancelled_subscription_ends_at_ends_at(shop: Shop) -> None:
    subscription = shop.buy(product={"stays_active": True})
    cancelled = shop.service.post(f"/subscription/{subscription}/cancel").data
    assert (cancelled["status"], cancelled["ends_at"]) == ("active", "2031-02-28T09:00:00+00:00")
    assert shop.happened(days=27.9) == []
    assert shop.shown(subscription)["status"] == "active"
    assert shop.happened(days=400) == [("end", "28")]
    assert shop.shown(subscription) == {**cancelled, "status": "cancelled"}


@pytest.mark.parametrize(("days", "status"), [(28.5, "delayed"), (40, "unpaid")])
@pytest.mark.parametrize("chosen", ["paid-period", "now"])
def test_a_late_subscription_ends_with_the_period_that_was_paid(
    process: Sandbox, days: float, status: str, chosen: Any
) -> None:
    shop = Shop(process.new_account(demo=False, cancel_ends_at=chosen))
    subscription = shop.buy()
    shop.control.subscription(subscription, "change_billing", declines=True)
    shop.control.advance(days=days)
    assert shop.shown(subscription)["status"] == status
    ends_at = shop.service.post(f"/subscription/{subscription}/cancel").data["ends_at"]
    assert time(ends_at) == BEGIN + timedelta(days=28 if chosen == "paid-period" else days)
    assert shop.happened(to=ends_at) == [], "the clock is there already"
    assert now(shop.control) == BEGIN + timedelta(days=days)


def test_it_moves_to_the_second_that_the_service_shows(shop: Shop) -> None:
    shop.control.advance(seconds=0.7)
    assert shop.happened(to=BEGIN) == []
    product = shop.control.create_product("Tea", type="subscription")["id"]
    pending = shop.control.checkout(product)["subscription"]["id"]
    assert shop.control.subscription(pending, "cancel")["subscription"]["ends_at"] == BEGIN.isoformat()
    for seconds in (0.7, 90.7):
        assert shop.happened(to=BEGIN) == []
        assert now(shop.control) == BEGIN + timedelta(seconds=seconds)
        shop.control.advance(seconds=90)
    with pytest.raises(ControlError, match="only moves forward"):
        shop.control.advance(to=BEGIN + timedelta(seconds=1))


def test_a_job_of_an_object_that_changed_is_dropped(shop: Shop) -> None:
    cancelled, renewed, deleted = shop.buy(), shop.buy(), shop.buy("donation")
    shop.service.post(f"/subscription/{cancelled}/cancel")
    shop.control.renew(renewed)
    for product in shop.service.products():
        shop.service.send("DELETE", f"/product/{product['id']}")
    moved = shop.control.advance(days=28)["happened"]
    assert [each["subscription"] for each in moved] == [deleted]
    assert not any("refused" in each for each in moved)
    assert shop.control.state()["counts"]["jobs"] == 2


def test_invoices_are_paid_after_days() -> None:
    with Sandbox(invoice_days=14, renewal_retries=[]) as sandbox:
        shop = Shop(sandbox.new_account(demo=False))
        subscription = shop.buy(billing="invoice")
        product = shop.control.create_product("Tea")["id"]
        late = shop.control.checkout(product, billing="invoice")["order"]["id"]
        shop.control.order(late, "confirm")
        shop.control.order(late, "cancel_payment")
        assert shop.happened(days=13) == []
        assert shop.shown(subscription)["status"] == "pending"
        assert shop.happened(days=1) == [("pay", "14")]
        assert shop.shown(subscription)["status"] == "active"
        assert shop.happened(to="2031-03-28T09:00:00Z") == [("renew", "42"), ("pay", "56")]
        assert shop.service.get(f"/order/{late}").data["state"] == "payment_cancelled"


def test_retries_of_deliveries_wait_for_it(shop: Shop, receiver: Receiver) -> None:
    receiver.script = [500, 503, 500]
    shop.control.create_endpoint(receiver.url)
    make(shop.control, "a")

    def attempts() -> list[tuple[datetime, int | None]]:
        (delivery,) = shop.control.deliveries()
        return [(time(each["at"]), each["status"]) for each in delivery["attempts"]]

    until(lambda: len(attempts()) == 1)
    assert shop.control.advance(seconds=0.019)["pending_deliveries"] == 1
    assert attempts() == [(BEGIN, 500)]
    assert shop.control.advance(seconds=0.001)["pending_deliveries"] == 1
    assert shop.control.advance(seconds=0.051)["pending_deliveries"] == 1
    assert shop.control.advance(days=1)["pending_deliveries"] == 0
    assert attempts() == [(BEGIN + timedelta(seconds=each), status) for each, status in SENT]


def test_a_receiver_in_the_thread_of_the_caller_is_no_deadlock(receiver: Receiver) -> None:
    receiver.hold()
    with Sandbox(delivery_timeout=0.3) as sandbox:
        shop = Shop(sandbox.new_account(demo=False))
        shop.buy()
        shop.control.create_endpoint(receiver.url)
        moved = shop.control.advance(days=3390)
        assert [each["cause"] for each in moved["happened"]] == ["renew"] * 111
        assert moved["pending_deliveries"] == 333
        # advance() waited for one time-out only, so not every delivery was attempted: that takes 100 seconds.
        assert not all(each["attempts"] for each in shop.control.deliveries())
