"""The future that an awaited write waits for."""

from __future__ import annotations

import asyncio
import sys


class WriteFuture(asyncio.Future[None]):
    """Remembers the CancelledError that was passed on to this write.

    A task group that is cancelled cancels its tasks, and wait_for() of Python 3.11 what it waits for. Both raise their
    own CancelledError and drop those of the tasks, so the note about the write belongs on theirs too.
    """

    cause: asyncio.CancelledError | None = None

    def cancel(self, msg: object = None) -> bool:
        """Cancel it, as any future."""
        cause = sys.exception()
        if isinstance(cause, asyncio.CancelledError):
            self.cause = cause
        return super().cancel(msg)
