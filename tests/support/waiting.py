"""Waits for a condition, in an asyncio loop and outside of one."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
GENEROUS = 60.0  # seconds for what takes a moment: only a broken run needs them all
LATE = 20.0  # seconds: what takes longer has not ended by itself, however busy the machine is
MISSED = "the condition did not become true"


def until(condition: Callable[[], T]) -> T:
    """Waits until the condition is true; returns its value."""
    deadline = time.monotonic() + GENEROUS
    while not (value := condition()):
        assert time.monotonic() < deadline, MISSED
        time.sleep(0.005)
    return value


async def until_awaited(condition: Callable[[], T]) -> T:
    """The same in a loop, which keeps running meanwhile."""
    deadline = time.monotonic() + GENEROUS
    while not (value := condition()):
        assert time.monotonic() < deadline, MISSED
        await asyncio.sleep(0.005)
    return value
