"""Which orders are newer than a charge: pure functions over the ids of a list, latest first. No clock is involved.

tests/journal/test_worlds.py simulates this rule against lists that lag, reorder and grow.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._errors import DecodeError

PER_PAGE = 200  # the most that the interface allows


@dataclass(frozen=True, slots=True)
class Baseline:
    """The newest orders of a subscription and product, read before the charge was sent.

    Attributes:
        ids: The ids of one page of the list, latest first.
        whole: Whether that page was the whole list.
    """

    ids: Sequence[str]
    whole: bool

    def dump(self) -> str:
        return json.dumps({"ids": list(self.ids), "whole": self.whole})

    @staticmethod
    def load(text: str) -> Baseline:
        stored = json.loads(text)
        return Baseline(stored["ids"], stored["whole"])

    def with_newer(self, ids: Sequence[str]) -> Baseline:
        """This baseline, and these orders, which a person has seen."""
        return Baseline([*(each for each in ids if each not in self.ids), *self.ids], self.whole)

    def is_reached(self, ids: Sequence[str], page: Sequence[str], whole: bool) -> bool:
        """Whether enough of the list was read. ids: all that was read; page: the last page; whole: to the list's end.

        If the baseline was the whole list, all of the list must be read; otherwise down to the oldest order of the
        baseline that is still listed. A page without any of them, after others, is past that order.
        """
        if whole or self.whole or not self.ids:
            return whole or not self.whole
        known = set(self.ids)
        return self.ids[-1] in ids or (known.isdisjoint(page) and not known.isdisjoint(ids))

    def newer(self, ids: Sequence[str]) -> set[str] | None:
        """The ids that are not known, and stand before the last known one if the baseline was not the whole list.

        None: no id is known, so nobody can tell which orders are new.
        """
        known = set(self.ids)
        if self.whole:
            return set(ids) - known
        last = max((place for place, each in enumerate(ids) if each in known), default=None)
        return None if last is None else set(ids[:last]) - known


def is_whole(page: Any) -> bool:
    """Whether a page of orders is the whole list. A page with missing or contradicting numbers is not."""
    count = len(page.items)
    try:
        few = count < min(PER_PAGE, page.per_page) and count == page.total and page.total_pages <= 1
        return bool(few and page.current_page == 1)
    except DecodeError:
        return False
