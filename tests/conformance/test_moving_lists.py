"""Lists that change while they are read: every way to read a list gives the same records, requests and verdict."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from .drivers import CLIENTS, Driver
from .moving import WAYS, Json, Lie, MovingList, Plan, Reading, Shelf, broken_rules, read
from .server import ScriptedServer

EACH_WAY = [(language, way) for language in CLIENTS for way in WAYS[language]]
each_way = pytest.mark.parametrize(("language", "way"), EACH_WAY, ids=["-".join(each) for each in EACH_WAY])


@dataclass(frozen=True)
class Case:
    """A list of pages of three records, whose n-th request makes it change. `items` is what every reading gives, a
    letter or a digit for each record; `asked` are the pages that it requests."""

    name: str
    items: str
    end: str
    asked: list[int]
    acts: dict[int, Callable[[MovingList], Lie | None]] = field(default_factory=dict)
    begins: str = "ABCDEFGHIJ"
    strict: bool = False


def grow(count: int) -> Callable[[MovingList], None]:
    return lambda moving: moving.insert(count)


def lose(*names: str) -> Callable[[MovingList], None]:
    return lambda moving: moving.delete(*names)


def swap(count: int, *names: str) -> Callable[[MovingList], None]:
    def both(moving: MovingList) -> None:
        moving.insert(count)
        moving.delete(*names)

    return both


def lie(page: int | None = None, **numbers: object) -> Callable[[MovingList], Lie]:
    """Answers with the data of another page, and with other numbers."""

    def change(moving: MovingList, body: Json, _: int) -> None:
        body["pagination"] |= numbers
        if page is not None:
            body["data"] = moving.data(page)

    return lambda _: change


WHOLE = "ABCDEFGHIJ"
CASES = [
    Case("still", WHOLE, "complete", [1, 2, 3, 4]),
    Case("empty", "", "complete", [1], begins=""),
    Case("one page", "ABC", "complete", [1], begins="ABC"),
    Case("grows", WHOLE, "total_changed", [1, 2, 3, 4], {2: grow(1)}),
    Case("grows by a page", WHOLE, "total_changed", [1, 2, 3, 4, 5], {2: grow(3)}),
    Case("grows at each request", WHOLE, "total_changed", [1, 2, 3, 4, 5], {n: grow(1) for n in range(2, 6)}),
    Case("a read record goes", WHOLE, "total_changed", [1, 2, 1, 2, 3], {2: lose("A")}),
    Case("read records go twice", WHOLE, "total_changed", [1, 2, 1, 2, 3, 2, 3], {2: lose("A"), 5: lose("B")}),
    Case("an unread record goes", "ABCDEFGIJ", "total_changed", [1, 2, 1, 2, 3], {2: lose("H")}),
    Case("the last page goes", "ABCDEFGHI", "list_shrank", [1, 2, 3, 4, 3], {4: lose("J")}),
    Case("all but the first page goes", "ABC", "list_shrank", [1, 2, 1], {2: lose(*"DEFGHIJ")}),
    Case("everything goes", "ABC", "list_shrank", [1, 2, 1], {2: lose(*WHOLE)}),
    Case("one for one, read", WHOLE, "complete", [1, 2, 3, 4], {2: swap(1, "A")}),
    Case("one for one, unread", "ABC1DEFGHI", "overlap", [1, 2, 1, 2, 3, 4], {2: swap(1, "J")}),
    Case(
        "the first sign counts",
        "ABC1DEFHI",
        "overlap",
        [1, 2, 1, 2, 3, 2, 3],
        {2: swap(1, "J"), 5: lose("G")},
    ),
    Case("strict, still", WHOLE, "complete", [1, 2, 3, 4] * 2, strict=True),
    Case(
        "strict, changes before the second pass", "ABCDEFGHIJ1", "complete", [1, 2, 3, 4] * 2, {5: grow(1)}, strict=True
    ),
    Case("total of another list", WHOLE, "total_differs", [1, 2, 3, 4], {n: lie(total=12) for n in range(1, 5)}),
    Case("total is a text", WHOLE, "no_total", [1, 2, 3, 4], {2: lie(total="10")}),
    Case("ends early", "ABCDEF", "total_differs", [1, 2], {2: lie(total_pages=2)}),
    Case("a page twice", "ABCDEFJ", "repeated_page", [1, 2, 3, 4], {3: lie(2)}),
    Case("a page of later records", "ABCGHIJ", "repeated_page", [1, 2, 3, 4], {2: lie(3)}),
    Case("an empty page", "ABCDEF", "PaginationError", [1, 2, 3], {3: lie(9)}),
    Case("a page of another number", "ABC", "PaginationError", [1, 2], {2: lie(current_page=1)}),
]


@each_way
@pytest.mark.own_languages
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_moving_list(case: Case, language: str, way: str, driver: Driver) -> None:
    if case.strict and way == "resumed":
        pytest.skip("a strict list cannot be resumed")

    def act(moving: MovingList, number: int) -> Lie | None:
        return case.acts[number](moving) if number in case.acts else None

    moving = MovingList(case.begins, 3, act)
    shelf = Shelf()
    shelf.lists["s"] = moving
    with ScriptedServer(shelf) as server:
        found = read(driver, server.url, "s", way, strict=case.strict)
    assert not broken_rules(moving, found)
    if way == "resumed":  # reads pages again, so the list changes at other pages
        return
    assert ("".join(map(str, found.items)), moving.asked) == (
        "" if found.failed and way == "collect" else case.items,
        case.asked,
    )
    assert found.end == case.end or (found.failed and found.end == "BillcoreError")


# How many random lists are read in each way; "BEGIN:END" reads those of these numbers.
BEGIN, _, END = os.environ.get("BILLCORE_LISTS", "60").rpartition(":")
SEED = os.environ.get("BILLCORE_SEED", "lists")
PLANS = sorted(
    (Plan.of(SEED, number) for number in range(int(BEGIN or 0), int(END))), key=lambda plan: plan.concurrency
)
READ_IN_CPP: dict[int, Reading] = {}
"""What C++ gives for a list, item by item. Each process of the tests reads the list once more, because the languages
are tested in several processes."""


def read_in_cpp(plan: Plan, drivers: Callable[[str], Driver]) -> Reading:
    if plan.number not in READ_IN_CPP:
        shelf = Shelf()
        shelf.lists["s"] = plan.make(SEED)
        with ScriptedServer(shelf) as server:
            READ_IN_CPP[plan.number] = read(drivers("cpp"), server.url, "s", "all", strict=plan.strict)
    return READ_IN_CPP[plan.number]


@each_way
@pytest.mark.own_languages
def test_random_lists(language: str, way: str, driver: Driver, drivers: Callable[[str], Driver]) -> None:
    ends: Counter[str] = Counter()
    broken: list[str] = []
    for plans in (PLANS[at : at + 500] for at in range(0, len(PLANS), 500)):
        shelf = Shelf()
        with ScriptedServer(shelf) as server:
            for plan in plans:
                if plan.strict and way == "resumed":
                    continue
                id = f"s{plan.number}"
                moving = shelf.lists[id] = plan.make(SEED)
                found = read(driver, server.url, id, way, concurrency=plan.concurrency, strict=plan.strict)
                ends[found.end] += 1
                broken += [f"{plan}: {what} ({found})" for what in broken_rules(moving, found)]
                if plan.concurrency > 1 or way == "resumed" or (found.failed and way == "collect"):
                    continue
                in_cpp = read_in_cpp(plan, drivers)
                if not found.agrees(in_cpp):
                    broken.append(f"{plan}: {found}, but in C++ {in_cpp}")
    print(f"{language}-{way}: {dict(ends.most_common())}")
    again = (
        f"again, one list: BILLCORE_SEED={SEED} BILLCORE_LISTS=NUMBER:NUMBER+1 tests/run.sh conformance -k random_lists"
    )
    assert not broken, "\n".join([*broken[:20], f"{len(broken)} in all; {again}"])
