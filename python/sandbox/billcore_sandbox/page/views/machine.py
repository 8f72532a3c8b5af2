"""Draws the state machines of states.toml, and puts their outcomes into words.

The drawing has a row for each state: its box, and below it the causes that it takes. From each cause a line goes to the
right, to the vertical lane of each state that it may lead to, and along the lane to the box of this state.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

from billcore_sandbox import effects
from billcore_sandbox.lifecycle import ENDING, NEW, SAME, SUBJECTS, Machine, Transition

# Units of the drawing, which is shown with 12 px text in a monospace font, or smaller where the page is narrow.
_CHARACTER = 7.3
_BOX, _LINE, _GAP = 24, 19, 13  # heights of a box and of a cause; space between two rows
_PAD, _INDENT, _LANE, _TURN = 10, 18, 14, 6

Edge = tuple[str, str, str]  # source, cause, state that it leads to


@dataclass(frozen=True, slots=True)
class Text:
    """A text of the drawing: its left end, its vertical middle, its width and its class. text: what it says."""

    x: int
    y: int
    width: int
    text: str
    kind: str


@dataclass(frozen=True, slots=True)
class Line:
    """A line from a cause to a state. path: SVG path data; tip: of its arrow head."""

    path: str
    tip: str
    kind: str
    about: str


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawn machine. states: names and labels of the boxes; causes: labels below them."""

    machine: str
    state: str
    width: int
    height: int
    states: dict[str, Text]
    causes: list[Text]
    lines: list[Line]


def drawing(machine: Machine, name: str, state: str, changes: list[Any]) -> Drawing:
    """The machine `name` with the current state of an object, and with the way that its changes took."""
    edges = _edges(machine, name)
    taken = {(each["from"], each["cause"], each["to"]) for each in changes}
    been = {end for source, _, to in taken for end in (source, to)}
    boxes, labels, height = _texts(name, edges, state, been)
    left = _PAD + max(each.x + each.width for each in [*boxes.values(), *labels.values()])
    lanes = _lanes(edges, boxes, labels)
    lines = [
        _line(edge, labels[edge[:2]], left + _TURN + _LANE * lanes[edge[2]], boxes[edge[2]], kind)
        # What the object did is drawn over what it can do, and this over the rest.
        for kind in ("", "next", "taken")
        for edge in edges
        if kind == ("taken" if edge in taken else "next" if edge[0] == state else "")
    ]
    width = left + _TURN + _LANE * (max(lanes.values()) + 1)
    return Drawing(name, state, width, height, boxes, [*labels.values()], lines)


def _leads_to(row: Transition, source: str) -> str:
    """The state after a transition; a subscription that is cancelled and stays `active` is `ending`."""
    if row.effect == "cancel" and row.to == "active":
        return ENDING
    return source if row.to == SAME else row.to


def _edges(machine: Machine, name: str) -> list[Edge]:
    """The transitions, without those that keep every state."""
    rows = [row for row in machine.transitions if row.machine == name and row.to != SAME]
    return list(dict.fromkeys((source, row.cause, _leads_to(row, source)) for row in rows for source in row.sources))


def _texts(
    name: str, edges: list[Edge], state: str, been: set[str]
) -> tuple[dict[str, Text], dict[tuple[str, str], Text], int]:
    """The labels of the states, and the labels of the causes by state and cause, from top to bottom; the height."""
    sources = {source for source, _, _ in edges}
    boxes: dict[str, Text] = {}
    labels: dict[tuple[str, str], Text] = {}
    y = 1
    # States that nothing leaves are the last ones, so that most lines go down.
    for each in [NEW, *sorted(SUBJECTS[name].states, key=lambda each: each not in sources)]:
        label, kind = (f"{each} · now", "now") if each == state else (each, "been" if each in been else "")
        boxes[each] = Text(_PAD, y + _BOX // 2, _width(label), label, kind)
        y += _BOX
        for cause in dict.fromkeys(cause for source, cause, _ in edges if source == each):
            kind = "next" if each == state else ""
            labels[each, cause] = Text(_INDENT, y + _LINE // 2 + 2, _width(cause), cause, kind)
            y += _LINE
        y += _GAP
    return boxes, labels, y - _GAP + 1


def _width(text: str) -> int:
    return round(len(text) * _CHARACTER)


def _lanes(edges: list[Edge], boxes: dict[str, Text], labels: dict[tuple[str, str], Text]) -> dict[str, int]:
    """The lane of each state, counted from the left. States share a lane if their lines do not meet in it."""
    spans = {}
    for to in {to: None for _, _, to in edges}:
        ends = [labels[edge[:2]].y for edge in edges if edge[2] == to] + [boxes[to].y]
        spans[to] = (min(ends), max(ends))
    bottoms: list[int] = []
    found = {}
    for to, (top, bottom) in sorted(spans.items(), key=lambda each: each[1]):
        lane = next((lane for lane, used in enumerate(bottoms) if used < top), len(bottoms))
        bottoms[lane : lane + 1] = [bottom]
        found[to] = lane
    return found


def _line(edge: Edge, cause: Text, lane: int, box: Text, kind: str) -> Line:
    start, end = cause.x + cause.width + 5, box.x + box.width + _PAD
    turn = _TURN if box.y > cause.y else -_TURN
    path = (
        f"M{start} {cause.y}H{lane - _TURN}Q{lane} {cause.y} {lane} {cause.y + turn}"
        f"V{box.y - turn}Q{lane} {box.y} {lane - _TURN} {box.y}H{end + 4}"
    )
    tip = f"M{end + 1} {box.y}l7 -4v8z"
    return Line(path, tip, kind, f"{edge[1]}: {edge[0]} → {edge[2]}")


def outcomes(machine: Machine, name: str, state: str, cause: str) -> list[dict[str, str | None]]:
    """What a cause may do, in the order in which the conditions are tried. when: the condition; None: otherwise."""
    rows = [row for row in machine.transitions if (row.machine, row.cause) == (name, cause) and state in row.sources]
    return [{"to": _leads_to(row, state), "when": _words(row.guard), "event": row.event} for row in rows]


def _words(guard: str | None) -> str | None:
    """The first sentence about a guard, as a part of a sentence."""
    if guard is None:
        return None
    text = (inspect.getdoc(getattr(effects, guard)) or guard).partition("\n")[0].rstrip(".").replace("`", "")
    return text[0].lower() + text[1:]
