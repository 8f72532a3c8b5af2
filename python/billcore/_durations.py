"""Reads durations for the modules that are written in Python."""

from __future__ import annotations

from ._errors import InvalidArgumentError

_LONGEST = 2e6  # seconds: 23 days; socket time-outs are 32-bit milliseconds


def seconds(value: object, name: str, otherwise: str = "", *, zero: bool = False) -> float:
    """A number of seconds above 0 (or 0, with `zero`) as a float, at most 23 days.

    otherwise: what else the argument may be, for the error message. Raises InvalidArgumentError.
    """
    kind = "number of seconds" if zero else "positive number of seconds"
    wrong = f"{name} must be a {kind}" + (f", or {otherwise}" if otherwise else "")
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidArgumentError(f"{wrong}, not {'None' if value is None else type(value).__name__}")
    try:
        number = float(value)
    except OverflowError:
        raise InvalidArgumentError(f"{name} is out of range") from None
    if not (number > 0 or (zero and number == 0)):
        raise InvalidArgumentError(wrong)
    return min(number, _LONGEST)
