"""Draws the pictures of the site from the TOML files beside this file, when the site is built.

The directive `picture` puts the SVG into the page itself, so that `currentColor` follows the theme, light or dark:

    ```{picture} write_guard
    What the picture shows, for those who cannot see it.
    ```

`python draw.py FOLDER` writes each picture into a file, for a look at it. Where the code has a table as data, the
picture is made from that table, or drawing fails if the two disagree.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from canvas import LINE, WIDTH, Canvas, width_of, wrapped

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
ERRORS = ROOT / "core/interface/errors.toml"
JOURNAL = ROOT / "python/billcore/journal/_table.py"
CHARGE = ROOT / "python/billcore/journal/_charge.py"

Data = dict[str, Any]


def sequence(canvas: Canvas, data: Data) -> None:
    """Lanes from left to right, and steps from top to bottom.

    A step is an arrow (`from`, `to`, `text`, also `reply` or `lost`), a `note` `at` a lane, a `phase` that begins the
    picture anew under a heading, or a `crash`: a line across all lanes, with a letter and a `text`.
    """
    lanes: list[str] = data["lanes"]
    step_width = WIDTH / len(lanes)
    place = {lane: step_width * (number + 0.5) for number, lane in enumerate(lanes)}
    y, top = 4.0, 0.0
    drawn: list[Callable[[], None]] = []  # after the lanes' lines, which lie below

    def lanes_end() -> None:
        for x in place.values():
            canvas.line([(x, top), (x, y)], arrow=False, dashed=True)
        for each in drawn:
            each()
        drawn.clear()

    def begin() -> None:
        nonlocal y, top
        for lane, x in place.items():
            half = min(step_width / 2 - 6, 84)
            canvas.box(x - half, y, 2 * half, 28, [lane], weight=600)
        y += 28
        top = y
        y += 12

    def arrow(step: Data) -> None:
        nonlocal y
        start, end = place[step["from"]], place[step["to"]]
        lines = wrapped(step["text"], max(abs(end - start) - 22, step_width - 22))
        y += LINE * len(lines) + 5
        here, middle, tone = y, (start + end) / 2, step.get("tone", "")
        lost = step.get("lost", False)
        target = start + (end - start) * 0.55 if lost else end

        def draw() -> None:
            canvas.label("\n".join(lines), middle, here - 3 - len(lines) * LINE / 2, WIDTH)
            canvas.line([(start, here), (target, here)], tone, dashed=step.get("reply", False) or lost, arrow=not lost)
            if lost:
                for sign in (1, -1):
                    canvas.line([(target - 6, here - 6 * sign), (target + 6, here + 6 * sign)], tone, arrow=False)

        drawn.append(draw)
        y += 8

    def note(step: Data) -> None:
        nonlocal y
        width = step.get("width", step_width - 16)
        lines = wrapped(step["note"], width - 14)
        height, here, x = LINE * len(lines) + 10, y + 4, place[step["at"]]
        left = min(max(x - width / 2, 2), WIDTH - width - 2)
        drawn.append(lambda: canvas.box(left, here, width, height, lines, step.get("tone", "plain")))
        y += height + 10

    def crash(step: Data) -> None:
        nonlocal y
        lines = wrapped(step["text"], WIDTH - 70)
        height, here = LINE * len(lines) + 6, y + 6

        def draw() -> None:
            canvas.box(2, here, WIDTH - 4, height, [], "bad")
            canvas.text([step["crash"]], 20, here + height / 2, weight=700)
            canvas.text(lines, 40, here + 3 + LINE / 2, "start")

        drawn.append(draw)
        y += height + 12

    started = False
    for step in data["step"]:
        if "phase" in step:
            if started:
                lanes_end()
                y += 22
            canvas.text([step["phase"]], 4, y + 8, "start", 600)
            y += 26
            begin()
            started = True
            continue
        if not started:
            begin()
            started = True
        (arrow if "from" in step else note if "note" in step else crash)(step)
    y += 4
    lanes_end()


def edge_of(box: Data, towards: tuple[float, float]) -> tuple[float, float]:
    """The point of a box's border on the way from its middle to a point."""
    dx, dy = towards[0] - box["x"], towards[1] - box["y"]
    half_w, half_h = box["w"] / 2 + 2, box["h"] / 2 + 2
    scale = min(half_w / abs(dx) if dx else 1e9, half_h / abs(dy) if dy else 1e9)
    return box["x"] + dx * scale, box["y"] + dy * scale


