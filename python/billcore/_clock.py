"""The clock for deadlines, the same as that of the C++ core: it also runs while the machine is suspended."""

from __future__ import annotations

import time


def now() -> float:
    """Seconds since the machine was started."""
    return time.clock_gettime(time.CLOCK_BOOTTIME)
