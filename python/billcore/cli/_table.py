"""A table as wide as the terminal: texts are cut (ids never), and the last columns left out, if there is no room."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator, Sequence
from unicodedata import category, east_asian_width

from ._output import styled

_GAP = 2
_WHOLE = ("id", "key", "status", "state")  # never cut, as amounts and times are not
_LEAST = 8  # characters to which a column of text may be cut


class Table:
    """The widths of the columns, measured on the first rows.

    Args:
        names: The titles of the columns.
        is_right: For each column, whether it is aligned to the right.
        rows: The cells of the first rows, printable.
    """

    def __init__(self, names: Sequence[str], is_right: Sequence[bool], rows: Sequence[Sequence[str]]) -> None:
        self._names, self._is_right = names, is_right
        self._widths = [max([_width(name), *(_width(row[at]) for row in rows)]) for at, name in enumerate(names)]
        self.left_out: list[str] = []
        room = shutil.get_terminal_size().columns
        while (over := self._total() - room) > 0 and not self._cut(over):
            if len(self._widths) == 1:
                break
            self._widths.pop()
            self.left_out.insert(0, names[len(self._widths)])

    def _total(self) -> int:
        return sum(self._widths) + _GAP * (len(self._widths) - 1)

    def _cut(self, over: int) -> bool:
        """Make the columns of text narrower by `over` characters in all; False if they are too narrow for that."""
        spare = {at: self._widths[at] - _LEAST for at in range(len(self._widths)) if self._may_cut(at)}
        if sum(each for each in spare.values() if each > 0) < over:
            return False
        while over > 0:
            widest = max(spare, key=lambda at: spare[at])
            self._widths[widest] -= 1
            spare[widest] -= 1
            over -= 1
        return True

    def _may_cut(self, at: int) -> bool:
        name = self._names[at]
        return not (self._is_right[at] or name in _WHOLE or name.endswith(("_id", "_at")))

    def lines(self, rows: Sequence[Sequence[str]]) -> Iterator[str]:
        """The titles and these rows."""
        yield styled(self.line(self._names), "1")
        yield from map(self.line, rows)

    def line(self, cells: Sequence[str]) -> str:
        """One row; a cell that is wider than its column is cut, unless it is an id or the like."""
        made = []
        for at, (cell, width) in enumerate(zip(cells, self._widths, strict=False)):
            text = _shortened(cell, width) if self._may_cut(at) else cell
            blank = " " * (width - _width(text))
            made.append(blank + text if self._is_right[at] else text + blank)
        return (" " * _GAP).join(made).rstrip()


def _width(text: str) -> int:
    """The columns that a text takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(0 if category(each) in ("Mn", "Me") else 1 + (east_asian_width(each) in "WF") for each in text)


def _shortened(text: str, width: int) -> str:
    if _width(text) <= width:
        return text
    dots = "…" if (sys.stdout.encoding or "").lower().replace("-", "") == "utf8" else "..."
    while _width(text) + len(dots) > width:
        text = text[:-1]
    return text + dots
