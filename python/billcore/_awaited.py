"""The future that an awaited write waits for."""

from __future__ import annotations

import asyncio
import sys


class WriteFuture(asyncio.Future[None]):
    """Remembers the CancelledError that was being handled when this future was cancelled.

    If a task group is cancelled (or, in Python 3.11, wait_for()), it cancels its tasks, raises its own CancelledError
    and drops the CancelledError of each task. So the note about the write (in `__notes__`) must be added to both
    errors.
    """

    cause: asyncio.CancelledError | None = None

    def cancel(self, msg: object = None) -> bool:
        """Cancel the future, and remember the CancelledError that the caller is handling, if any."""
        cause = sys.exception()
        if isinstance(cause, asyncio.CancelledError):
            self.cause = cause
        return super().cancel(msg)
