"""Measures `billcore reconcile`: the numbers in python/docs/reconcile.md.

    PYTHONPATH=build/release/python:tests python3 tests/bench/reconciling.py 100000 1600000

Each export is a folder in parquet, of lists of 100 orders; the table is a file in parquet with all its columns.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow
import pyarrow.compute as pc

from reconcile.support import BEGUN, SCHEMA, read, write_export, write_table

# ru_maxrss would be at least the memory of the process that has started this one.
_MEASURED = """
import re, sys, time
begun = time.monotonic()
from billcore.cli import main
assert main(sys.argv[1:]) == 0
print(time.monotonic() - begun, time.process_time(), *re.findall(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read()))
"""


def orders(count: int) -> pyarrow.Table:
    numbers = pyarrow.array(range(count), pyarrow.int64())
    texts = numbers.cast(pyarrow.string())
    columns = {
        "id": pc.add(numbers, 100_000_000_000).cast(pyarrow.string()),
        "created_at": pc.add(numbers, int(BEGUN.timestamp()) * 1_000_000).cast(SCHEMA.field("created_at").type),
        "total": numbers,
        "subscription_id": pc.divide(numbers, 100).cast(pyarrow.string()),
        "state": pyarrow.array(["paid"]).take(pc.multiply(numbers, 0)),
    }
    return pyarrow.table([columns.get(name, texts) for name in SCHEMA.names], SCHEMA)


def measure(folder: Path, count: int) -> str:
    rows = orders(count)
    reads = pyarrow.Table.from_pylist([read(str(number), total=100) for number in range(count // 100)])
    export = write_export(folder / f"{count}", [(rows, reads)], "parquet")
    table = write_table(folder / f"{count}.parquet", rows)
    command = [sys.executable, "-c", _MEASURED, "reconcile", str(export), str(table)]
    seconds, processor, kilobytes = map(float, subprocess.check_output(command, text=True).split()[-3:])
    return f"{count:,} orders: {seconds:.1f} s ({processor:.1f} s of processor time), {kilobytes / 1024:,.0f} MB"


def main() -> None:
    for count in map(int, sys.argv[1:]):
        with TemporaryDirectory() as folder:
            print(measure(Path(folder), count))


if __name__ == "__main__":
    main()
