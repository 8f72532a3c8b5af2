"""find_charges() in Python: its arguments, its errors, and the charge that it finds. charges_test.cpp has its rules."""

from __future__ import annotations

import asyncio
import pickle
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from email.utils import format_datetime
from typing import Any

import pytest

import billcore
from billcore.testing import FaultKind, Sandbox
from conformance.server import Reply, Request, ScriptedServer

from .conftest import Serve
from .support import ACCOUNT, API_KEY, ORDER, page, run_python

Answer = Callable[[Request], Reply]
Find = Callable[..., list[billcore.Order]]
RESET = Reply(send_only=0, ending="reset")


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as running:
        yield running


def order(age: float, name: str | None = None, now: datetime | None = None) -> dict[str, Any]:
    """An order made `age` seconds ago."""
    made = (now or datetime.now(UTC)) - timedelta(seconds=age)
    return {**ORDER, "id": name or f"o{age:g}", "created_at": made.isoformat()}


def ids(orders: list[billcore.Order]) -> list[str | int]:
    assert all(type(one) is billcore.Order for one in orders)
    return [one.id for one in orders]


def targets(server: ScriptedServer, first: int = 0) -> list[str]:
    return [request.target.partition(ACCOUNT)[2] for request in server.requests[first:]]


def unknown_charge(client: billcore.Client, id: str = "s") -> billcore.OutcomeUnknownError:
    with pytest.raises(billcore.OutcomeUnknownError) as caught:
        client.subscriptions.charge(id, product_id=1, amount=1)
    return caught.value


def awaiting(server: ScriptedServer) -> Find:
    """find_charges() of an AsyncClient, run in a new loop."""

    def find(*args: Any, **more: Any) -> list[billcore.Order]:
        async def main() -> list[billcore.Order]:
            async with billcore.AsyncClient(base_url=server.url + ACCOUNT, api_key=API_KEY, max_retries=0) as client:
                found: list[billcore.Order] = await client.subscriptions.find_charges(*args, **more)
                return found

        return asyncio.run(main())

    return find


def both(server: ScriptedServer, client: billcore.Client) -> list[Find]:
    return [client.subscriptions.find_charges, awaiting(server)]


def served(serve: Serve, reads: Answer) -> tuple[ScriptedServer, billcore.Client, billcore.OutcomeUnknownError]:
    """Returns a server, a client, and the error of a charge. The server resets the connection of each charge and
    answers reads with `reads`."""
    server, client = serve(lambda request: RESET if request.method == "POST" else reads(request))
    return server, client, unknown_charge(client)


@pytest.mark.parametrize("kind", ["reset_after", "status"])
def test_the_charge_is_found(sandbox: Sandbox, kind: FaultKind) -> None:
    with billcore.Client(base_url=sandbox.base_url, api_key=sandbox.api_key) as client:
        (subscription,) = client.subscriptions.list(reference_id="demo-active")
        product = next(product for product in client.products.list() if "one" in product.type)
        now = client.subscriptions.charge(subscription.id, product_id=product.id, amount=100).created_at
        before = {order.id for order in client.subscriptions.orders(subscription.id)}
        status = 504 if kind == "status" else None
        sandbox.control.fault(kind, method="POST", path="/subscription/*/order", status=status)
        with pytest.raises(billcore.BillcoreError) as caught:
            client.subscriptions.charge(subscription.id, product_id=product.id, amount=777)
        error = caught.value
        assert isinstance(error, (billcore.OutcomeUnknownError, billcore.ServerError)) and error.outcome_unknown
        made = [order for order in client.subscriptions.orders(subscription.id) if order.id not in before]
        assert kind == "status" or [order.total for order in made] == [777]
        assert error.attempted_at is not None
        skew = max(timedelta(0), error.attempted_at - now) + timedelta(seconds=5)  # the sandbox has its own clock

        def new(found: list[billcore.Order]) -> list[billcore.Order]:
            return [order for order in found if order.id not in before]

        assert new(client.subscriptions.find_charges(error, skew=skew)) == made
        # After a crash the program has no error, only the time that it recorded before the charge.
        assert new(client.subscriptions.find_charges(subscription.id, since=now)) == made
        # The error can be pickled and used with another client, for example in another process.
        with billcore.Client(base_url=sandbox.base_url, api_key=sandbox.api_key) as other:
            again = pickle.loads(pickle.dumps(error))
            assert new(other.subscriptions.find_charges(again, skew=skew)) == made

        async def awaited() -> None:
            async with billcore.AsyncClient(base_url=sandbox.base_url, api_key=sandbox.api_key) as waiting:
                assert new(await waiting.subscriptions.find_charges(error, skew=skew)) == made
                assert new(await waiting.subscriptions.find_charges(subscription.id, since=now)) == made

        asyncio.run(awaited())


