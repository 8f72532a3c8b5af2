"""Times relative to now, for people: how they are shown, and how they are given."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime, timedelta

_UNITS = (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_FAR = 60 * 86400  # seconds from which on the date says more than a number of days


def relative(text: str, now: datetime | None = None) -> str:
    """A time of the service such as "in 3 days"; a far time as its date, and what is not a time as it is."""
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return text
    if time.tzinfo is None:
        return text
    seconds = round((time - (now or datetime.now(UTC))).total_seconds())
    if abs(seconds) >= _FAR:
        return text[:10]
    unit, length = next((each for each in _UNITS if abs(seconds) >= each[1]), _UNITS[-1])
    count = abs(seconds) // length
    if count == 0:
        return "now"
    amount = f"{count} {unit}" if count == 1 else f"{count} {unit}s"
    return f"in {amount}" if seconds > 0 else f"{amount} ago"


def time_or_age(text: str) -> datetime:
    """A time with its zone, or how long ago it was, such as 15m; for the argument `type` of argparse."""
    if text[:-1].isdecimal() and len(text) < 8 and text[-1] in _SECONDS:
        return datetime.now(UTC) - timedelta(seconds=int(text[:-1]) * _SECONDS[text[-1]])
    time = datetime.fromisoformat(text)
    if time.tzinfo is None:
        raise argparse.ArgumentTypeError(f"{text} has no time zone: append Z for UTC, or an offset such as +01:00")
    return time


time_or_age.__name__ = "time"  # argparse names the type in its error
