"""The clock of an account: the changes that it causes, and deliveries while the clock moves."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from billcore.testing import Control, ControlError, Sandbox, SandboxAccount
from sandbox.support import Receiver, Service
from support.waiting import GENEROUS, until

BEGIN = datetime(2031, 1, 31, 9, tzinfo=UTC)


def time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def now(control: Control) -> datetime:
    return time(control.state()["accounts"][0]["now"])


class Shop:
    """An account without demo data whose clock is frozen at BEGIN."""

    def __init__(self, account: SandboxAccount) -> None:
        self.control, self.service = account.control, Service(account.accounts[0])
        self.control.freeze()
        self.control.advance(to=BEGIN)

    def buy(self, kind: str = "subscription", product: dict[str, Any] | None = None, **fields: Any) -> str:
        """Buys a product and confirms the order; returns the id of the subscription."""
        number = self.control.create_product("Tea", type=kind, **product or {})["id"]
        made = self.control.checkout(number, **fields)
        self.control.confirm(made["order"]["id"])
        return str(made["subscription"]["id"])

    def shown(self, subscription: str) -> dict[str, Any]:
        return dict(self.service.get(f"/subscription/{subscription}").data)

    def orders(self, subscription: str) -> list[str]:
        """The dates of the subscription's orders, oldest first."""
        listed = self.service.get(f"/subscription/{subscription}/orders?per_page=200").data
        return [order["created_at"][:10] for order in reversed(listed)]

    def happened(self, **move: Any) -> list[tuple[str, str]]:
        """Moves the clock; returns the actions of the jobs that ran, each with its time in days after BEGIN."""
        moved = self.control.advance(**move)
        return [(each["cause"], f"{(time(each['at']) - BEGIN) / timedelta(days=1):g}") for each in moved["happened"]]


@pytest.fixture
def shop(process: Sandbox) -> Iterator[Shop]:
    account = process.new_account(demo=False)
    yield Shop(account)
    process.control.delete_account(Service(account.accounts[0]).account)


def test_it_begins_at_real_time_and_runs(mine: SandboxAccount) -> None:
    before = datetime.now(UTC)
    (account,) = mine.control.state()["accounts"]
    assert before <= time(account["now"]) <= datetime.now(UTC)
    assert account["frozen"] is False
    until(lambda: now(mine.control) > time(account["now"]))


def test_it_is_frozen_moved_and_run(mine: SandboxAccount) -> None:
    control = mine.control
    frozen = control.freeze()
    assert (frozen["frozen"], frozen["happened"]) == (True, [])
    begin = time(frozen["now"])
    assert now(control) == begin
    assert time(control.advance(days=1.5)["now"]) == begin + timedelta(days=1.5)
    assert time(control.advance(days=1, seconds=90)["now"]) == begin + timedelta(days=2.5, seconds=90)
    assert time(control.advance(to=begin + timedelta(days=3))["now"]) == begin + timedelta(days=3)
    running = control.run_clock()
    assert running["frozen"] is False
    until(lambda: now(control) > begin + timedelta(days=3))
    moved = control.advance(days=10)
    assert moved["frozen"] is False
    assert time(moved["now"]) > begin + timedelta(days=13)
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
        ({"hours": 1}, "hours"),
    ],
)
def test_impossible_moves_of_a_clock_are_refused(shop: Shop, body: dict[str, Any], message: str) -> None:
    with pytest.raises(ControlError, match="422") as refused:
        shop.control._call("POST", "clock", body)
    assert message in str(refused.value)
    assert now(shop.control) == BEGIN


def test_it_shows_no_time_after_its_last_year(shop: Shop) -> None:
    shop.control.advance(to="9000-12-30T00:00:00Z")
    with pytest.raises(ControlError, match=r"422 .* far away"):
        shop.control.advance(days=100_000)
    subscription = shop.buy(product={"interval": "year"}, trial_days=100_000)
    assert shop.shown(subscription)["status"] == "trialing"


