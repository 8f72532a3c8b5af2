"""A line on a terminal's stderr while a command waits for more than a second."""

from __future__ import annotations

import os
import sys
import time
from threading import Event, Thread
from typing import Self
from urllib.parse import urlsplit

from ._command import printable

_AFTER, _EVERY = 1.0, 0.2  # seconds


class Waiting:
    """Shows how long the command has waited, and `count`, the number of records so far.

    Args:
        base_url: Whose host is waited for.
    """

    def __init__(self, base_url: str) -> None:
        self.count = 0
        self._host = urlsplit(base_url).hostname or base_url
        self._began = time.monotonic()
        self._ended = Event()
        self._thread: Thread | None = None

    def __enter__(self) -> Self:
        if sys.stderr.isatty() and (os.environ.get("TERM") or "dumb") != "dumb":
            self._thread = Thread(target=self._draw, daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Erase the line, and draw no more."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _draw(self) -> None:
        if self._ended.wait(_AFTER):
            return
        while not self._ended.wait(_EVERY):
            read = f"{self.count:,} records, " if self.count else ""
            line = f"{self._host}: {read}{time.monotonic() - self._began:.0f} s"
            room = os.get_terminal_size(sys.stderr.fileno()).columns - 1
            sys.stderr.write(f"\r\x1b[J{printable(line, sys.stderr)[: max(room, 1)]}")
            sys.stderr.flush()
        sys.stderr.write("\r\x1b[J")
        sys.stderr.flush()
