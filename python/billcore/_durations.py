"""Checks and converts durations for the modules that are written in Python."""

from __future__ import annotations

from ._errors import InvalidArgumentError

_LONGEST = 2e6  # 23 days in seconds, because time-outs of sockets are 32-bit numbers of milliseconds


def seconds(value: object, name: str, otherwise: str = "", *, zero: bool = False, longest: float = _LONGEST) -> float:
    """Returns a number of seconds as a float; the number must be more than 0, or with `zero` at least 0.

    More than `longest` (usually 23 days) counts as `longest`. Any other value raises InvalidArgumentError. `otherwise`
    is a part of the error's message: it names values other than numbers that the caller may pass.
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
    return min(number, longest)
