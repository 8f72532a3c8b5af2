"""Lists that change while they are read: every way to read a list gives the same records, requests and verdict."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from .drivers import CLIENTS, Driver
from .moving import WAYS, Json, Lie, MovingList, Shelf, broken_rules, read
from .server import Reply, ScriptedServer, json_reply

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
    concurrency: int = 1


def grow(count: int) -> Callable[[MovingList], None]:
    return lambda moving: moving.insert(count)


def lose(*names: str) -> Callable[[MovingList], None]:
    return lambda moving: moving.delete(*names)


def swap(count: int, *names: str) -> Callable[[MovingList], None]:
    def both(moving: MovingList) -> None:
        moving.insert(count)
        moving.delete(*names)

    return both


def lie(page: int | None = None, odd: object = None, **numbers: object) -> Callable[[MovingList], Lie]:
    """Answers with the data of another page, with an odd second item, and with other numbers; without those of None."""

    def change(moving: MovingList, body: Json, _: int) -> None:
        body["pagination"] |= numbers
        for name in [name for name, number in numbers.items() if number is None]:
            del body["pagination"][name]
        if page is not None:
            body["data"] = moving.data(page)
        if odd is not None:
            body["data"][1] = odd

    return lambda _: change


def answer(reply: Reply) -> Callable[[MovingList], Lie]:
    return lambda _: lambda _, __, ___: reply


WHOLE = "ABCDEFGHIJ"
CASES = [
    Case("still", WHOLE, "complete", [1, 2, 3, 4]),
    Case("eight pages at once", WHOLE, "complete", [1, 2, 3, 4], concurrency=8),
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
    Case("total_pages is absent", "ABC", "DecodeError", [1, 2], {2: lie(total_pages=None)}),
    Case("an item is no object", "ABCD", "DecodeError", [1, 2], {2: lie(odd=7)}),
    Case("an item has no id", "ABCD?FGHIJ", "complete", [1, 2, 3, 4], {2: lie(odd={})}),
    Case("an error of the service", "ABCDEF", "ServerError", [1, 2, 3], {3: answer(Reply(500))}),
    Case("no JSON", "ABCDEF", "DecodeError", [1, 2, 3], {3: answer(Reply(200, body=b"<html>"))}),
    Case("no data", "ABCDEF", "DecodeError", [1, 2, 3], {3: answer(json_reply({"data": None}))}),
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
        found = read(driver, server.url, "s", way, strict=case.strict, concurrency=case.concurrency)
    assert not broken_rules(moving, found)
    if way == "resumed":  # reads pages again, so the list changes at other pages
        return
    given = "".join(name or "?" for name in found.items)
    # If an item is not an object, some ways give the items before it on its page.
    whole_pages = case.items[: len(case.items) // 3 * 3] if found.failed else case.items
    assert given in ([""] if found.failed and way == "collect" else [case.items, whole_pages])
    assert (moving.asked if case.concurrency == 1 else sorted(moving.asked)) == case.asked
    assert found.end == case.end or (found.failed and found.end == "BillcoreError")