def test_an_error_pickled_in_another_process_finds_its_charge(sandbox: Sandbox) -> None:
    code = """
import pickle, sys, billcore
error = pickle.loads(bytes.fromhex(sys.argv[1]))
with billcore.Client(base_url=sys.argv[2], api_key=sys.argv[3]) as client:
    print(*(order.total for order in client.subscriptions.find_charges(error, skew=2e9)))
"""
    with billcore.Client(base_url=sandbox.base_url, api_key=sandbox.api_key) as client:
        (subscription,) = client.subscriptions.list(reference_id="demo-active")
        product = next(product for product in client.products.list() if "one" in product.type)
        sandbox.control.fault("reset_after", method="POST", path="/subscription/*/order", times=1)
        with pytest.raises(billcore.OutcomeUnknownError) as caught:
            client.subscriptions.charge(subscription.id, product_id=product.id, amount=4321)
    printed = run_python(code, pickle.dumps(caught.value).hex(), sandbox.base_url, sandbox.api_key)
    assert printed.split()[0] == "4321"


def test_orders_before_the_charge_minus_skew_are_not_found(serve: Serve) -> None:
    ages = [-60, 30, 200, 400, 100]  # seconds; the list is not sorted: the last order is newer than the one before it
    now = datetime.now(UTC)
    server, client, _ = served(serve, lambda _: page([order(age, now=now) for age in ages], 1, 1))
    name = "æ%41/b c"  # an id that the path of the error has percent-encoded
    error = unknown_charge(client, name)
    charge = targets(server)[-1]
    for find in both(server, client):
        assert ids(find(error)) == ["o-60", "o30", "o200"]
        assert ids(find(error, skew=60)) == ids(find(error, skew=timedelta(minutes=1))) == ["o-60", "o30"]
        assert ids(find(error, skew=0)) == ids(find(error, skew=timedelta())) == ["o-60"]
        assert ids(find(error, skew=1e9)) == ["o-60", "o30", "o200", "o400", "o100"]
        assert ids(find(name, since=now - timedelta(seconds=200))) == ["o-60", "o30", "o200"], (
            "the instant itself is included"
        )
        elsewhere = (now - timedelta(seconds=199)).astimezone(timezone(timedelta(hours=-7)))
        assert ids(find(name, since=elsewhere)) == ["o-60", "o30"]
    assert set(targets(server, 2)) == {charge + "s?page=1&per_page=200"}
    for find in both(server, client):
        assert ids(find(error, product_id=7)) == ["o-60", "o30", "o200"]
        assert targets(server)[-1] == charge + "s?page=1&per_page=200&filter%5Bproduct_id%5D=7"


@pytest.mark.parametrize("awaited", [False, True])
def test_a_list_with_missing_orders_raises_possibly_missed(serve: Serve, awaited: bool) -> None:
    server, client, error = served(serve, lambda _: page([order(1), order(2)], 1, 1, total=3))
    with pytest.raises(billcore.PossiblyMissedError, match="3 orders and gave 2") as caught:
        both(server, client)[awaited](error)
    assert ids(caught.value.found) == ["o1", "o2"] and not caught.value.outcome_unknown
    assert isinstance(caught.value.__cause__, billcore.PaginationError)
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.found == caught.value.found and "\n" not in str(again)


@pytest.mark.parametrize("awaited", [False, True])
def test_the_earlier_of_two_clocks_counts(serve: Serve, awaited: bool) -> None:
    """The service's clock, shown in the Date header, is an hour behind, so an order looks older than its charge."""
    service = datetime.now(UTC) - timedelta(hours=1)
    dated = page([order(0, "made", service), order(3600, "old", service)], 1, 1)
    dated.headers["Date"] = format_datetime(service, usegmt=True)
    server, client, error = served(serve, lambda _: dated)
    assert error.service_time is None
    find = both(server, client)[awaited]
    assert ids(find(error, skew=60)) == ["made"]
    client.subscriptions.orders("s").first()
    known = unknown_charge(client)
    assert known.service_time is not None and known.attempted_at - known.service_time > timedelta(minutes=59)
    assert ids(find(pickle.loads(pickle.dumps(known)), skew=60)) == ["made"]


@pytest.mark.parametrize("awaited", [False, True])
def test_only_charges_of_unknown_outcome(serve: Serve, awaited: bool) -> None:
    server, client = serve([RESET, Reply(status=402)])
    with pytest.raises(billcore.OutcomeUnknownError) as cancelled:
        client.subscriptions.cancel("s")
    with pytest.raises(billcore.PaymentError) as refused:
        client.subscriptions.charge("s", product_id=1, amount=1)
    no_time = billcore.ServerError(503, outcome_unknown=True, method="POST", path="/subscription/s/order")
    of_text: Any = billcore.OutcomeUnknownError("POST", "/subscription/s/order", NOW)
    of_text.attempted_at = "now"
    wrong: list[tuple[BaseException, str]] = [
        (cancelled.value, "not about a charge"),
        (refused.value, "outcome of this charge is known"),
        (no_time, "does not say when"),
        (billcore.DecodeError("text", 200), "not about a charge"),
        (KeyboardInterrupt(), "not about a charge"),
        (billcore.OutcomeUnknownError("POST", "/subscription/a%0d%0a/order", NOW), "the id"),
        (billcore.OutcomeUnknownError("POST", "/subscription/s/order", NOW.replace(tzinfo=None)), "time zone"),
        (billcore.OutcomeUnknownError("POST", "/subscription/s/order", "now"), "does not say when"),
        (of_text, "must be a datetime"),
        (billcore.OutcomeUnknownError(5, None, NOW), "not about a charge"),  # type: ignore[arg-type]
    ]
    find = both(server, client)[awaited]
    asked = len(server.requests)
    for error, words in wrong:
        with pytest.raises(billcore.InvalidArgumentError, match=words) as caught:
            find(error)
        assert "\n" not in str(caught.value)
    assert len(server.requests) == asked, "nothing was sent"


