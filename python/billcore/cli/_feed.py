"""What the threads of `billcore listen` tell its main thread, which alone prints."""

from __future__ import annotations

import contextlib
import os
import queue

from ._deliveries import Delivery

_MOST = 1000  # deliveries that wait to be printed; then the threads wait, after they have answered


class Feed:
    """A queue whose `reader` is a file descriptor that is readable while something is in it."""

    def __init__(self) -> None:
        self._items: queue.Queue[Delivery | str] = queue.Queue(_MOST)
        self.reader, self.writer = os.pipe()
        for each in (self.reader, self.writer):
            os.set_blocking(each, False)

    def put(self, item: Delivery | str) -> None:
        """Add a delivery, or a sentence."""
        self._items.put(item)
        with contextlib.suppress(BlockingIOError):  # the pipe is full, and therefore readable
            os.write(self.writer, b"\0")

    def taken(self) -> list[Delivery | str]:
        """Everything that is in the queue."""
        with contextlib.suppress(BlockingIOError):
            while os.read(self.reader, 4096):
                pass
        found = []
        with contextlib.suppress(queue.Empty):
            while True:
                found.append(self._items.get_nowait())
        return found
