"""Times relative to now, for people."""

from __future__ import annotations

from datetime import UTC, datetime

_UNITS = (("day", 86400), ("hour", 3600), ("minute", 60), ("second", 1))
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
