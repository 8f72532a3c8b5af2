"""Publishes the tables of an area: prints them, writes them and the chart to the build folder and, on request, updates
the README and the chart beside it."""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import billcore

from . import plot
from .tables import Table, ratios_of, targets_markdown

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Options:
    programs: Path  # the folder of the native programs
    quick: bool
    write_readme: bool


def options(area: str) -> Options:
    parser = argparse.ArgumentParser(prog=f"run.sh {area}")
    parser.add_argument("--programs", type=Path, required=True, help=argparse.SUPPRESS)
    one_of = parser.add_mutually_exclusive_group()
    one_of.add_argument("--quick", action="store_true", help="a short run, to check that everything works")
    one_of.add_argument("--write-readme", action="store_true", help="update README.md and the chart beside it")
    found = parser.parse_args()
    if not str(billcore.__file__).startswith(sys.prefix):
        raise RuntimeError("billcore must be the installed package, as a user has it")
    return Options(found.programs.resolve(), found.quick, found.write_readme)


def _measured_on(facts: dict[str, str]) -> str:
    return f"Measured on: {', '.join(f'{name} {value}' for name, value in facts.items())}."


def _write_readme(area: str, tables: list[Table], facts: dict[str, str]) -> None:
    path = HERE / "README.md"
    begin, end = f"<!-- {area}: written by run.sh {area} --write-readme -->", f"<!-- {area}: end -->"
    before, found, rest = path.read_text("utf-8").partition(begin)
    old, closed, after = rest.partition(end)
    if not (found and closed):
        raise RuntimeError("README.md lacks the marks around the table")
    # Beside the ratios of this run, the table keeps those of the last run on another processor. If the old table is of
    # this processor, they are in its second column of ratios; otherwise the old table itself is the last run.
    same = old.strip().startswith(f"Measured on: cpu {facts['cpu']},")
    where = re.search(r"^The other processor: (.*)$" if same else r"^Measured on: (.*)$", old, re.MULTILINE)
    part = _measured_on(facts)
    if where:
        part += f"\n\nThe other processor: {where[1]}"
    part += f"\n\n{targets_markdown(tables, ratios_of(old, of_other=same) if where else {})}"
    path.write_text(f"{before}{begin}\n\n{part}\n\n{end}{after}", "utf-8")


def publish(
    area: str,
    given: Options,
    tables: list[Table],
    facts: dict[str, str],
    panels: Callable[[dict[str, Table]], Sequence[plot.Panel]] | None = None,
) -> None:
    """Prints and writes the tables and their chart. panels: makes the chart's panels from the tables; None: there is
    no chart."""
    full = "\n\n".join([_measured_on(facts), *(table.markdown() for table in tables)])
    print(full)
    verdicts = [verdict for table in tables for row in table.rows for verdict in table.verdicts(row)]
    if verdicts:
        print(f"\n{sum(met for _, _, met in verdicts)} of {len(verdicts)} targets met")

    results = given.programs / "results" / ("quick" if given.quick else "")
    results.mkdir(parents=True, exist_ok=True)
    (results / f"{area}.md").write_text(full + "\n", "utf-8")
    chart = results / f"{area}.svg"
    if panels:
        plot.draw(panels({table.key: table for table in tables}), chart)
    if given.write_readme:
        _write_readme(area, tables, facts)
        if panels:
            shutil.copy(chart, HERE)