NOW = datetime(2025, 4, 25, 10, tzinfo=UTC)
CHARGE = billcore.OutcomeUnknownError("POST", "/subscription/s/order", NOW)
WRONG: list[tuple[tuple[Any, ...], dict[str, Any], str]] = [
    (("s",), {}, "since is missing"),
    (("s",), {"since": None}, "since must be a datetime"),
    (("s",), {"since": "2025-04-25"}, "since must be a datetime"),
    (("s",), {"since": 1745566200}, "since must be a datetime"),
    (("s",), {"since": datetime(2025, 4, 25)}, "since has no time zone"),
    (("s",), {"since": NOW, "skew": 5}, "skew goes with an error"),
    ((CHARGE,), {"since": NOW}, "since goes with an id"),
    ((CHARGE,), {"skew": -1}, "skew must not be negative"),
    ((CHARGE,), {"skew": timedelta(microseconds=-1)}, "skew must not be negative"),
    ((CHARGE,), {"skew": None}, "skew must be seconds or a timedelta, not None"),
    ((CHARGE,), {"skew": "5"}, "skew must be seconds or a timedelta, not str"),
    ((CHARGE,), {"skew": True}, "skew must be seconds or a timedelta, not bool"),
    ((CHARGE,), {"skew": float("nan")}, "skew is out of range"),
    ((CHARGE,), {"skew": float("inf")}, "skew is out of range"),
    ((CHARGE,), {"skew": 10**400}, "skew is out of range"),
    ((CHARGE,), {"skew": timedelta.max}, "skew is out of range"),
    ((CHARGE,), {"skew": timedelta.min}, "skew is out of range"),
    ((CHARGE,), {"timeout": 0}, "timeout"),
    (("s",), {"since": NOW, "product_id": "7"}, "product_id must be an int"),
    ((None,), {"since": NOW}, "must be the error of a charge or the id"),
    ((1.5,), {"since": NOW}, "must be the error of a charge or the id"),
    ((billcore.OutcomeUnknownError,), {}, "must be the error of a charge or the id"),
    (("..",), {"since": NOW}, "the id"),
    (("",), {"since": NOW}, "the id"),
]


@pytest.mark.parametrize("awaited", [False, True])
@pytest.mark.parametrize(("args", "more", "words"), WRONG)
def test_wrong_arguments(serve: Serve, awaited: bool, args: tuple[Any, ...], more: dict[str, Any], words: str) -> None:
    server, client = serve([])
    with pytest.raises(billcore.InvalidArgumentError, match=words) as caught:
        both(server, client)[awaited](*args, **more)
    assert "\n" not in str(caught.value) and server.requests == []


def test_find_charges_refuses_wrong_arguments_and_a_closed_client(serve: Serve) -> None:
    _, client = serve([])
    find: Any = client.subscriptions.find_charges
    for args, more in (((), {}), ((CHARGE, 5), {}), ((CHARGE,), {"client": client})):
        with pytest.raises(TypeError, match="find_charges"):
            find(*args, **more)
    client.close()
    with pytest.raises(billcore.ConfigError, match="closed"):
        find(CHARGE)


@pytest.mark.parametrize("awaited", [False, True])
def test_an_answer_that_cannot_be_read_is_no_empty_list(serve: Serve, awaited: bool) -> None:
    whole = order(-5)
    without = {"id": "x", "total": 1}
    replies = [page([whole, without], 1, 1), page([whole, {**without, "created_at": None}], 1, 1)]
    replies += [Reply(status=503), RESET]
    answers = iter(replies)
    server, client, error = served(serve, lambda _: next(answers))
    find = both(server, client)[awaited]
    for kind in (billcore.MissingFieldError, billcore.DecodeError, billcore.ServerError, billcore.ConnectionError):
        with pytest.raises(kind):
            find(error)


def test_errors_hold_no_client(serve: Serve) -> None:
    _, _, error = served(serve, lambda _: RESET)
    assert not any("client" in name or "subscription" in name for name in error.__dict__)
    assert not hasattr(error, "find_candidates") and not hasattr(billcore.ApiError, "find_candidates")
