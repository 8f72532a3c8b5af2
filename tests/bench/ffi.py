"""The area `ffi`: the cost of calling the core from another language. Each round measures all languages."""

from __future__ import annotations

import os
import random
import sys
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from . import bodies, machine, pages, plot, report
from .pages import ALL, DEFAULT
from .pages_server import PER_PAGE, PagesServer
from .tables import Row, Table
from .targets import FFI
from .turns import Contestant, command, started


@dataclass(frozen=True)
class Language:
    label: str
    kind: str  # the program that measures the language: native, ffi-go or ffi-rust
    name: str  # the argument that selects a contender of this program
    operations: tuple[str, ...] = ("call", "verify", "unwrap")

    def command(self, programs: Path) -> list[str]:
        return command("ffi", self.kind, programs, self.name)


PEERS = ("verify", "unwrap")
LANGUAGES = {
    "cpp": Language("C++", "native", "cpp"),
    "c": Language("C", "native", "c"),
    "go": Language("Go", "ffi-go", "billcore"),
    "go_std": Language("Go crypto/hmac, kept, + encoding/json", "ffi-go", "std", PEERS),
    "go_stripe": Language("Go stripe-go + encoding/json", "ffi-go", "stripe", PEERS),
    "rust": Language("Rust", "ffi-rust", "billcore"),
    "rust_crypto": Language("Rust hmac + sha2, kept, + serde_json Value", "ffi-rust", "crypto", PEERS),
    "rust_crypto_three": Language("Rust the same, into a struct of 3 fields", "ffi-rust", "crypto_three", PEERS),
    "rust_reqwest": Language("Rust reqwest + serde_json", "ffi-rust", "reqwest", ()),
}
THROUGH_C = ("go", "rust")
LISTS = ("raw", "cpp", "c", "go")  # contenders of the area `pages` that this area measures again
# The list table also shows the contenders of pages.BORDER. Each is measured by the program of a key of LANGUAGES.
BORDERS = {"go_billcore": "go", "rust_billcore": "rust", "rust_reqwest": "rust_reqwest"}


@dataclass(frozen=True)
class Operation:
    title: str
    unit: str
    per_unit: float  # nanoseconds in one `unit`
    count: int  # number of operations in one turn
    digits: int
    reference: str


OPERATIONS = {
    "call": Operation("A bare call: are two short ids the same? (inline in C++)", "ns", 1, 1_000_000, 2, "c"),
    "verify": Operation("Verify, 900 B", "µs", 1e3, 20_000, 3, "cpp"),
    "unwrap": Operation("Verify and parse, 3 fields read, 900 B", "µs", 1e3, 15_000, 3, "cpp"),
}


@dataclass(frozen=True)
class Effort:
    starts: int
    rounds: int  # rounds per start of the programs
    share: float  # Operation.count is multiplied by this factor, which is at most 1
    pages: pages.Effort


Samples = dict[tuple[str, str], list[float]]  # (operation, language) -> nanoseconds of processor time per operation


def _samples(programs: Path, folder: Path, effort: Effort) -> Samples:
    bodies.write(folder)
    commands = {key: language.command(programs) for key, language in LANGUAGES.items() if language.operations}
    found: Samples = {}
    for _ in range(effort.starts):
        with ExitStack() as stack:
            contestants = started(stack, folder, commands)
            places = [(name, key) for name in OPERATIONS for key in contestants if name in LANGUAGES[key].operations]
            _require_same(contestants, places, folder)
            for _ in range(effort.rounds):
                random.shuffle(places)
                for name, key in places:
                    count = max(1, round(OPERATIONS[name].count * effort.share))
                    turn = contestants[key].run(f"{name}:{folder}", 1, count, max(1, count // 10))
                    found.setdefault((name, key), []).append(turn.cpu / count)
    return found


def _require_same(contestants: dict[str, Contestant], places: list[tuple[str, str]], folder: Path) -> None:
    for name in OPERATIONS:
        read = {key: contestants[key].show(f"{name}:{folder}", 1) for one, key in places if one == name}
        if len(set(read.values())) != 1:
            raise RuntimeError(f"{name}: the languages read different things: {read}")


def _tables(samples: Samples) -> list[Table]:
    found = []
    for name, operation in OPERATIONS.items():
        rows = [
            Row(key, language.label, [nanoseconds / operation.per_unit for nanoseconds in samples[name, key]])
            for key, language in LANGUAGES.items()
            if (name, key) in samples
        ]
        if name == "verify":
            rows += [_least(samples, key) for key in THROUGH_C if ("call", key) in samples]
        key, title = f"ffi/{name}", operation.title
        found.append(Table(key, title, operation.unit, operation.reference, rows, FFI, operation.digits))
    return found


def _least(samples: Samples, language: str) -> Row:
    """Returns a lower bound for the time in which a language can verify a delivery through the C functions: the time of
    C itself, plus the time of a bare call from the language."""
    least = min(samples["verify", "c"]) + min(samples["call", language])
    label = f"C, and a bare call of {LANGUAGES[language].label}"
    return Row(f"least_{language}", label, [least / OPERATIONS["verify"].per_unit])


def _list_table(programs: Path, folder: Path, effort: pages.Effort) -> Table:
    """Measures reading a list of orders, as the area pages does, with fewer contenders."""
    lists = {1, effort.pages, *(at_once + 1 for at_once in (1, DEFAULT))}
    samples: pages.Samples = {}
    with PagesServer(folder / "now", lists, [0], machine.processors()[-1]) as server:
        arena = pages.Arena(folder, programs, {0: server.base_urls[0]}, effort.pages)
        commands = {key: one for key, one in arena.commands().items() if key in LISTS}
        commands |= {key: LANGUAGES[language].command(programs) for key, language in BORDERS.items()}
        for _ in range(effort.starts):
            with ExitStack() as start:
                arena.run_at_once(started(start, folder, commands), effort, samples, (1, DEFAULT))
    rows = [
        Row(f"{key}/{at_once}", ALL[key].name(at_once), [wall for wall, _ in samples[0, (key, at_once)]])
        for key in commands
        for at_once in (1, DEFAULT)
    ]
    title = f"{effort.pages * PER_PAGE:,} orders, fetching included, 3 fields read, no delay"
    return Table("ffi/list", title, "ms", f"cpp/{DEFAULT}", rows, FFI)


def measure(programs: Path, effort: Effort) -> list[Table]:
    os.sched_setaffinity(0, {machine.processors()[-1]})
    with TemporaryDirectory() as name:
        folder = Path(name)
        return [*_tables(_samples(programs, folder, effort)), _list_table(programs, folder, effort.pages)]


def panels(by_key: dict[str, Table]) -> list[plot.Panel]:
    return [plot.Panel(table, "ratio", f"{table.title}: multiple of {table.reference}") for table in by_key.values()]


def main() -> int:
    options = report.options("ffi")
    quick = Effort(1, 2, 0.01, pages.Effort(5, 1, 1, 0, {}, 0))
    effort = quick if options.quick else Effort(5, 12, 1, pages.Effort(100, 5, 6, 0.03, {}, 0))
    tables = measure(options.program.parent, effort)
    report.publish("ffi", options, tables, machine.facts_of_clients(()), panels)
    return 0


if __name__ == "__main__":
    sys.exit(main())
