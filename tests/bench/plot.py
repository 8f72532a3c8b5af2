"""Draws the tables of one area as horizontal bars, with a dashed line for each target. The same numbers give an
identical SVG file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from xml.etree import ElementTree

from .tables import Row, Table, short

OURS, OTHERS, LIMIT = "#2b6cb0", "#b8bec6", "#4a5058"
_SVG, _LINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}href"


@dataclass(frozen=True)
class Panel:
    table: Table
    quantity: str  # a key of Table.quantities()
    caption: str
    skip: Sequence[str] = ()
    log: bool = False


def _colour(row: Row, reference: str | None) -> str:
    if row.key == reference:
        return LIMIT
    return OURS if row.label.startswith(("billcore", "C ", "C++", "from billcore")) else OTHERS


def slim(text: str) -> str:
    """Returns an SVG of matplotlib with the same picture in a third of the bytes, because the charts are tracked."""
    ElementTree.register_namespace("", _SVG[1:-1])
    root = ElementTree.fromstring(text)
    for parent in list(root.iter()):
        parent.text = parent.text and parent.text.strip()
        flat: list[ElementTree.Element] = []
        waiting = list(parent)
        while waiting:
            child = waiting.pop(0)
            if child.tag == f"{_SVG}g" and not set(child.attrib) - {"id", "clip-path"}:
                waiting[:0] = child
            elif child.tag != f"{_SVG}metadata":
                flat.append(child)
        parent[:] = flat
    named = {element.get("id"): element for element in root.iter()}
    for element in root.iter():
        element.tail = "\n"
        if _LINK in element.attrib:  # a mark: all uses of one mark have the same style
            element.set("href", element.attrib.pop(_LINK))
            named[element.attrib["href"][1:]].set("style", element.attrib.pop("style"))
        if element.get("transform", "").startswith("rotate(-0 "):
            del element.attrib["transform"]
        for name, value in element.attrib.items():
            shorter = re.sub(r"font-(size: 9px|family: [^;]+); ?|stroke-dashoffset: 0; ?|text-anchor: start", "", value)
            shorter = re.sub(r"-?\d+\.\d+", lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), shorter)
            element.set(name, re.sub(r" ?([:;MLCz]) ?", r"\1", " ".join(shorter.split())))
    root.set("font-family", "DejaVu Sans, Verdana, sans-serif")
    root.set("font-size", "9px")
    return ElementTree.tostring(root, "unicode").replace(' style=""', "")


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
    path.write_text(slim(path.read_text("utf-8")), "utf-8")
