"""Measures operations on one delivery, such as its verification, for the areas `webhook` and `ffi`.

Each contender is a process that implements the protocol of turns.py; in place of a URL a command has OPERATION:FOLDER.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from . import bodies
from .tables import Row, Table
from .targets import Target
from .turns import Contestant, command, started

OTHER_SECRET = "whsec-abcdefghijklmnop0123456789"


@dataclass(frozen=True)
class Contender:
    label: str
    kind: str  # the program that measures the contender: see turns.command
    name: str  # the argument that selects a contender of this program

    def start(self, stack: ExitStack, folder: Path, programs: Path) -> Contestant:
        key = f"{self.kind}-{self.name}"
        return started(stack, folder, {key: command("webhook", self.kind, programs, self.name)})[key]


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

    def table(self, key: str, samples: Samples, targets: dict[tuple[str, str], list[Target]]) -> Table:
        unit = 1 if self.unit == "ns" else 1e3
        rows = [Row(row, one.label, [each / unit for each in samples[key, row]]) for row, one in self.rows.items()]
        return Table(key, self.title, self.unit, self.reference, rows, targets, self.digits)


@dataclass(frozen=True)
class Effort:
    """How long to measure. Processes of the same program differ in speed by some percent, so each program is started
    several times."""

    starts: int
    rounds: int  # rounds per start of the programs
    share: float  # Operation.count is multiplied by this factor, which is at most 1


Samples = dict[tuple[str, str], list[float]]  # (operation, row) -> nanoseconds of processor time per operation


def measure(operations: Mapping[str, Operation], programs: Path, folder: Path, effort: Effort) -> Samples:
    for size in {operation.size for operation in operations.values()}:
        bodies.write(folder / str(size), size)
    bodies.write(folder / "forged", 900, OTHER_SECRET)
    _require_refusal(operations, programs, folder)
    places = [(key, row) for key, operation in operations.items() for row in operation.rows]
    samples: Samples = {place: [] for place in places}
    for _ in range(effort.starts):
        with ExitStack() as stack:
            programs_of = {one: one.start(stack, folder, programs) for one in _contenders(operations)}
            _require_same(operations, programs_of, folder)
            for _ in range(effort.rounds):
                for key, row in random.sample(places, len(places)):
                    operation = operations[key]
                    count = max(1, round(operation.count * effort.share))
                    place = f"{operation.verb}:{folder / str(operation.size)}"
                    turn = programs_of[_program(operation.rows[row])].run(place, 1, count, max(1, count // 10))
                    samples[key, row].append(turn.cpu / count)
    return samples


def _program(contender: Contender) -> Contender:
    """The contender without its label: rows of several operations share a process."""
    return Contender("", contender.kind, contender.name)


def _contenders(operations: Mapping[str, Operation]) -> list[Contender]:
    return list({_program(one): None for operation in operations.values() for one in operation.rows.values()})


def _require_same(operations: Mapping[str, Operation], programs_of: dict[Contender, Contestant], folder: Path) -> None:
    for key, operation in operations.items():
        place = f"{operation.verb}:{folder / str(operation.size)}"
        read = {row: programs_of[_program(one)].show(place, 1) for row, one in operation.rows.items()}
        if len(set(read.values())) != 1:
            raise RuntimeError(f"{key}: the contenders read different things: {read}")


def _require_refusal(operations: Mapping[str, Operation], programs: Path, folder: Path) -> None:
    """Raises if a contender accepts a wrong signature, because the contender's time would be meaningless."""
    for key, operation in operations.items():
        for row, one in operation.rows.items() if operation.verb != "call" else ():
            with ExitStack() as stack:
                contestant = one.start(stack, folder, programs)
                try:
                    contestant.show(f"{operation.verb}:{folder / 'forged'}", 1)
                except RuntimeError:
                    continue  # the contender has ended with an error
            raise RuntimeError(f"{key}: {row} accepts a signature made with another secret")
