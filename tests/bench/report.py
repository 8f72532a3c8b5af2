"""What every area does with its tables: prints them, writes JSON, the plot and, on request, the README's part."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import billcore

from . import plot
from .tables import Table

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Options:
    program: Path
    results: Path
    quick: bool
    write_readme: bool


def options(area: str) -> Options:
    parser = argparse.ArgumentParser(prog=f"run.sh {area}")
    parser.add_argument("--program", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--results", type=Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="a short run, to check that everything works")
    parser.add_argument("--write-readme", action="store_true", help="put the tables into README.md")
    found = parser.parse_args()
    if not str(billcore.__file__).startswith(sys.prefix):
        raise RuntimeError("billcore must be the installed package, as a user has it")
    return Options(found.program.resolve(), found.results, found.quick, found.write_readme)


def _write_readme(area: str, tables: list[Table], facts: dict[str, str]) -> None:
    path = HERE / "README.md"
    begin, end = f"<!-- {area}: written by run.sh {area} --write-readme -->", f"<!-- {area}: end -->"
    before, found, rest = path.read_text("utf-8").partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise RuntimeError("README.md lacks the marks around the tables")
    machine_line = ", ".join(f"{name} {value}" for name, value in facts.items())
    part = "\n\n".join([f"Measured on: {machine_line}.", *(table.markdown() for table in tables)])
    path.write_text(f"{before}{begin}\n\n{part}\n\n{end}{after}", "utf-8")


def publish(
    area: str,
    given: Options,
    tables: list[Table],
    facts: dict[str, str],
    panels: Callable[[dict[str, Table]], list[plot.Panel]],
) -> None:
    """panels: makes those of the plot from the tables by key."""
    print("\n\n".join(table.text() for table in tables))
    verdicts = [verdict for table in tables for row in table.rows for verdict in table.verdicts(row)]
    print(f"\n{sum(met for _, _, met in verdicts)} of {len(verdicts)} targets met")

    given.results.mkdir(parents=True, exist_ok=True)
    report = {"machine": facts, "tables": [table.json() for table in tables]}
    (given.results / f"{area}.json").write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", "utf-8")
    plot.draw(panels({table.key: table for table in tables}), given.results / f"{area}.svg")
    if given.write_readme:
        _write_readme(area, tables, facts)
