"""The clocks of the accounts, and date arithmetic on their times.

Each account has a clock: it shows the real time when the account begins, and can be moved forward, stopped and started.
Every time that the sandbox shows or stores for an account comes from it. Only time-outs of receivers, and the delays of
faults, are durations of the event loop.
"""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_MONTHS = {"month": 1, "quarter": 3, "half_year": 6, "year": 12}
_DAYS = {"day": 1, "week": 7}
INTERVALS = (*_DAYS, *_MONTHS)


@dataclass(slots=True)
class Clock:
    """Shows real time plus `offset`, or `frozen_at` while it is frozen."""

    offset: timedelta = timedelta()
    frozen_at: datetime | None = None

    def now(self) -> datetime:
        """The clock's time, aware, in UTC."""
        return self.frozen_at if self.frozen_at is not None else real() + self.offset

    def set(self, time: datetime) -> None:
        """Show `time` from now on, running or frozen as before."""
        if self.frozen_at is not None:
            self.frozen_at = time
        else:
            self.offset = time - real()

    def freeze(self) -> None:
        self.frozen_at = self.now()

    def run(self) -> None:
        """Go on from the time that the clock shows."""
        if self.frozen_at is not None:
            self.offset, self.frozen_at = self.frozen_at - real(), None


def real() -> datetime:
    """The real time, aware, in UTC."""
    return datetime.now(UTC)


def iso(time: datetime) -> str:
    """ISO 8601 with whole seconds and the offset +00:00: the one format of resources and events."""
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S+00:00")


def iso_precise(time: datetime) -> str:
    """ISO 8601 with microseconds: the format of the control routes' records."""
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
    """The first `start` + n intervals (n >= 0) that is after `after`.

    Counting from `start` keeps the day: what starts on the 31st renews on the last day of each month.
    """
    count = 0
    end = start
    while end <= after:
        count += 1
        end = add_interval(start, interval, count)
    return end