def test_each_account_has_its_own(shop: Shop, mine: SandboxAccount) -> None:
    subscription = shop.buy()
    mine.control.freeze()
    before = mine.control.state()["accounts"]
    assert shop.happened(days=28) == [("renew", "28")]
    assert mine.control.state()["accounts"] == before
    mine.control.advance(days=400)
    assert shop.orders(subscription) == ["2031-01-31", "2031-02-28"]


def test_the_date_of_answers_and_the_times_of_records_follow_it(shop: Shop) -> None:
    for path, status in (("/products", 200), ("/nothing", 404)):
        answer = shop.service.get(path)
        assert answer.status == status
        assert parsedate_to_datetime(answer.headers["date"]) == BEGIN
    assert (
        parsedate_to_datetime(shop.service.send("GET", "/products", headers={"X-API-KEY": "x"}).headers["date"])
        == BEGIN
    )
    subscription = shop.buy()
    assert shop.shown(subscription)["created_at"] == "2031-01-31T09:00:00+00:00"
    assert {time(each["at"]) for each in shop.control.ledger()} == {BEGIN}
    assert {time(each["at"]) for each in shop.control.requests()} == {BEGIN}


def test_a_year_of_renewals_runs_in_order(shop: Shop, receiver: Receiver) -> None:
    weekly, monthly, yearly = (shop.buy(product={"interval": each}) for each in ("week", "month", "year"))
    shop.control.create_endpoint(receiver.url)
    moved = shop.control.advance(days=365)
    assert moved["pending_deliveries"] == 0
    times = [each["at"] for each in moved["happened"]]
    assert times == sorted(times)
    assert [each["subscription"] for each in moved["happened"]].count(weekly) == 52
    assert [each["subscription"] for each in moved["happened"]].count(monthly) == 12
    assert [each["subscription"] for each in moved["happened"]].count(yearly) == 1
    created = [each.event["created_at"] for each in receiver.received]
    assert created == sorted(created)
    assert [each.event["name"] for each in receiver.received].count("subscription.renewed") == 65
    assert len(receiver.received) == 65 * 3
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
    subscription = shop.buy(declines=True)
    assert shop.happened(days=28) == [("renew", "28")]
    assert shop.shown(subscription)["status"] == "delayed"
    assert shop.happened(days=1) == [("renew", "29")]
    assert shop.shown(subscription)["status"] == "delayed"
    assert shop.happened(days=400) == [("renew", "32")]
    assert shop.shown(subscription)["status"] == "unpaid"
    assert shop.orders(subscription) == ["2031-01-31"]


def test_a_retry_that_is_paid_keeps_the_renewal_date(shop: Shop) -> None:
    subscription = shop.buy(declines=True)
    shop.control.advance(days=28)
    shop.control.subscription(subscription, "change_billing", declines=False)
    assert shop.happened(days=1) == [("renew", "29")]
    shown = shop.shown(subscription)
    assert (shown["status"], shown["renews_at"]) == ("active", "2031-03-31T09:00:00+00:00")


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
    shop.control.create_product("Tea")

    def attempts() -> list[tuple[datetime, int | None]]:
        (delivery,) = shop.control.deliveries()
        return [(time(each["at"]), each["status"]) for each in delivery["attempts"]]

    until(lambda: len(attempts()) == 1)
    assert shop.control.advance(seconds=0.019)["pending_deliveries"] == 1
    assert attempts() == [(BEGIN, 500)]
    assert shop.control.advance(seconds=0.001)["pending_deliveries"] == 1
    assert shop.control.advance(seconds=1)["pending_deliveries"] == 1
    assert shop.control.advance(days=1)["pending_deliveries"] == 0
    assert [status for _, status in attempts()] == [500, 503, 500, 200]
    assert attempts()[1][0] == BEGIN + timedelta(seconds=0.02)


