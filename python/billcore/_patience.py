"""After which errors a reading of many lists requests a page again, after how long, and until when.

The client has already retried a call that raises such an error: core/src/call/retry.hpp has the rules of one call. A
reading may wait for much longer than a call, in a thread of its own.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TypeVar

from . import _clock
from ._errors import ApiError, ConnectionError, TimeoutError, TransportError
from ._interface import is_repeated

T = TypeVar("T")
_UNREACHED = 10.0  # seconds of repeated requests to a service that has never answered


def pause_after(error: Exception) -> float | None:
    """Seconds until the next attempt; None if another attempt would get the same answer."""
    pause = random.uniform(1, 5)  # so that the lists that are read at once do not continue at the same time
    if isinstance(error, (ConnectionError, TimeoutError)):
        return pause
    if not isinstance(error, ApiError) or not is_repeated(error.status):
        return None
    return pause + (error.retry_after or 0)


class Patience:
    """Calls a function that sends a request, and calls it again after errors for which pause_after() has a pause.

    Args:
        seconds: How long after its first error a request is sent again; then its last error is raised.
        reached: Whether the service has answered before. Until it has, an error is raised after at most _UNREACHED
            seconds, because the address may be wrong.
    """

    def __init__(self, seconds: float, *, reached: bool) -> None:
        self._seconds = seconds
        self._reached = reached

    def __call__(
        self, pause: Callable[[float], None], request: Callable[[], T], stopped: Callable[[], bool] = lambda: False
    ) -> T:
        """Return what `request` returns. Calls `pause` with the seconds to wait, then raises if `stopped` says so."""
        since = None
        while True:
            try:
                result = request()
                self._reached = True
                return result
            except (ApiError, TransportError) as error:
                self._reached = self._reached or isinstance(error, ApiError)
                since = _clock.now() if since is None else since
                seconds = pause_after(error)
                patience = self._seconds if self._reached else min(self._seconds, _UNREACHED)
                if seconds is None or _clock.now() + seconds > since + patience:
                    raise
                pause(seconds)
                if stopped():
                    raise
