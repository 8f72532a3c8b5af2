"""The area `webhook`: measures the contenders and publishes the results."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from . import bodies, cold_start, interpreted, machine, native, plot, report
from .tables import Table
from .targets import WEBHOOK

PEERS = ("msgspec", "orjson", "stripe")


def measure(program: Path, quick: bool) -> list[Table]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        bodies.write(folder)
        effort = native.Effort(3, 0.01, 1, 1) if quick else native.Effort(30, 0.05, 4, 2)
        found = native.tables(program, folder, effort)
        found += interpreted.tables(3 if quick else 40, 0.005 if quick else 0.02)
        found.append(_beside_native({table.key: table for table in found}))
        found += cold_start.tables(3 if quick else 30, folder)
    return found


def _beside_native(found: dict[str, Table]) -> Table:
    """Returns the table that compares Python with C++ for the same operation and fields."""
    rows = [found["unwrap/900"].row("copy_read"), found["python/900"].row("unwrap")]
    return Table("python-native/900", "What Python adds to C++, 900 B", "µs", rows[0].key, rows, WEBHOOK, digits=3)


def panels(by_key: dict[str, Table]) -> list[plot.Panel]:
    return [
        plot.Panel(by_key["verify/900"], "ratio", "Verify, 900 B: multiple of the limit"),
        plot.Panel(by_key["unwrap/900"], "ratio", "Verify and parse, 900 B: multiple of the limit"),
        plot.Panel(
            by_key["python/900"],
            "ratio",
            "Python: verify, parse, read, 900 B: multiple of hmac + msgspec (logarithmic)",
            ("verify",),
            log=True,
        ),
        plot.Panel(by_key["start"], "ms over bare", "Import: ms over bare Python (logarithmic)", ("bare",), log=True),
    ]


def main() -> int:
    options = report.options("webhook")
    # Run all contenders on one processor: a move to another one would look like a difference between contenders.
    os.sched_setaffinity(0, {machine.processors()[-1]})
    tables = measure(options.program, options.quick)
    report.publish("webhook", options, tables, machine.facts(PEERS), panels)
    return 0


if __name__ == "__main__":
    sys.exit(main())