def test_a_receiver_in_the_thread_of_the_caller_is_no_deadlock() -> None:
    with Sandbox(delivery_timeout=0.3) as sandbox, socket.create_server(("127.0.0.1", 0)) as listener:
        shop = Shop(sandbox.new_account(demo=False))
        shop.buy()
        shop.control.create_endpoint(f"http://127.0.0.1:{listener.getsockname()[1]}/")
        moved = shop.control.advance(days=3390)
        assert [each["cause"] for each in moved["happened"]] == ["renew"] * 111
        assert moved["pending_deliveries"] == 333
        # advance() waited for one time-out only, so not every delivery was attempted: that takes 100 seconds.
        assert not all(each["attempts"] for each in shop.control.deliveries())


def test_everything_survives_a_kill(tmp_path: Path, receiver: Receiver) -> None:
    db = tmp_path / "billing.db"
    receiver.script = [500]
    with Sandbox(db=db, retry_schedule=[60], delivery_timeout=GENEROUS) as sandbox:
        account = sandbox.new_account(demo=False)
        shop = Shop(account)
        subscription = shop.buy()
        shop.control.advance(days=10)
        shop.control.create_endpoint(receiver.url)
        shop.control.create_product("Coffee")
        until(lambda: shop.control.deliveries()[0]["attempts"])
        uuid = shop.service.account
        shown = shop.shown(subscription)
        before = shop.control.ledger(), shop.control.deliveries(), shop.control.requests()
        sandbox.control.advance(days=3)
        os.kill(sandbox.pid, signal.SIGKILL)
    with Sandbox(db=db, retry_schedule=[60], delivery_timeout=GENEROUS) as sandbox:
        control = Control(sandbox.control_url, account=uuid)
        clock = control.state()["accounts"][0]
        assert (time(clock["now"]), clock["frozen"]) == (BEGIN + timedelta(days=10), True)
        assert (control.ledger(), control.deliveries(), control.requests()) == before
        first = sandbox.control.state()["accounts"][0]
        assert time(first["now"]) > datetime.now(UTC) + timedelta(days=2)
        moved = control.advance(days=18)
        assert [(each["subscription"], each["cause"]) for each in moved["happened"]] == [(subscription, "renew")]
        assert [each["state"] for each in control.deliveries()] == ["delivered"] * 4
        shop.service.port = int(sandbox.control_url.split(":")[2].partition("/")[0])
        assert shop.shown(subscription) == {**shown, "renews_at": "2031-03-31T09:00:00+00:00"}
        assert [each.event["name"] for each in receiver.received].count("product.updated") == 2


def test_a_seed_and_a_start_make_it_deterministic(receiver: Receiver) -> None:
    def story() -> tuple[Any, ...]:
        begin = BEGIN - timedelta(days=1)
        with Sandbox(seed=7, start=begin, renewal_retries=[1], delivery_timeout=GENEROUS) as sandbox:
            shop = Shop(sandbox.new_account())
            shop.control.create_endpoint(receiver.url)
            bought = [shop.buy(declines=declines) for declines in (False, True)]
            happened = shop.control.advance(days=200)["happened"]
            shop.service.post(f"/subscription/{bought[0]}/cancel")
            deliveries = shop.control.wait_for_deliveries()
            kept = [{**each, "attempts": [attempt["status"] for attempt in each["attempts"]]} for each in deliveries]
            return shop.service.account, shop.service.api_key, bought, happened, shop.control.ledger(), kept

    first = story()
    assert len(first[3]) > 20
    assert first == story()


def test_the_end_of_each_interval(shop: Shop) -> None:
    for interval in ("day", "week", "month", "quarter", "half_year", "year"):
        shop.buy(product={"interval": interval})
    ends = [each["renews_at"][:10] for each in shop.service.get("/subscriptions").data]
    assert ends == ["2031-02-01", "2031-02-07", "2031-02-28", "2031-04-30", "2031-07-31", "2032-01-31"]
    moved = shop.control.advance(days=2)["happened"]
    assert [first["at"] < second["at"] for first, second in pairwise(moved)] == [True]
