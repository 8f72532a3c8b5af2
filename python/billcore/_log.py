"""Writes the log of the logger "billcore" to stderr. The client imports this module if BILLCORE_LOG is set."""

from __future__ import annotations

import contextlib
import logging
import os
import sys

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING}


class _UntilConfigured(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to stderr until the program adds a handler to the root logger."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        if not logging.getLogger().handlers:
            self.setStream(sys.stderr)
            super().emit(record)


def begin() -> None:
    wanted = os.environ.get("BILLCORE_LOG", "").lower()
    level = _LEVELS.get(wanted)
    if level is None:
        with contextlib.suppress(OSError, ValueError):  # stderr may be closed: the import must not fail
            print(f"billcore: BILLCORE_LOG must be {', '.join(_LEVELS)}, not {wanted[:80]!r}: ignored", file=sys.stderr)
        return
    logger = logging.getLogger("billcore")
    logger.setLevel(level)
    logger.addHandler(_UntilConfigured())
