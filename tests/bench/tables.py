"""A table of rows measured together, written as Markdown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

from .targets import Target


def short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def _markdown(heading: list[str], numbers: range, lines: list[list[str]]) -> str:
    """Formats a Markdown table. numbers: the columns that are aligned to the right."""
    rule = ["---:" if i in numbers else "---" for i in range(len(heading))]
    return "\n".join("| " + " | ".join(line) + " |" for line in [heading, rule, *lines])


def _relative(target: Target) -> bool:
    """Whether the target limits the ratio to a row other than the table's reference."""
    return target.quantity == "ratio" and target.against != ""


@dataclass
class Row:
    key: str
    label: str
    samples: list[float]
    extra: dict[str, float] = field(default_factory=dict)

    @property
    def low(self) -> float:
        return min(self.samples)

    @property
    def middle(self) -> float:
        return median(self.samples)


@dataclass
class Table:
    """Rows that are compared with each other. reference: the key of the row that ratios are relative to. unit: the
    unit of the samples. best: reduces samples to one number."""

    key: str
    title: str
    unit: str
    reference: str | None
    rows: list[Row]
    targets: dict[tuple[str, str], list[Target]]
    digits: int = 2
    best: Callable[[Sequence[float]], float] = min

    def ratio(self, row: Row) -> float | None:
        return None if self.reference is None else self._times(row, self.reference)

    def row(self, key: str) -> Row:
        return next(row for row in self.rows if row.key == key)

    def quantities(self, row: Row) -> dict[str, float]:
        """Returns the quantities of a row that a target may limit."""
        found = {"min": row.low, "median": row.middle, **row.extra}
        ratio = self.ratio(row)
        return found if ratio is None else {**found, "ratio": ratio}

    def verdicts(self, row: Row) -> list[tuple[Target, float, bool]]:
        """Returns the row's targets, each with the measured value and whether the value meets the target; skips
        targets relative to a row that was not measured."""
        values = self.quantities(row)
        measured = {one.key for one in self.rows}
        wanted = [
            (target, self._times(row, target.against) if _relative(target) else values[target.quantity])
            for target in self.targets.get((self.key, row.key), [])
            if not target.against or target.against in measured
        ]
        return [(target, value, target.met(value)) for target, value in wanted]

    def _times(self, row: Row, other: str) -> float:
        return self.best(row.samples) / self.best(self.row(other).samples)

    def _cells(self, row: Row) -> list[str]:
        def bound(target: Target) -> str:
            if _relative(target):
                return f"{target} of {target.against}"
            return str(target) if target.quantity in ("ratio", "min") else f"{target} {target.quantity.split()[0]}"

        verdict = ", ".join(f"{bound(target)} {'met' if met else 'missed'}" for target, _, met in self.verdicts(row))
        number = f".{self.digits}f"
        ratio = self.ratio(row)
        return [
            row.label,
            format(row.low, number),
            format(row.middle, number),
            *(format(row.extra[name], ".1f") for name in self._extra()),
            *([] if ratio is None else [f"{ratio:.2f}"]),
            verdict,
        ]

    def _extra(self) -> list[str]:
        return list(self.rows[0].extra)

    def _heading(self) -> list[str]:
        ratio = [] if self.reference is None else ["ratio"]
        return ["", f"min {self.unit}", f"median {self.unit}", *self._extra(), *ratio, "target"]

    def markdown(self) -> str:
        heading = self._heading()
        table = _markdown(heading, range(1, len(heading) - 1), [self._cells(row) for row in self.rows])
        return f"**{self.title}**\n\n{table}"

    def comparisons(self) -> list[list[str]]:
        """Returns for each target: what is measured, our row, the row to compare with, ratio, target, whether it is
        met."""

        def value(row: Row, quantity: str) -> float:
            return self.best(row.samples) if quantity == "ratio" else self.quantities(row)[quantity]

        lines: list[list[str]] = []
        for row in self.rows:
            for target, _, met in self.verdicts(row):
                other = self.row(target.against or self.reference or "")
                unit = self.unit if target.quantity in ("ratio", "min") else target.quantity
                pair = [(one.label, value(one, target.quantity)) for one in (row, other)]
                cells = [f"{label}: {short(number)} {unit}" for label, number in pair]
                ratio = pair[0][1] / pair[1][1]
                bound = str(target) if target.quantity == "ratio" else f"{target} {unit}"
                title = "" if lines else self.title
                lines.append([title, *cells, f"{ratio:.2f}", bound, "met" if met else "missed"])
        return lines


def _lines(markdown: str) -> list[list[str]]:
    """Returns the cells of each line of a Markdown table, without the heading."""
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in markdown.splitlines() if line[:1] == "|"][2:]


def _compared(lines: list[list[str]]) -> list[tuple[str, ...]]:
    """Returns for each line of comparisons what it compares, without the measured numbers."""
    found, title = [], ""
    for line in lines:
        title = line[0] or title
        found.append((title, *(re.sub(r": [\d.,]+ (\D+)$", r", \1", cell) for cell in line[1:3])))
    return found


def targets_markdown(tables: Sequence[Table], other: dict[tuple[str, ...], str]) -> str:
    """Returns one table of all targets. other: the ratios on another processor, by what they compare."""
    heading = ["measured", "ours", "limit or best other", "ratio", "on the other processor", "target", ""]
    lines = [line for table in tables for line in table.comparisons()]
    for line, compared in zip(lines, _compared(lines), strict=True):
        line.insert(4, other.get(compared, ""))
    return _markdown(heading, range(3, 5), lines)


def ratios_of(markdown: str, of_other: bool) -> dict[tuple[str, ...], str]:
    """Returns the ratios in a table of targets_markdown(), by what they compare. of_other: whether to return those of
    the other processor instead of those of the run."""
    column = 4 if of_other else 3
    lines = _lines(markdown)
    return {compared: line[column] for compared, line in zip(_compared(lines), lines, strict=True) if line[column]}
