"""How long a call takes, and how much of that the machine gave its processors to others."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

# The proxy and the threads of the clients are in this process; the sandbox, which is not, waits about as long.
SHARE = 2


def waited() -> float:
    """Seconds that the threads of this process were ready to run, and did not."""
    total = 0
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(OSError):  # it has just ended, or the kernel does not count
            total += int((task / "schedstat").read_text().split()[1])
    return total / 1e9


class Lap:
    def __init__(self) -> None:
        self._waited = waited()
        self._begun = time.monotonic()

    def end(self) -> tuple[float, float]:
        """Seconds since it began, and by how much a busy machine may have prolonged that."""
        took = time.monotonic() - self._begun
        return took, SHARE * max(0.0, waited() - self._waited)

    def within(self, seconds: float) -> bool:
        """Is that, but for the delay, less than so many seconds?"""
        took, delay = self.end()
        return took < seconds + delay
