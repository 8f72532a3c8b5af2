"""Reports unknown parameters, which are not refused, because the real service may ignore them."""

from __future__ import annotations

import logging
from collections import Counter
from typing import Any

_log = logging.getLogger("billcore_sandbox")
_MOST = 1000  # different unknown parameters that are counted for each account
_MOST_WARNINGS = 100  # if a parent process does not read stderr, a full pipe would block the sandbox


class Unknown:
    """Counts the unknown parameters of each account, and logs one warning for each parameter."""

    def __init__(self) -> None:
        self._counts: dict[str, Counter[tuple[str, str]]] = {}
        self._warned: set[tuple[str, str]] = set()

    def note(self, account: str, operation: str, names: list[str], there: tuple[str, ...]) -> None:
        """Count the unknown parameters `names` of one request. there: the parameters that the operation has."""
        for name in names:
            counts = self._counts.setdefault(account, Counter())
            if (operation, name) in counts or len(counts) < _MOST:
                counts[operation, name] += 1
            if (operation, name) not in self._warned and len(self._warned) < _MOST_WARNINGS:
                self._warned.add((operation, name))
                has = f"its parameters are {', '.join(there)}" if there else "it has no parameters"
                _log.warning("%s ignores the unknown parameter %r: %s", operation, name, has)
                if len(self._warned) == _MOST_WARNINGS:
                    _log.warning("further unknown parameters are only counted: see unknown_parameters in GET state")

    def listed(self, account: str | None = None) -> list[Any]:
        """Each unknown parameter, and how often each account sent it."""
        return [
            {"account": each, "operation": operation, "name": name, "count": count}
            for each, counts in self._counts.items()
            if account in (None, each)
            for (operation, name), count in counts.items()
        ]

    def forget(self, account: str) -> None:
        self._counts.pop(account, None)

    def clear(self) -> None:
        self._counts.clear()
