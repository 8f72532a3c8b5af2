"""BILLCORE_LOG: shows the logger "billcore" on stderr. Imported with the client if the variable is set."""

from __future__ import annotations

import contextlib
import logging
import os
import sys

_LEVELS = {"debug": logging.DEBUG, "info": logging.INFO, "warning": logging.WARNING}


class _UntilConfigured(logging.StreamHandler):  # type: ignore[type-arg]
    """Writes to stderr as long as the root logger has no handlers of its own."""

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
        with contextlib.suppress(OSError, ValueError):  # a closed stderr must not fail the import
            print(f"billcore: BILLCORE_LOG must be {', '.join(_LEVELS)}, not {wanted[:80]!r}: ignored", file=sys.stderr)
        return
    logger = logging.getLogger("billcore")
    logger.setLevel(level)
    logger.addHandler(_UntilConfigured())
