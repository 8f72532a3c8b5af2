"""The sandbox's one clock, and date arithmetic on its times.

Every time of day the sandbox shows or stores comes from `now()`. Waiting (delays, retries, time-outs) is in durations
of the event loop and needs no clock. Demo data is placed around DEMO_DATE, so that it is the same on every day.
"""

from __future__ import annotations

import calendar
from datetime import UTC, datetime, timedelta

DEMO_DATE = datetime(2025, 6, 2, 9, 0, 0, tzinfo=UTC)

_MONTHS = {"month": 1, "quarter": 3, "half_year": 6, "year": 12}
_DAYS = {"day": 1, "week": 7}
INTERVALS = (*_DAYS, *_MONTHS)


def now() -> datetime:
    """The current time, aware, in UTC."""
    return datetime.now(UTC)


def iso(time: datetime) -> str:
    """ISO 8601 with whole seconds and the offset +00:00: the one format of resources and events."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S+00:00")


def iso_precise(time: datetime) -> str:
    """ISO 8601 with microseconds: the format of the control routes' records."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def parse(text: str) -> datetime:
    """Read back what `iso` wrote."""
    return datetime.fromisoformat(text)


def add_interval(time: datetime, interval: str | None, count: int = 1) -> datetime:
    """`time` plus `count` intervals of a product; an interval of a name we do not know counts as a month."""
    if interval in _DAYS:
        return time + timedelta(days=_DAYS[interval] * count)
    months = time.year * 12 + time.month - 1 + _MONTHS.get(interval or "month", 1) * count
    year, month = divmod(months, 12)
    day = min(time.day, calendar.monthrange(year, month + 1)[1])
    return time.replace(year=year, month=month + 1, day=day)


def period_end(start: datetime, interval: str | None, after: datetime) -> datetime:
    """The first `start` + n intervals (n >= 0) that lies after `after`.

    Demo data lies around a fixed date, so a period's stored end may be long past; the end of the period that `after`
    falls into is what "end of the current paid period" means.
    """
    count = 0
    end = start
    while end <= after:
        count += 1
        end = add_interval(start, interval, count)
    return end
