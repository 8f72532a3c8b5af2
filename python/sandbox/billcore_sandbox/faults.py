"""Faults: failures on demand, which replace the service's answer or are added to it.

A fault of requests acts like a broken proxy in front of the service, so it applies before authentication. The faults of
events are in event_faults.py. Faults are kept in memory. control/faults.py checks the fields of a new fault.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from billcore_sandbox import event_faults

REQUIRED: Any = object()  # marks a field without a default

# The fields of each kind of fault, with their defaults. Every kind also has selectors and the fields in WHEN.
REQUEST_KINDS: dict[str, dict[str, Any]] = {
    "status": {
        "status": 503,
        "retry_after": None,
        "body": None,
        "content_type": "application/json",
        "headers": {},
        "effect": False,
    },
    "delay": {"delay": 1.0},
    "drip": {"delay": 1.0},
    "reset_before": {},
    "reset_after": {},
    "half_body": {"abort": False},
    "wrong_length": {"by": REQUIRED},
    "late": {"delay": 1.0},
    "rows": {"insert": 0, "delete": 0},
    "beyond_end": {"answer": "empty"},
}
KINDS = {**REQUEST_KINDS, **event_faults.KINDS}

REQUEST_SELECTORS = ("account", "operation", "method", "path", "query")
SELECTORS = tuple(dict.fromkeys((*REQUEST_SELECTORS, *event_faults.SELECTORS)))
WHEN = ("nth", "times", "probability", "optional")
_MOST_USED = 1000


def selectors_of(kind: str) -> tuple[str, ...]:
    """The selectors that faults of this kind can have."""
    return REQUEST_SELECTORS if kind in REQUEST_KINDS else event_faults.SELECTORS


@dataclass(slots=True)
class Fault:
    """A registered fault. selectors: only those that the caller gave. fields: all fields of its kind."""

    id: int
    kind: str
    selectors: dict[str, Any] = field(default_factory=dict)
    fields: dict[str, Any] = field(default_factory=dict)
    nth: int = 1
    times: int = 1
    probability: float = 1.0
    optional: bool = False
    seen: int = 0
    fired: int = 0
    chance: random.Random = field(default_factory=random.Random)

    @property
    def left(self) -> int:
        return self.times - self.fired

    def matches(self, facts: Mapping[str, Any]) -> bool:
        return all(_fits(name, wanted, facts[name]) for name, wanted in self.selectors.items())

    def counts(self) -> bool:
        """Count a matching request or event; returns whether the fault may happen to it.

        The random choices depend only on the number of the match, not on which other faults happen.
        """
        self.seen += 1
        return self.seen >= self.nth and self.chance.random() < self.probability

    def concerns(self, account: str | None) -> bool:
        """Whether the fault can happen to requests and events of this account; None: always true."""
        return account is None or self.selectors.get("account") in (None, account)

    def public(self) -> Any:
        return {
            "id": self.id,
            "kind": self.kind,
            **{name: self.selectors.get(name) for name in SELECTORS},
            **{name: getattr(self, name) for name in (*WHEN, "seen", "fired", "left")},
        }


NO_FAULT = Fault(0, "")


def _fits(name: str, wanted: Any, fact: Any) -> bool:
    if name == "path":
        return glob(wanted).fullmatch(fact) is not None
    if name == "query":
        return all(pair in fact for pair in wanted.items())
    return bool(wanted == fact)


@lru_cache(maxsize=1000)
def glob(pattern: str) -> re.Pattern[str]:
    """The regular expression of a path pattern. `*` and {id} both stand for any characters except a slash."""
    return re.compile("[^/]*".join(re.escape(part) for part in pattern.replace("{id}", "*").split("*")))


class Faults:
    """The registered faults, oldest first. Faults that cannot happen any more are kept for a while, to be listed."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._waiting: dict[int, Fault] = {}
        self._used: dict[int, Fault] = {}
        self._last_id = 0
        self._of_account: Counter[str | None] = Counter()  # how many faults of each account were added

    def add(self, kind: str, selectors: dict[str, Any], fields: dict[str, Any], **when: Any) -> Fault:
        """Register a fault that has been checked."""
        self._last_id += 1
        account = selectors.get("account")
        self._of_account[account] += 1
        # Not the id, and not the account's UUID or number: they depend on what other tests did before.
        chance = random.Random(f"{self._seed} {self._of_account[account]}")
        fault = Fault(self._last_id, kind, selectors, fields, chance=chance, **when)
        self._waiting[fault.id] = fault
        return fault

    def take(
        self, kinds: Container[str], facts: Mapping[str, Any], fits: Callable[[Fault], bool] = lambda fault: True
    ) -> Fault | None:
        """Return the oldest fault of these kinds that happens now; each fault that matches counts the request or event.

        Args:
            facts: For each selector that faults of `kinds` can have, the value of the request or event.
            fits: A further condition on the fault.
        """
        matching = [each for each in self._waiting.values() if each.kind in kinds and each.matches(facts)]
        happening = [each for each in matching if fits(each) and each.counts()]
        if not happening:
            return None
        fault = happening[0]
        fault.fired += 1
        if fault.left == 0:
            self._used[fault.id] = self._waiting.pop(fault.id)
            if len(self._used) > _MOST_USED:
                del self._used[next(iter(self._used))]
        return fault

    def all(self, account: str | None = None) -> list[Any]:
        """All faults, also those that cannot happen any more. With `account`, only faults that concern the account."""
        faults = sorted([*self._used.values(), *self._waiting.values()], key=lambda fault: fault.id)
        return [fault.public() for fault in faults if fault.concerns(account)]

    def waiting(self, account: str | None = None) -> list[Any]:
        """The faults that can still happen."""
        return [fault.public() for fault in self._waiting.values() if fault.concerns(account)]

    def delete(self, number: int) -> bool:
        """Remove a fault; False if there is none with this id."""
        return (self._waiting.pop(number, None) or self._used.pop(number, None)) is not None

    def forget(self, account: str) -> None:
        """Remove the faults of an account."""
        for faults in (self._waiting, self._used):
            for fault in [each for each in faults.values() if each.selectors.get("account") == account]:
                del faults[fault.id]
        del self._of_account[account]

    def clear(self) -> None:
        self._waiting.clear()
        self._used.clear()
        self._of_account.clear()
        self._last_id = 0
