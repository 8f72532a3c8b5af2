"""The future that an awaited write waits for."""

from __future__ import annotations

import asyncio
import sys


class WriteFuture(asyncio.Future[None]):
    """Remembers the CancelledError that was passed on to this write.

    A cancelled task group and a cancelled wait_for() of Python 3.11 cancel their tasks, raise a CancelledError of their
    own and drop the task's CancelledError. So the note (`__notes__`) about the write must be added to both errors.
    """

    cause: asyncio.CancelledError | None = None

    def cancel(self, msg: object = None) -> bool:
        """Cancel the future, and remember the CancelledError that is being handled."""
        cause = sys.exception()
        if isinstance(cause, asyncio.CancelledError):
            self.cause = cause
        return super().cancel(msg)
