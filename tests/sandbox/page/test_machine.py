"""The drawn state machines: each state of subscriptions and orders, marked where the object is and as it came there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import pytest

from billcore.testing import Sandbox
from billcore_sandbox.lifecycle import SUBJECTS, Machine
from sandbox.page.support import Browser, forms
from sandbox.support import Receiver
from sandbox.test_states import STATES, Step, Story
from support.accounts import new_account

SVG = "{http://www.w3.org/2000/svg}"
REACH: dict[str, dict[str, Step]] = {
    "subscription": STATES["subscription"],
    "order": STATES["order"]
    | {
        "payment_cancelled": lambda s: s.invoice("cancel_payment"),
        "payment_refunded": lambda s: s.invoice("pay", "refund"),
    },
}
# The actions that have no control route.
UNROUTED = {"first_payment", "change_product"}


@dataclass
class Walker:
    """Brings objects of one account into states, and looks at their pages."""

    story: Story
    browser: Browser

    def reach(self, machine: str, state: str) -> str:
        """Make an object with this state; returns the path of its page."""
        REACH[machine][state](self.story)
        number = self.story.ids[machine]
        return f"/_page/subscriptions?order={number}" if machine == "order" else f"/_page/subscriptions/{number}"


@pytest.fixture
def walker(process: Sandbox, receiver: Receiver) -> Iterator[Walker]:
    with new_account(process) as mine:
        story = Story(mine, receiver)
        yield Walker(story, Browser(story.service))


def each_state() -> list[tuple[str, str]]:
    return [(machine, state) for machine in REACH for state in SUBJECTS[machine].states]


def came(page: str) -> list[tuple[str, str, str]]:
    """The changes that a page lists: from, cause, to."""
    listed = re.findall(r"<li>(\w+) → <b>(\w+)</b>\s*<a href=[^>]*open=state-\d+[^>]*>by (\w+)</a>", page)
    return [(source, cause, to) for source, to, cause in listed]


@pytest.mark.parametrize(("machine", "state"), each_state())
def test_the_drawing_says_where_an_object_is(walker: Walker, machine: str, state: str) -> None:
    page = walker.browser.get(walker.reach(machine, state))
    drawn = ElementTree.fromstring(page[page.index("<svg") : page.index("</svg>") + len("</svg>")])
    states = {each.attrib["data-state"]: each for each in drawn.iter(f"{SVG}g") if "data-state" in each.attrib}
    named = [each.attrib["data-state"] for each in drawn.iter(f"{SVG}g") if "data-state" in each.attrib]
    assert sorted(named) == sorted(["new", *SUBJECTS[machine].states])
    marked = [name for name, each in states.items() if "now" in each.attrib["class"].split()]
    assert marked == [state] and (f"It is {state}" in page or f"<b>{state}</b></dd>" in page)
    texts = {name: "".join(each.itertext()).strip() for name, each in states.items()}
    assert texts == {name: f"{name} · now" if name == state else name for name in states}

    lines = {
        (title.text or "", "taken" in each.attrib["class"])
        for each in drawn.iter(f"{SVG}g")
        for title in each.findall(f"{SVG}title")
    }
    way = came(page)
    assert way and way[0][0] == "new" and way[-1][2] == state
    assert {about for about, taken in lines if taken} == {
        f"{cause}: {source} → {to}" for source, cause, to in way if cause != "change_billing"
    }
    ending = {"cancel: active → active": "cancel: active → ending"}
    all_ways = {
        ending.get(about, about)
        for row in Machine().transitions
        for source in row.sources
        for about in [f"{row.cause}: {source} → {row.to}"]
        if row.machine == machine and row.to != "same"
    }
    assert {about for about, _ in lines} == all_ways
    overlap(drawn)


def overlap(drawn: Any) -> None:
    """Fails if two texts of the drawing overlap, leave it, or meet a line."""
    width, height = float(drawn.attrib["width"]), float(drawn.attrib["height"])
    assert width <= 358, "a phone shows it in its own size"
    boxes = []
    for text in drawn.iter(f"{SVG}text"):
        x, y, size = (float(text.attrib[name]) for name in ("x", "y", "font-size"))
        boxes.append((x, y - size, x + len(text.text) * size * 0.605, y + size * 0.3))
    for index, (left, top, right, bottom) in enumerate(boxes):
        assert left >= 0 and top >= 0 and right <= width and bottom <= height
        for each in boxes[index + 1 :]:
            assert left >= each[2] or right <= each[0] or top >= each[3] or bottom <= each[1], "two texts overlap"
    lanes: dict[tuple[float, float], set[float]] = {}  # lane and height -> where its lines end
    for path in drawn.iter(f"{SVG}path"):
        if path.attrib.get("class") == "tip":
            continue
        start, y, *_, end_y, end = (float(each) for each in re.findall(r"[\d.]+", path.attrib["d"]))
        lane = float(re.findall(r"Q([\d.]+)", path.attrib["d"])[0])
        assert start < lane < width and lane > max(right for _, _, right, _ in boxes)
        for height_there in range(round(min(y, end_y)), round(max(y, end_y)) + 1):
            lanes.setdefault((lane, height_there), set()).add(end_y)
        for at, x in ((y, start), (end_y, end)):
            assert x > max(right for _, top, right, bottom in boxes if top < at < bottom)
    assert all(len(ends) == 1 for ends in lanes.values()), "lines to two states meet"


@pytest.mark.parametrize(("machine", "state"), each_state())
def test_each_cause_of_a_state_has_a_button_that_performs_it(walker: Walker, machine: str, state: str) -> None:
    page = walker.browser.get(walker.reach(machine, state))
    of_object = f"{machine}s/{walker.story.ids[machine]}/"
    buttons = {each.action.removeprefix(of_object) for each in forms(page) if each.action.startswith(of_object)}
    causes = Machine().causes(machine, state)
    assert buttons == {*causes} - UNROUTED
    for cause in UNROUTED & {*causes}:
        assert f"<button disabled>{cause}</button>" in page
    for cause in sorted(buttons):
        path = walker.reach(machine, state)
        note, shown = walker.browser.press(path, f"{machine}s/{walker.story.ids[machine]}/{cause}")
        assert not note.startswith("Refused")
        source, done, to = came(shown)[-1]
        assert (source, done) == (state, cause)
        assert to != state or cause in ("change_billing", "renew")
