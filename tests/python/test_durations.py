"""Times and durations out of range raise a typed one-line error; they never overflow or become another instant."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

import billcore
from billcore import webhooks

from .support import ACCOUNT, API_KEY, SECRET, event, sign, subscription

URL = f"http://127.0.0.1:9{ACCOUNT}"
NOON = datetime(2025, 4, 25, 12, tzinfo=UTC)
BODY = b'{"id": 9, "name": "order.paid", "account": 1, "created_at": "2025-04-25T12:00:00Z", "data": null}'


class Sloppy(datetime):
    """A datetime whose utcoffset() returns `offset` without checking it."""

    offset: Any = None

    def utcoffset(self) -> Any:
        return type(self).offset


class Zone(tzinfo):
    """A tzinfo whose utcoffset() returns `offset` unchecked; datetime checks the result and raises its own errors."""

    def __init__(self, offset: Any) -> None:
        self.offset = offset

    def utcoffset(self, when: datetime | None, /) -> Any:
        return self.offset

    def dst(self, when: datetime | None, /) -> timedelta:
        return timedelta()

    def tzname(self, when: datetime | None, /) -> str:
        return "odd"


def sloppy(offset: Any) -> datetime:
    kind = type("Sloppy", (Sloppy,), {"offset": offset})
    made = kind(2025, 4, 25, 12, tzinfo=UTC)
    assert isinstance(made, datetime)
    return made


class Length:
    """Has the members of a timedelta, but is not one."""

    days, seconds, microseconds = 0, 0, 0


# Invalid offsets; C++ must not read a value of another type as if the value were a timedelta.
NO_OFFSETS: list[Any] = [0, "x" * 100, object(), timedelta, Length(), timedelta(days=1), timedelta(days=-1)]
NO_OFFSETS += [timedelta.max, timedelta.min]


def refuses(call: Callable[[], object], words: str) -> None:
    with pytest.raises(billcore.InvalidArgumentError, match=words) as caught:
        call()
    assert type(caught.value) is billcore.InvalidArgumentError and "\n" not in str(caught.value)


@pytest.mark.parametrize("offset", NO_OFFSETS, ids=lambda offset: f"{type(offset).__name__}-{str(offset)[:20]}")
@pytest.mark.parametrize("make", [sloppy, lambda offset: datetime(2025, 4, 25, 12, tzinfo=Zone(offset))])
def test_utcoffset_must_be_a_timedelta_of_less_than_a_day(make: Callable[[Any], datetime], offset: Any) -> None:
    now = make(offset)
    ends = subscription(status="active", ends_at="2025-04-25T12:00:01Z")
    refuses(lambda: ends.usable_at(now), r"^now has a time zone whose utcoffset\(\)")
    verifier = webhooks.Verifier(SECRET, freshness=60, clock=lambda: now)
    for call in (verifier.verify, verifier.unwrap):
        refuses(lambda call=call: call(BODY, sign(BODY)), r"^the result of clock has a time zone")  # type: ignore[misc]
    client = billcore.Client(base_url=URL, api_key=API_KEY)
    refuses(lambda: client.subscriptions.find_charges("s", since=now), r"^since has a time zone")
    error = billcore.OutcomeUnknownError("POST", "/subscription/s/order", now)
    refuses(lambda: client.subscriptions.find_charges(error), r"^attempted_at of the error has a time zone")


def test_a_time_without_utcoffset_is_refused() -> None:
    for now in (sloppy(None), datetime(2025, 4, 25, 12, tzinfo=Zone(None)), datetime(2025, 4, 25)):
        refuses(lambda now=now: subscription().usable_at(now), "now has no time zone")  # type: ignore[misc]


def test_what_utcoffset_raises_is_not_hidden() -> None:
    class Broken(Zone):
        def utcoffset(self, when: datetime | None, /) -> Any:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        subscription().usable_at(datetime(2025, 4, 25, tzinfo=Broken(None)))


class Delta(timedelta):
    pass


@pytest.mark.parametrize(
    "offset", [timedelta(), timedelta(hours=23, minutes=59, seconds=59), -timedelta(hours=12), Delta(hours=2)]
)
def test_offsets_of_any_kind_are_read(offset: timedelta) -> None:
    made = subscription(status="active", ends_at="2025-04-25T12:00:00Z")
    for now in (sloppy(offset), datetime(2025, 4, 25, 12, tzinfo=Zone(offset))):
        assert made.usable_at(now - timedelta(seconds=1) + offset)
        assert not made.usable_at(now + offset)


def test_the_ends_of_time() -> None:
    made = subscription(status="active", ends_at="2025-04-25T12:00:00Z")
    for zone in (UTC, timezone(timedelta(hours=23)), timezone(-timedelta(hours=23))):
        assert made.usable_at(datetime.min.replace(tzinfo=zone)) and not made.usable_at(
            datetime.max.replace(tzinfo=zone)
        )


# Freshness: tests/conformance/test_webhook_vectors.py has its rules.


@pytest.mark.parametrize("freshness", [300, 300.0, timedelta(minutes=5)])
@pytest.mark.parametrize("as_seconds", [True, False])
def test_freshness_and_its_clock(freshness: float | timedelta, as_seconds: bool) -> None:
    now = NOON + timedelta(minutes=5)
    verifier = webhooks.Verifier(
        SECRET,
        freshness=freshness,
        clock=lambda: now.timestamp() if as_seconds else now.astimezone(timezone(timedelta(hours=2))),
    )
    assert verifier.verify(BODY, sign(BODY)) and verifier.unwrap(BODY, sign(BODY)).id == 9
    now += timedelta(seconds=1)
    for call in (verifier.verify, verifier.unwrap):
        with pytest.raises(webhooks.SignatureError, match=r"stale.*301 s.*300 s") as caught:
            call(BODY, sign(BODY))
        assert (caught.value.reason, caught.value.http_status) == ("stale", 400)


def test_what_a_clock_raises() -> None:
    def broken() -> float:
        raise ZeroDivisionError

    verifier = webhooks.Verifier(SECRET, freshness=1, clock=broken)
    large = event({"text": "x" * 200_000}).raw  # large enough to be verified without the GIL
    for body in (BODY, large):
        with pytest.raises(ZeroDivisionError):
            verifier.unwrap(body, sign(body))
    # The clock is not called when the signature is wrong.
    with pytest.raises(webhooks.SignatureError, match="mismatch"):
        verifier.unwrap(BODY, sign(b""))
    refuses(lambda: webhooks.Verifier(SECRET, freshness=1, clock=5), "^clock must be")  # type: ignore[arg-type]


HUGE = [10**400, -(10**400), 10**5000]
BEYOND = [*HUGE, timedelta.max, timedelta.min, timedelta(days=-999999999), math.inf, -math.inf, math.nan, 1e300, 10**30]


@pytest.mark.parametrize("length", BEYOND, ids=lambda length: str(type(length).__name__))
def test_freshness_beyond_reason(length: Any) -> None:
    for make in (webhooks.Verifier, webhooks.Verifier.allowing_any_key_length):
        refuses(lambda make=make: make(SECRET, freshness=length), "^freshness is out of range")  # type: ignore[misc]


@pytest.mark.parametrize("wrong", ["60", True, b""])
def test_freshness_of_the_wrong_type(wrong: Any) -> None:
    refuses(lambda: webhooks.Verifier(SECRET, freshness=wrong), "^freshness must be seconds, a timedelta, or None")


def test_freshness_up_to_there() -> None:
    for length in (1e11, 10**11, timedelta(days=10**6)):
        assert webhooks.Verifier(SECRET, freshness=length).verify(BODY, sign(BODY))
    for none in (timedelta(microseconds=-1), timedelta(days=-(10**6)), -(10**11)):
        with pytest.raises(billcore.ConfigError, match="freshness must be more than 0"):
            webhooks.Verifier(SECRET, freshness=none)


@pytest.mark.parametrize(
    "now", [*HUGE, math.inf, -math.inf, math.nan, 1e300, -1e12], ids=lambda now: type(now).__name__
)
def test_clocks_beyond_reason(now: Any) -> None:
    verifier = webhooks.Verifier(SECRET, freshness=60, clock=lambda: now)
    for call in (verifier.verify, verifier.unwrap):
        refuses(lambda call=call: call(BODY, sign(BODY)), "^the result of clock is out of range")  # type: ignore[misc]


@pytest.mark.parametrize("now", [timedelta(), Decimal(5), "now", None, True, b"", object()])
def test_clocks_of_the_wrong_type(now: Any) -> None:
    verifier = webhooks.Verifier(SECRET, freshness=60, clock=lambda: now)
    refuses(lambda: verifier.verify(BODY, sign(BODY)), "^the result of clock must be seconds or an aware datetime")


class Odd:
    """An object whose methods convert it to a number."""

    def __init__(self, error: type[BaseException] | None) -> None:
        self.error = error

    def __float__(self) -> float:
        if self.error is not None:
            raise self.error
        return 1.0


def timeouts() -> list[Callable[[Any], object]]:
    """Functions that pass a time-out to the client, in each way that the client accepts it."""
    client = billcore.Client(base_url=URL, api_key=API_KEY)
    waiting = billcore.AsyncClient(base_url=URL, api_key=API_KEY)
    return [
        lambda timeout: billcore.Client(base_url=URL, api_key=API_KEY, timeout=timeout),
        lambda timeout: billcore.AsyncClient(base_url=URL, api_key=API_KEY, timeout=timeout),
        lambda timeout: client.with_options(timeout=timeout),
        lambda timeout: client.subscriptions.get("s", timeout=timeout),
        lambda timeout: client.subscriptions.orders("s", timeout=timeout),
        lambda timeout: client.subscriptions.find_charges("s", timeout=timeout, since=NOON),
        lambda timeout: client.request("GET", "/x", timeout=timeout),
        lambda timeout: waiting.orders.get("o", timeout=timeout),
        lambda timeout: waiting.subscriptions.list(timeout=timeout),
    ]


@pytest.mark.parametrize("length", HUGE, ids=["huge", "negative", "digits"])
def test_timeouts_beyond_reason(length: int) -> None:
    for call in timeouts():
        refuses(lambda call=call: call(length), "^timeout is out of range")  # type: ignore[misc]


@pytest.mark.parametrize("wrong", [timedelta(seconds=5), timedelta.max, "5", True, 1j, Odd(TypeError), Odd(ValueError)])
def test_timeouts_of_the_wrong_type(wrong: Any) -> None:
    for call in timeouts():
        refuses(lambda call=call: call(wrong), "^timeout must be a number")  # type: ignore[misc]


def test_an_error_raised_by_a_number_is_passed_on() -> None:
    for call in timeouts():
        with pytest.raises(ZeroDivisionError):
            call(Odd(ZeroDivisionError))


@pytest.mark.parametrize("length", [math.inf, 1e300, 10**300, Fraction(1, 3), Decimal(30), Odd(None)])
def test_timeouts_that_are_long_or_numbers_of_another_kind(length: Any) -> None:
    with billcore.Client(base_url=URL, api_key=API_KEY, timeout=length) as client:
        client.with_options(timeout=length)
        assert client.subscriptions.orders("s", timeout=length).total is None
