"""Measures operations on one delivery, such as its verification, for the areas `webhook` and `ffi`.

In place of a URL a command of turns.py has OPERATION:FOLDER.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from . import bodies, rounds
from .rounds import Place
from .tables import Row, Table
from .targets import Target
from .turns import command, started

OTHER_SECRET = "whsec-abcdefghijklmnop0123456789"
FIELDS = len("90211") + len("subscription.updated") + len(bodies.SUBSCRIPTION["status"])  # what `unwrap` reads


@dataclass(frozen=True)
class Contender:
    label: str
    kind: str  # the program that measures the contender: see turns.command
    name: str  # the argument that selects a contender of this program

    @property
    def program(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True)
class Operation:
    title: str
    verb: str  # the OPERATION of the commands
    count: int  # number of operations in one turn
    reference: str
    rows: Mapping[str, Contender]
    size: int = 900  # of the delivery, in bytes
    unit: str = "µs"
    digits: int = 3

    def place(self, row: str, folder: Path, share: float) -> Place:
        count = max(1, round(self.count * share))
        reads = {"call": 1, "unwrap": FIELDS}.get(self.verb, self.size)
        url = f"{self.verb}:{folder / str(self.size)}"
        return Place(self.rows[row].program, url, 1, count, max(1, count // 10), str(reads), reads * count)

    def table(self, key: str, samples: Samples, targets: dict[tuple[str, str], list[Target]]) -> Table:
        unit = 1 if self.unit == "ns" else 1e3
        rows = [Row(row, one.label, [each / unit for each in samples[key, row]]) for row, one in self.rows.items()]
        return Table(key, self.title, self.unit, self.reference, rows, targets, self.digits)


Samples = dict[tuple[str, str], list[float]]  # (operation, row) -> nanoseconds of processor time per operation


def measure(operations: Mapping[str, Operation], programs: Path, folder: Path, quick: bool) -> Samples:
    for size in {operation.size for operation in operations.values()}:
        bodies.write(folder / str(size), size)
    bodies.write(folder / "forged", 900, OTHER_SECRET)
    contenders = {one.program: one for operation in operations.values() for one in operation.rows.values()}
    commands = {key: command("webhook", one.kind, programs, one.name) for key, one in contenders.items()}
    for operation in operations.values():
        for one in operation.rows.values() if operation.verb != "call" else ():
            _require_refusal(operation.verb, one, commands[one.program], folder)
    places = {
        (key, row): operation.place(row, folder, 0.01 if quick else 1)
        for key, operation in operations.items()
        for row in operation.rows
    }
    samples = rounds.measure(folder, commands, places, 1 if quick else 5, 2 if quick else 12)
    return {key: [cpu / places[key].count for _, cpu in found] for key, found in samples.items()}


def _require_refusal(verb: str, one: Contender, command: list[str], folder: Path) -> None:
    """Raises if a contender accepts a wrong signature, because the contender's time would be meaningless."""
    with ExitStack() as stack:
        contestant = started(stack, folder, {one.program: command})[one.program]
        try:
            contestant.show(f"{verb}:{folder / 'forged'}", 1)
        except RuntimeError:
            return  # the contender has ended with an error
    raise RuntimeError(f"{one.label} accepts a signature made with another secret")
