"""Functions that wait for a condition, in an asyncio loop or without one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
GENEROUS = 60.0  # seconds: limit for a wait that normally takes a moment
LONG = 600.0  # seconds: limit for a wait for work that takes seconds on a quiet machine
LATE = 20.0  # seconds: even on a busy machine, a call that takes longer counts as hanging
MISSED = "the condition did not become true"


def until(condition: Callable[[], T], limit: float = GENEROUS) -> T:
    """Waits until the condition is true, for at most `limit` seconds; returns its value."""
    deadline = time.monotonic() + limit
    while not (value := condition()):
        assert time.monotonic() < deadline, MISSED
        time.sleep(0.005)
    return value


async def until_awaited(condition: Callable[[], T]) -> T:
    """Waits until the condition is true, while the asyncio loop keeps running; returns its value."""
    deadline = time.monotonic() + GENEROUS
    while not (value := condition()):
        assert time.monotonic() < deadline, MISSED
        await asyncio.sleep(0.005)
    return value
