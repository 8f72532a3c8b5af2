"""Date arithmetic and money, without the service."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from billcore_sandbox import clock
from billcore_sandbox.resources import product_prices, with_vat


def day(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


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
    assert clock.add_interval(day(start), interval, count) == day(end)


def test_the_end_of_a_period_lies_after_the_moment_asked_for() -> None:
    start = day("2025-01-31")
    assert clock.period_end(start, "month", day("2024-12-01")) == start
    assert clock.period_end(start, "month", start) == day("2025-02-28")
    assert clock.period_end(start, "month", day("2025-03-30")) == day("2025-03-31")


def test_times_have_one_format_and_come_back() -> None:
    time = datetime(2025, 6, 2, 11, 0, 0, 125, tzinfo=timezone(timedelta(hours=2)))
    assert clock.iso(time) == "2025-06-02T09:00:00+00:00"
    assert clock.parse(clock.iso(time)) == time.replace(microsecond=0)
    assert clock.iso_precise(time) == "2025-06-02T09:00:00.000125+00:00"
    assert clock.parse(clock.iso_precise(time)) == time
    assert clock.real().tzinfo is UTC


def test_a_clock_runs_stands_still_and_runs_on(monkeypatch: pytest.MonkeyPatch) -> None:
    real = day("2026-01-12")
    monkeypatch.setattr(clock, "real", lambda: real)
    shown = clock.Clock()
    assert shown.now() == real
    shown.set(day("2026-03-31"))
    real += timedelta(hours=1)
    assert shown.now() == day("2026-03-31") + timedelta(hours=1)
    shown.freeze()
    real += timedelta(hours=1)
    assert shown.now() == day("2026-03-31") + timedelta(hours=1)
    shown.set(day("2027-01-01"))
    real += timedelta(hours=1)
    assert shown.now() == day("2027-01-01")
    shown.run()
    real += timedelta(hours=1)
    assert shown.now() == day("2027-01-01") + timedelta(hours=1)


def test_rounding_is_exact_where_floats_are_not() -> None:
    assert with_vat(10**17 + 1, 2500) == 125000000000000001
    assert product_prices(10**15, 12.5, False) == (1125 * 10**12, 10**15)
    assert product_prices(115, 15, True) == (115, 100)
    assert product_prices(5, 10, False) == (6, 5)
