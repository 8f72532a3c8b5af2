"""The clocks of the accounts, and date arithmetic on their times.

Each account has a clock: it shows the real time when the account begins, and can be moved forward, stopped and started.
Every time that the sandbox shows or stores for an account is the time of this clock. Only the time-outs of receivers,
and the delays of the faults `delay` and `drip`, are measured by the event loop.
"""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from time import perf_counter

_MONTHS = {"month": 1, "quarter": 3, "half_year": 6, "year": 12}
_DAYS = {"day": 1, "week": 7}


@dataclass(slots=True)
class Clock:
    """A clock that shows real time plus `offset`, or `frozen_at` while it is frozen."""

    offset: timedelta = timedelta()
    frozen_at: datetime | None = None

    def now(self) -> datetime:
        """The time that the clock shows, as an aware datetime in UTC."""
        return self.frozen_at if self.frozen_at is not None else real() + self.offset

    def set(self, time: datetime) -> None:
        """Set the clock to `time`; it stays running or frozen."""
        if self.frozen_at is not None:
            self.frozen_at = time
        else:
            self.offset = time - real()

    def freeze(self) -> None:
        self.frozen_at = self.now()

    def run(self) -> None:
        """Let a frozen clock run again, from the time that it shows."""
        if self.frozen_at is not None:
            self.offset, self.frozen_at = self.frozen_at - real(), None


def real() -> datetime:
    """The real time, as an aware datetime in UTC."""
    return datetime.now(UTC)


def milliseconds(begin: float) -> float:
    """The milliseconds of real time since perf_counter() was `begin`."""
    return round((perf_counter() - begin) * 1000, 3)


def iso(time: datetime) -> str:
    """ISO 8601 with whole seconds and the offset +00:00: the format of all times in resources and events."""
    return time.astimezone(UTC).isoformat(timespec="seconds")


def iso_precise(time: datetime) -> str:
    """ISO 8601 with microseconds: the format of all times in records that the control routes show."""
    return time.astimezone(UTC).isoformat(timespec="microseconds")


def parse(text: str) -> datetime:
    """Read a time that `iso` or `iso_precise` wrote."""
    return datetime.fromisoformat(text)


def add_interval(time: datetime, interval: str | None, count: int = 1) -> datetime:
    """`time` plus `count` intervals of a product; an unknown interval counts as a month."""
    if interval in _DAYS:
        return time + timedelta(days=_DAYS[interval] * count)
    months = time.year * 12 + time.month - 1 + _MONTHS.get(interval or "month", 1) * count
    year, month = divmod(months, 12)
    day = min(time.day, calendar.monthrange(year, month + 1)[1])
    return time.replace(year=year, month=month + 1, day=day)


def period_end(start: datetime, interval: str | None, after: datetime) -> datetime:
    """The first time after `after` that is `start` plus a whole number of intervals.

    Counting from `start` keeps the day: a subscription that starts on the 31st renews on the last day of each month.
    """
    count = 0
    end = start
    while end <= after:
        count += 1
        end = add_interval(start, interval, count)
    return end
