"""The area `ffi`: the cost of calling the core from another language. Each round measures all languages."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from . import machine, operations, pages, plot, report, rounds
from .operations import Contender, Operation
from .pages import DEFAULT
from .pages_server import PER_PAGE, PagesServer
from .tables import Row, Table
from .targets import FFI

LANGUAGES = {
    "cpp": Contender("C++", "native", "cpp"),
    "c": Contender("C", "native", "c"),
    "go": Contender("Go", "go", "billcore"),
    "rust": Contender("Rust", "rust", "billcore"),
}
PEERS = {
    "go_std": Contender("Go crypto/hmac, kept, + encoding/json", "go", "std"),
    "rust_crypto": Contender("Rust hmac + sha2, kept, + serde_json Value", "rust", "crypto"),
}
ALL = {**LANGUAGES, **PEERS}
OPERATIONS = {
    "ffi/call": Operation(
        "A bare call: are two short ids the same? (inline in C++)",
        "call",
        1_000_000,
        "c",
        LANGUAGES,
        unit="ns",
        digits=2,
    ),
    "ffi/verify": Operation("Verify, 900 B", "verify", 20_000, "cpp", ALL),
    "ffi/unwrap": Operation("Verify and parse, 3 fields read, 900 B", "unwrap", 15_000, "cpp", ALL),
}


def _tables(samples: operations.Samples) -> list[Table]:
    tables = [operation.table(key, samples, FFI) for key, operation in OPERATIONS.items()]
    # A lower bound for the time in which Go can verify a delivery through the C functions.
    least = min(samples["ffi/verify", "c"]) + min(samples["ffi/call", "go"])
    tables[1].rows.append(Row("least_go", "C, and a bare call of Go", [least / 1e3]))
    return tables


def _list_table(programs: Path, folder: Path, count: int, starts: int) -> Table:
    """Measures reading a list of orders, as the area pages does, with other contenders."""
    with PagesServer(folder / "now", pages.lists(pages.BORDER, count), 0, machine.processors()[-1]) as server:
        places = pages.places(pages.BORDER, {0: server.base_url}, count)
        samples = rounds.measure(folder, pages.commands(pages.BORDER, programs), places, starts, starts)
    table = pages.wall_table(0, count, samples, pages.BORDER)
    title = f"{count * PER_PAGE:,} orders, fetching included, 3 fields read, no delay"
    return replace(table, key="ffi/list", title=title, reference=f"cpp/{DEFAULT}", targets=FFI, digits=2)


def measure(programs: Path, quick: bool) -> list[Table]:
    os.sched_setaffinity(0, {machine.processors()[-1]})
    with TemporaryDirectory() as name:
        folder = Path(name)
        tables = _tables(operations.measure(OPERATIONS, programs, folder, quick))
        return [*tables, _list_table(programs, folder, 5 if quick else 100, 1 if quick else 5)]


def panels(by_key: dict[str, Table]) -> list[plot.Panel]:
    return [plot.Panel(table, "ratio", f"{table.title}: multiple of {table.reference}") for table in by_key.values()]


def main() -> int:
    options = report.options("ffi")
    tables = measure(options.programs, options.quick)
    report.publish("ffi", options, tables, machine.facts_of_clients(()), panels)
    return 0


if __name__ == "__main__":
    sys.exit(main())
