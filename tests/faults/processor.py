"""The duration of a call, and how much of it other processes may have caused on a busy machine."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

# The proxy and the clients' threads are in this process. The sandbox is not; assume that it waits as long.
SHARE = 2


def waited() -> float:
    """Seconds that the threads of this process were ready to run, but did not run."""
    total = 0
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # the thread has just ended, or the kernel does not count
            total += int((task / "schedstat").read_text().split()[1])
    return total / 1e9


class Lap:
    def __init__(self) -> None:
        self._waited = waited()
        self._begun = time.monotonic()

    def end(self) -> tuple[float, float]:
        """Seconds since the start, and by how much a busy machine may have prolonged them."""
        took = time.monotonic() - self._begun
        return took, SHARE * max(0.0, waited() - self._waited)

    def within(self, seconds: float) -> bool:
        """Whether the duration, minus that delay, is below the limit."""
        took, delay = self.end()
        return took < seconds + delay
