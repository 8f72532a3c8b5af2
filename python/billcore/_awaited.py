"""The future that the coroutine of a write awaits."""

from __future__ import annotations

import asyncio
import sys


class WriteFuture(asyncio.Future[None]):
    """Remembers the CancelledError that was being handled when this future was cancelled.

    A cancelled task group cancels its tasks, drops their CancelledErrors and raises the CancelledError with which the
    group was cancelled. (wait_for() in Python 3.11 also drops the task's CancelledError.) The note about the write (in
    `__notes__`) must therefore be added to the error of the task that awaits the write and to the error being handled.
    """

    cause: asyncio.CancelledError | None = None

    def cancel(self, msg: object = None) -> bool:
        """Cancel the future, and remember the CancelledError that the caller is handling, if any."""
        cause = sys.exception()
        if isinstance(cause, asyncio.CancelledError):
            self.cause = cause
        return super().cancel(msg)
