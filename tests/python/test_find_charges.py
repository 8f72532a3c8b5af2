"""find_charges() in Python: its arguments, its errors, and the charges that it finds. charges_test.cpp has its rules,
tests/meets/test_celery.py a charge that was made."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any

import pytest

import billcore
from conformance.server import Reply, Request

from .calls_support import Calls, calling, each_kind
from .conftest import Serve
from .support import ORDER, page

RESET = Reply(send_only=0, ending="reset")
NOW = datetime(2025, 4, 25, 10, tzinfo=UTC)


def order(age: float, now: datetime, name: str | None = None) -> dict[str, Any]:
    """An order made `age` seconds ago."""
    return {**ORDER, "id": name or f"o{age:g}", "created_at": (now - timedelta(seconds=age)).isoformat()}


def ids(orders: list[billcore.Order]) -> list[str | int]:
    assert all(type(one) is billcore.Order for one in orders)
    return [one.id for one in orders]


def unknown_charge(calls: Calls, id: str = "s") -> billcore.OutcomeUnknownError:
    with pytest.raises(billcore.OutcomeUnknownError) as caught:
        calls.done(calls.client.subscriptions.charge(id, product_id=1, amount=1))
    return caught.value


def lost_charges(*reads: Reply) -> Any:
    """A script that resets the connection of each charge; the last answer to a read is repeated."""
    left = list(reads)

    def script(request: Request) -> Reply:
        return RESET if request.method == "POST" else left.pop(0) if len(left) > 1 else left[0]

    return script


@each_kind
def test_orders_before_the_charge_minus_skew_are_not_found(kind: str) -> None:
    ages = [-60, 30, 200, 400]  # seconds
    now = datetime.now(UTC)
    with calling(kind, lost_charges(page([order(age, now) for age in ages], 1, 1))) as (server, calls):
        name = "æ%41/b c"  # an id that the path of the error has percent-encoded
        error = unknown_charge(calls, name)

        def found(charge: Any, **more: Any) -> list[str | int]:
            return ids(calls.done(calls.client.subscriptions.find_charges(charge, **more)))

        assert found(error) == ["o-60", "o30", "o200"]
        assert found(error, skew=60) == found(error, skew=timedelta(minutes=1)) == ["o-60", "o30"]
        assert found(error, skew=0) == ["o-60"] and len(found(error, skew=1e9)) == 4
        elsewhere = (now - timedelta(seconds=199)).astimezone(timezone(timedelta(hours=-7)))
        assert found(name, since=elsewhere) == ["o-60", "o30"]
        assert found(error, product_id=7) == ["o-60", "o30", "o200"]
        charge, *targets = (request.target for request in server.requests)
        assert set(targets[:-1]) == {charge + "s?page=1&per_page=200"}
        assert targets[-1] == charge + "s?page=1&per_page=200&filter%5Bproduct_id%5D=7"


@each_kind
def test_a_list_with_missing_orders_raises_possibly_missed(kind: str) -> None:
    now = datetime.now(UTC)
    with calling(kind, lost_charges(page([order(1, now), order(2, now)], 1, 1, total=3))) as (_, calls):
        error = unknown_charge(calls)
        with pytest.raises(billcore.PossiblyMissedError, match="3 orders and gave 2") as caught:
            calls.done(calls.client.subscriptions.find_charges(error))
    assert ids(caught.value.found) == ["o1", "o2"] and not caught.value.outcome_unknown
    assert isinstance(caught.value.__cause__, billcore.PaginationError)


@each_kind
def test_the_earlier_of_two_clocks_counts(kind: str) -> None:
    """The service's clock, shown in the Date header, is an hour behind, so an order looks older than its charge."""
    service = datetime.now(UTC) - timedelta(hours=1)
    dated = page([order(0, service, "made"), order(3600, service, "old")], 1, 1)
    dated.headers["Date"] = format_datetime(service, usegmt=True)
    with calling(kind, lost_charges(dated)) as (_, calls):
        calls.done(calls.client.subscriptions.orders("s").first())
        known = unknown_charge(calls)
        assert known.service_time is not None and known.attempted_at - known.service_time > timedelta(minutes=59)
        assert ids(calls.done(calls.client.subscriptions.find_charges(known, skew=60))) == ["made"]


CHARGE = billcore.OutcomeUnknownError("POST", "/subscription/s/order", NOW)
OF_TEXT: Any = billcore.OutcomeUnknownError("POST", "/subscription/s/order", NOW)
OF_TEXT.attempted_at = "now"
WRONG: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
    (("s",), {}, "since is missing"),
    (("s",), {"since": None}, "since must be a datetime"),
    (("s",), {"since": datetime(2025, 4, 25)}, "since has no time zone"),
    (("s",), {"since": NOW, "skew": 5}, "skew goes with an error"),
    ((CHARGE,), {"since": NOW}, "since goes with an id"),
    ((CHARGE,), {"skew": timedelta(microseconds=-1)}, "skew must not be negative"),
    ((CHARGE,), {"skew": None}, "skew must be seconds or a timedelta, not None"),
    ((CHARGE,), {"skew": float("inf")}, "skew is out of range"),
    (("s",), {"since": NOW, "product_id": "7"}, "product_id must be an int"),
    ((1.5,), {"since": NOW}, "must be the error of a charge or the id"),
    (("..",), {"since": NOW}, "the id"),
    ((billcore.ServerError(503, outcome_unknown=True, method="POST", path="/subscription/s/order"),), {}, "say when"),
    ((billcore.PaymentError(402, method="POST", path="/subscription/s/order"),), {}, "of this charge is known"),
    ((KeyboardInterrupt(),), {}, "not about a charge"),
    ((billcore.OutcomeUnknownError("POST", "/subscription/s/order", NOW.replace(tzinfo=None)),), {}, "time zone"),
    ((OF_TEXT,), {}, "must be a datetime"),
    ((billcore.OutcomeUnknownError(5, None, NOW),), {}, "not about a charge"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("args", "more", "words"), WRONG)
def test_wrong_arguments(serve: Serve, args: tuple[Any, ...], more: dict[str, Any], words: str) -> None:
    server, client = serve([])
    with pytest.raises(billcore.InvalidArgumentError, match=words) as caught:
        client.subscriptions.find_charges(*args, **more)
    assert "\n" not in str(caught.value) and server.requests == []


def test_errors_hold_no_client(serve: Serve) -> None:
    _, client = serve([RESET])
    with pytest.raises(billcore.OutcomeUnknownError) as caught:
        client.subscriptions.charge("s", product_id=1, amount=1)
    assert not any("client" in name or "subscription" in name for name in caught.value.__dict__)