def states(canvas: Canvas, data: Data) -> None:
    """Boxes at given places, and arrows between them, with `via` points; `by` names the journal's statement."""
    check_journal(data)
    known, opened = journal_states()
    boxes: dict[str, Data] = {}
    for state in data["state"]:
        lines = state.get("text", state["name"]).split("\n")
        boxes[state["name"]] = {"w": 104, "h": 20 + LINE * len(lines), **state, "lines": lines}
    for edge in data["edge"]:
        start, end = boxes[edge["from"]], boxes[edge["to"]]
        via = [(float(x), float(y)) for x, y in edge.get("via", [])]
        first = via[0] if via else (end["x"], end["y"])
        last = via[-1] if via else (start["x"], start["y"])
        canvas.line([edge_of(start, first), *via, edge_of(end, last)], edge.get("tone", ""))
    for edge in data["edge"]:
        if "text" in edge:
            x, y = edge["at"]
            canvas.label(edge["text"], x, y, edge.get("width", 130))
    for name, box in boxes.items():
        tone = "" if name not in known else "unsure" if name in opened else "good"
        canvas.box(box["x"] - box["w"] / 2, box["y"] - box["h"] / 2, box["w"], box["h"], box["lines"], tone, 600)
    legend(canvas, data["legend"])


def legend(canvas: Canvas, entries: dict[str, str]) -> None:
    y, x = canvas.height + 18, 4.0
    for tone, text in entries.items():
        if x + 20 + width_of(text) > WIDTH:
            x, y = 4.0, y + 24
        canvas.box(x, y - 7, 14, 14, [], tone)
        canvas.text([text], x + 20, y, "start")
        x += 20 + width_of(text) + 22


def journal_states() -> tuple[set[str], set[str]]:
    """The states of a key, and those in which a key is always open, as the journal defines them."""
    all_states = re.search(r"^ +state: (.*)\.$", CHARGE.read_text("utf-8"), re.M)
    opened = re.search(r"^OPEN = f\"\(state IN \(([^)]*)\)", JOURNAL.read_text("utf-8"), re.M)
    assert all_states and opened, "the journal's states are not where this file looks for them"
    return set(re.findall(r"\w+", all_states[1])) - {"or"}, set(re.findall(r"'(\w+)'", opened[1]))


def check_journal(data: Data) -> None:
    """Fails unless the picture has the journal's states, and a transition for each statement that sets a state."""
    statement = r"^([A-Z_]+) = f?\"{1,3}(?:UPDATE|INSERT INTO) billcore_charges\b(.*?)\"{1,3}$"
    statements = re.findall(statement, JOURNAL.read_text("utf-8"), re.M | re.S)
    moving = {name for name, text in statements if "SET state = '" in text or ":to" in text}
    drawn = {name for edge in data["edge"] for name in edge["by"].split()}
    assert moving == drawn, f"the journal's statements {moving ^ drawn} are not those of {data['title']!r}"
    shown = {name for state in data["state"] for name in state.get("states", state["name"]).split()}
    assert shown - {"none"} == journal_states()[0], f"the states of {data['title']!r} are not those of the journal"


def statuses(canvas: Canvas, data: Data) -> None:
    """What each status of an answer says about a write, from errors.toml."""
    errors = tomllib.loads(ERRORS.read_text("utf-8"))
    classes = {each["name"]: each.get("python", {}).get("class", "") for each in errors["error"]}
    rows = [row | {"error": each["name"]} for each in errors["error"] for row in each.get("statuses", [])]
    rows += errors["status"]

    def rule(status: int) -> Data:
        single: list[Data] = [row for row in rows if row.get("status") == status]
        wide = [row for row in rows if "status" not in row and row.get("first", 0) <= status <= row.get("last", 999)]
        return next(iter(single + wide))

    columns = ["status", "was the write done?", "a read is", "Python"]
    left = [4.0, 150.0, 400.0, 505.0]
    y = 12.0
    for x, column in zip(left, columns, strict=True):
        canvas.text([column], x, y, "start", 600)
    y += 18
    for first in (100, 200, 300, 400, 500):
        usual = rule(first + 99)
        odd = [s for s in range(first, first + 100) if rule(s).get("outcome") != usual.get("outcome")]
        same = [s for s in range(first, first + 100) if s not in odd]
        for group in [same, *([s] for s in odd)]:
            found = rule(group[0]) if len(group) == 1 else usual
            outcome = found.get("outcome", "refused")
            words, tone = data["outcome"][outcome], data["tone"][outcome]
            span = (
                f"{group[0]}"
                if len(group) == 1
                else f"{first // 100}xx" + f" except {', '.join(map(str, odd))}" * bool(odd)
            )
            named = dict.fromkeys(classes[rule(s)["error"]] for s in group if rule(s)["error"] != "ok")
            names = wrapped(", ".join(filter(None, named)), WIDTH - left[3] - 10)
            repeated = {rule(s).get("repeat", "") for s in group}
            read = "answered" if outcome == "done" else "repeated" if repeated == {"read"} else "not repeated"
            if len(repeated) > 1:
                read += f" (but {', '.join(str(s) for s in group if rule(s).get('repeat'))})"
            height = max(LINE * len(names), LINE * len(wrapped(read, left[3] - left[2] - 8))) + 10
            canvas.box(2, y, WIDTH - 4, height, [], tone)
            for x, lines in zip(
                left, [wrapped(span, 140), [words], wrapped(read, left[3] - left[2] - 8), names], strict=True
            ):
                canvas.text(lines, x + 6, y + 5 + LINE / 2, "start")
            y += height + 5


