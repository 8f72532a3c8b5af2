"""The steps of a journal's decision, and a key's row."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from . import _table as table
from ._charge import Charge
from ._window import Baseline

SOON = 1.0  # seconds until the next call, where nothing tells how long to wait


@dataclass(frozen=True, slots=True)
class Sql:
    """Run a statement in its own transaction. The result is the rows, or the number of changed rows: 0 or 1.

    If a unique index refuses the statement, the result is 0. many: the statement may change any number of rows.
    """

    text: str
    parameters: Mapping[str, Any]
    many: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """Call the client."""

    function: Callable[[Any], Any]


T = TypeVar("T")
StepsTo = Generator[Sql | Call, Any, T]
Steps = StepsTo[Any]


@dataclass(frozen=True, slots=True)
class Settings:
    """What a journal's decisions depend on: the account's segment of the base URL, and arguments of Journal."""

    account: str
    settle: float | None
    timeout: float
    horizon: float | None


class Row:
    """A row of billcore_charges, and the database's time when it was read."""

    def __init__(self, values: Any) -> None:
        self.now, self.key, *rest = values
        self.columns: dict[str, Any] = dict(zip(table.COLUMNS, rest, strict=True))
        self.state: str = self.columns["state"]
        self.deadline: float = self.columns["deadline"]
        self.late: float | None = self.columns["late"]
        self.is_unsure = self.late is not None or self.columns["uncertain"] is not None
        self.baseline = Baseline.load(self.columns["baseline"])

    def ids(self, column: str) -> list[str]:
        return json.loads(self.columns[column] or "[]")  # type: ignore[no-any-return]

    def left(self, settle: float | None) -> float:
        """Seconds until the service lists every charge that it has received for the key."""
        ended = max(self.columns["uncertain"] or self.deadline, self.late or 0.0)
        return float(ended + (settle or 0.0) - self.now)

    def public(self) -> Charge:
        hidden = ("baseline", "candidates", "shown", "answer")
        shown = {name: value for name, value in self.columns.items() if name not in hidden}
        for name in ("created", "deadline", "uncertain", "late"):
            shown[name] = None if shown[name] is None else datetime.fromtimestamp(shown[name], UTC)
        return Charge(self.key, **shown)
