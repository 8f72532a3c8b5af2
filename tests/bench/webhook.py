"""The area `webhook`: measures, prints the tables, writes JSON, the plot and, when asked, the README's part."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import billcore

from . import bodies, cold_start, interpreted, machine, native, plot
from .tables import Table

HERE = Path(__file__).resolve().parent
MARKS = "<!-- webhook: written by run.sh webhook --write-readme -->", "<!-- webhook: end -->"


def measure(program: Path, quick: bool) -> list[Table]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        bodies.write(folder)
        effort = native.Effort(3, 0.01, 1, 1) if quick else native.Effort(30, 0.05, 4, 2)
        found = native.tables(program, folder, effort)
        found += interpreted.tables(3 if quick else 40, 0.005 if quick else 0.02)
        found += cold_start.tables(3 if quick else 30, folder)
    return found


def panels(tables: list[Table]) -> list[plot.Panel]:
    by_key = {table.key: table for table in tables}
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


def write_readme(tables: list[Table], facts: dict[str, str]) -> None:
    path = HERE / "README.md"
    begin, end = MARKS
    before, found, rest = path.read_text("utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise RuntimeError("README.md has lost the marks that the tables go between")
    machine_line = ", ".join(f"{name} {value}" for name, value in facts.items())
    part = "\n\n".join([f"Measured on: {machine_line}.", *(table.markdown() for table in tables)])
    path.write_text(f"{before}{begin}\n\n{part}\n\n{end}{after}", "utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(prog="run.sh webhook")
    parser.add_argument("--program", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--results", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="a short run to see that everything works")
    parser.add_argument("--write-readme", action="store_true", help="put the tables into README.md")
    options = parser.parse_args()
    if not str(billcore.__file__).startswith(sys.prefix):
        raise RuntimeError("billcore must be the installed package, as a user has it")

    tables = measure(options.program, options.quick)
    facts = machine.facts()
    print("\n\n".join(table.text() for table in tables))
    verdicts = [verdict for table in tables for row in table.rows for verdict in table.verdicts(row)]
    print(f"\n{sum(met for _, _, met in verdicts)} of {len(verdicts)} targets met")

    options.results.mkdir(parents=True, exist_ok=True)
    report = {"machine": facts, "tables": [table.json() for table in tables]}
    (options.results / "webhook.json").write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", "utf-8")
    plot.draw(panels(tables), options.results / "webhook.svg")
    if options.write_readme:
        write_readme(tables, facts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