def checks(canvas: Canvas, data: Data) -> None:
    """Checks from top to bottom, each with the reason and the status of its refusal, from errors.toml."""
    reasons = {each["name"]: each for each in tomllib.loads(ERRORS.read_text("utf-8"))["signature_reason"]}
    order = [reasons[each["reason"]]["number"] for each in data["check"] if "reason" in each and not each.get("again")]
    assert order == sorted(order), f"the checks of {data['title']!r} are not in the order of errors.toml"
    y, left, wide, right = 4.0, 130.0, 330.0, 540.0
    for number, check in enumerate(data["check"]):
        lines = wrapped(check["text"], wide - 16)
        height = LINE * len(lines) + 14
        if number:
            canvas.line([(left + wide / 2, y - 16), (left + wide / 2, y - 2)])
        if "stage" in check:
            canvas.text(wrapped(check["stage"], left - 12), 4, y + 7 + LINE / 2, "start", 600)
        canvas.box(left, y, wide, height, lines, check.get("tone", "plain"))
        refusal = check.get("refusal")
        if reason := check.get("reason"):
            refusal = f"{reason}: answer {reasons[reason]['answer']}"
        if refusal:
            canvas.line([(left + wide + 2, y + height / 2), (right - 2, y + height / 2)], "bad")
            canvas.box(right, y + height / 2 - 15, WIDTH - right - 4, 30, [refusal], "bad")
        y += height + 18


def lists(canvas: Canvas, data: Data) -> None:
    """A list of records at several moments: which page was read, and where each record is."""
    cell, start, y = 42.0, 348.0, 4.0
    per_page: int = data["per_page"]
    for moment in data["moment"]:
        if "phase" in moment:
            y += 10
            canvas.text([moment["phase"]], 4, y + 8, "start", 600)
            y += 34
            continue
        lines = wrapped(moment["text"], start - 30)
        height = max(LINE * len(lines), 30)
        canvas.text(lines, 4, y + height / 2 - (len(lines) - 1) * LINE / 2, "start")
        for number, record in enumerate(moment["records"]):
            page = number // per_page + 1
            x = start + number * cell + page * 10 - 10
            tone = moment.get("marks", {}).get(record, "plain" if page == moment.get("read") else "")
            canvas.box(x, y + height / 2 - 14, cell - 6, 28, [record], tone, 600 if tone else 400)
        if "read" in moment:
            x = start + (moment["read"] - 1) * (per_page * cell + 10)
            end = min(per_page, len(moment["records"]) - (moment["read"] - 1) * per_page) * cell - 6
            canvas.line([(x, y + height / 2 + 19), (x + end, y + height / 2 + 19)], "plain", arrow=False)
        y += height + 16
    legend(canvas, data["legend"])


KINDS = {"sequence": sequence, "states": states, "statuses": statuses, "checks": checks, "lists": lists}


def draw(name: str, description: str) -> str:
    """The picture of NAME.toml as SVG."""
    data = tomllib.loads((HERE / f"{name}.toml").read_text("utf-8"))
    canvas = Canvas(name)
    KINDS[data["kind"]](canvas, data)
    return canvas.svg(data["title"], description)


def draw_all(folder: Path) -> None:
    """Writes each picture as an SVG file."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in sorted(HERE.glob("*.toml")):
        (folder / f"{path.stem}.svg").write_text(draw(path.stem, path.stem), "utf-8")


def setup(app: Any) -> None:
    """Adds the directive `picture`; conf.py calls this."""
    from docutils import nodes  # type: ignore[import-untyped]
    from sphinx import addnodes
    from sphinx.util.docutils import SphinxDirective

    class Picture(SphinxDirective):
        required_arguments = 1
        has_content = True

        def run(self) -> list[Any]:
            description = " ".join(self.content)
            for path in (HERE / f"{self.arguments[0]}.toml", ERRORS, JOURNAL, Path(__file__)):
                self.env.note_dependency(str(path))
            svg = draw(self.arguments[0], description)
            html = f'<div class="picture" style="overflow-x:auto;margin:1.5rem 0">{svg}</div>'
            otherwise = addnodes.only(expr="not html")
            otherwise += nodes.paragraph("", description)
            return [nodes.raw("", html, format="html"), otherwise]

    app.add_directive("picture", Picture)


if __name__ == "__main__":
    draw_all(Path(sys.argv[1]))
