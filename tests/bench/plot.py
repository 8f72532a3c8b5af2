"""The tables of one area as horizontal bars, targets dashed. The same numbers give the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from .tables import Row, Table, short

OURS, OTHERS, LIMIT = "#2b6cb0", "#b8bec6", "#4a5058"


@dataclass(frozen=True)
class Panel:
    table: Table
    quantity: str  # one of Table.quantities
    caption: str
    skip: Sequence[str] = ()
    log: bool = False


def _colour(row: Row, reference: str | None) -> str:
    if row.key == reference:
        return LIMIT
    return OURS if row.label.startswith(("billcore", "C ", "C++", "from billcore")) else OTHERS


def draw(panels: Sequence[Panel], path: Path) -> None:
    matplotlib = import_module("matplotlib")
    matplotlib.use("svg")
    style = {"svg.hashsalt": "billcore", "svg.fonttype": "none", "font.size": 9, "axes.titlesize": 10}
    matplotlib.rcParams.update(style)
    shown = [[row for row in panel.table.rows if row.key not in panel.skip] for panel in panels]
    figure, all_axes = import_module("matplotlib.pyplot").subplots(
        len(panels),
        figsize=(9, 0.29 * sum(map(len, shown)) + 0.95 * len(panels)),
        height_ratios=[len(rows) + 1 for rows in shown],
        layout="constrained",
    )
    for panel, rows, axes in zip(panels, shown, all_axes, strict=True):
        values = [panel.table.quantities(row)[panel.quantity] for row in rows]
        colours = [_colour(row, panel.table.reference) for row in rows]
        bars = axes.barh([row.label for row in rows], values, color=colours)
        axes.bar_label(bars, [short(value) for value in values], padding=3)
        bounds = {
            target.bound
            for row in rows
            for target, _, _ in panel.table.verdicts(row)
            if target.quantity == panel.quantity
        }
        for bound in bounds:
            axes.axvline(bound, color="#c05621", linewidth=1, linestyle="--")
        if panel.log:
            axes.set_xscale("log")
            axes.xaxis.set_major_formatter("{x:g}")
        axes.margins(x=0.12)
        axes.invert_yaxis()
        axes.set_title(panel.caption, loc="left")
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, metadata={"Date": None, "Creator": None})
