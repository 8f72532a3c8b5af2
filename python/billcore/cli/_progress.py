"""How far an export is: a bar on a terminal if the package rich is installed, else a line every ten seconds."""

from __future__ import annotations

import sys
import time
from typing import Any, Self

_EVERY = 10.0  # seconds between two lines


class Progress:
    """Shows the lists and rows that were read, on stderr."""

    def __init__(self, all_lists: int, lists: int, rows: int) -> None:
        """`lists` and `rows` were read before."""
        self._all, self._lists, self._rows, self._before = all_lists, lists, rows, rows
        self._began = self._shown = time.monotonic()
        self._bar: Any = _bar() if sys.stderr.isatty() else None

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
            self._task = self._bar.add_task("", total=self._all, completed=self._lists, about=self._about())
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
        elif self._shown != self._began:
            self._print()

    def add(self, lists: int, rows: int) -> None:
        self._lists += lists
        self._rows += rows
        if self._bar is not None:
            self._bar.update(self._task, completed=self._lists, about=self._about())
        elif time.monotonic() - self._shown >= _EVERY:
            self._print()

    def _print(self) -> None:
        self._shown = time.monotonic()
        print(f"{self._lists:,} of {self._all:,} lists, {self._about()}", file=sys.stderr, flush=True)

    def _about(self) -> str:
        rate = (self._rows - self._before) / max(time.monotonic() - self._began, 0.001)
        return f"{self._rows:,} rows, {rate:,.0f} rows/s"


def _bar() -> Any:
    try:
        from rich import progress
        from rich.console import Console
    except ImportError:
        return None
    return progress.Progress(
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TextColumn("lists, {task.fields[about]}"),
        progress.TimeRemainingColumn(),
        console=Console(stderr=True),
    )
