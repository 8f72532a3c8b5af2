"""Tests lists of many pages with several requests in flight. Every client must read the same items, and must resume
from a state that any other client made."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from support.waiting import GENEROUS

from .drivers import CLIENTS, STATUS, Driver
from .fixtures import ACCOUNT, API_KEY
from .server import Reply, Request, ScriptedServer, json_reply

PAGES, PER_PAGE = 60, 4
ALL = [{"id": f"ord_{number}"} for number in range(PAGES * PER_PAGE)]
SERVER_ERROR = "GET /subscription/sub_1/orders?page=57: 500 the service failed"


class Book:
    """A service with a list of 60 pages; requests for some of the pages fail.

    at_least: the service answers the first page, but no other one before so many requests are there at once.
    """

    def __init__(self, *broken: int, at_least: int = 1) -> None:
        self.broken = set(broken)
        self._at_least = at_least
        self._enough = threading.Event()
        self.records = ALL
        self.asked: list[int] = []
        self.at_once = self.most_at_once = 0
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Reply:
        number = int(request.target.split("page=")[1].split("&")[0])
        with self._lock:
            self.asked.append(number)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            if self.at_once >= self._at_least:
                self._enough.set()
        if number > 1:
            self._enough.wait(GENEROUS)
        time.sleep(0.002)
        with self._lock:
            self.at_once -= 1
        if number in self.broken:
            return Reply(status=500, body=b"null")
        items = self.records[(number - 1) * PER_PAGE : number * PER_PAGE]
        links = {"next": "https://elsewhere.example/?page=2", "previous": None}
        counts = {"total": len(self.records), "count": len(items), "per_page": PER_PAGE}
        pages = len(self.records) // PER_PAGE
        return json_reply(
            {"data": items, "pagination": {**counts, "current_page": number, "total_pages": pages, "links": links}}
        )


def orders(driver: Driver, server: ScriptedServer, concurrency: int, take: Any = "all", **args: Any) -> dict[str, Any]:
    client = {"base_url": server.url + ACCOUNT, "api_key": API_KEY, "max_retries": 0, "concurrency": concurrency}
    args = {"id": "sub_1", **args}
    return driver.run({"op": "subscriptions.orders", "client": client, "args": args, "take": take})


def read(driver: Driver, server: ScriptedServer, concurrency: int, take: Any = "all", **args: Any) -> dict[str, Any]:
    reply = orders(driver, server, concurrency, take, **args)
    assert "ok" in reply, reply
    ok: dict[str, Any] = reply["ok"]
    return ok


WHOLE = {"verdict": "complete", "reason": None, "total": len(ALL), "fetched_pages": PAGES}


@pytest.mark.parametrize("concurrency", [1, 8])
def test_the_whole_list(language: str, driver: Driver, concurrency: int) -> None:
    book = Book(at_least=min(concurrency, 2))
    with ScriptedServer(book) as server:
        whole = read(driver, server, concurrency)
        assert whole.pop("state")
        assert whole == {"items": ALL, **WHOLE}
        assert sorted(book.asked) == list(range(1, PAGES + 1)), "each once"
        assert book.most_at_once <= concurrency and (book.most_at_once > 1) == (concurrency > 1)


def test_strict(language: str, driver: Driver) -> None:
    book = Book()
    with ScriptedServer(book) as server:
        whole = read(driver, server, 8, strict=True)
        assert whole.pop("state")
        assert whole == {"items": ALL, **WHOLE, "fetched_pages": 2 * PAGES}
        assert sorted(book.asked) == sorted([*range(1, PAGES + 1)] * 2)


@pytest.mark.parametrize("concurrency", [1, 8])
def test_first_asks_for_one_page_and_some_items_for_few(language: str, driver: Driver, concurrency: int) -> None:
    book = Book()
    with ScriptedServer(book) as server:
        first = read(driver, server, concurrency, "first")
        assert (first["items"], first["verdict"], book.asked) == (ALL[:1], None, [1])
        some = read(driver, server, concurrency, 10)
        assert (some["items"], some["verdict"], some["reason"]) == (ALL[:10], "possibly_missed", "stopped")
        assert len(book.asked) <= 1 + 3 + concurrency


@pytest.mark.parametrize(("grown", "reason"), [(60, "total_changed"), (100, "may_repeat")])
def test_a_list_that_has_grown(language: str, driver: Driver, grown: int, reason: str) -> None:
    """A state contains the ids of 18 pages (here 72 records); if the list grows by more records, items may repeat."""
    book = Book()
    with ScriptedServer(book) as server:
        begun = read(driver, server, 8, 120)
        book.records = [{"id": f"new_{number}"} for number in range(grown)] + ALL
        rest = read(driver, server, 8, resume=begun["state"])
        assert rest["items"][-120:] == ALL[120:] and rest["reason"] == reason
        assert (len(rest["items"]) > 120) == (reason == "may_repeat")


# The core makes and reads states, so each client is paired with that in C++, both ways.
PAIRS = [("cpp", "cpp"), *(pair for one in CLIENTS if one != "cpp" for pair in ((one, "cpp"), ("cpp", one)))]


@pytest.mark.own_languages
@pytest.mark.parametrize(("one", "other"), PAIRS, ids=["-then-".join(pair) for pair in PAIRS])
def test_a_state_goes_on_in_any_language(one: str, other: str, drivers: Callable[[str], Driver]) -> None:
    with ScriptedServer(Book()) as server:
        for take in (0, 1, 3, 4, 30, len(ALL)):
            begun = read(drivers(one), server, 8, take)
            rest = read(drivers(other), server, 3, resume=begun["state"])
            assert begun["items"] + rest["items"] == ALL, take
            assert rest["verdict"] == "complete" and rest["total"] == len(ALL)


@pytest.mark.own_languages
@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize(("one", "other"), PAIRS, ids=["-then-".join(pair) for pair in PAIRS])
def test_an_error_names_its_page(one: str, other: str, concurrency: int, drivers: Callable[[str], Driver]) -> None:
    book = Book(57)
    with ScriptedServer(book) as server:
        error = orders(drivers(one), server, concurrency)["error"]
        assert (error["class"], error["http_status"], error["items_before"]) == ("ServerError", 500, 56 * PER_PAGE)
        assert error["message"] == SERVER_ERROR
        book.broken.clear()
        rest = read(drivers(other), server, 9 - concurrency, resume=error["state"])
        assert rest["items"] == ALL[56 * PER_PAGE :] and rest["verdict"] == "complete"


def test_states_that_are_none(language: str, driver: Driver) -> None:
    book = Book()
    with ScriptedServer(book) as server:
        state = read(driver, server, 1, 5)["state"]
        before = len(book.asked)
        places = range(len(state))
        cut = [state[:end] for end in places]
        flipped = [state[:at] + ("B" if state[at] == "A" else "A") + state[at + 1 :] for at in places]
        others = ["x", " ", "null", "p1.", "p2.", "p3.", "p1.====", "p1.AAAA", "p2." + state[3:], "P3." + state[3:]]
        longer = [state + "A", state + "=", state + "\n", state + "\0", " " + state, state * 2]
        for wrong in (*cut, *flipped, *others, *longer):
            error = orders(driver, server, 1, resume=wrong)["error"]
            assert (error["class"], error["status"]) == ("InvalidArgumentError", STATUS["InvalidArgumentError"])
            assert "resume" in error["message"] and (len(wrong) < 9 or wrong not in error["message"])
        for arguments in (
            {"id": "sub_2"},
            {"per_page": 4},
            {"state": "paid"},
            {"product_id": 1},
            {"strict": True},
            {"page": 2},
        ):
            error = orders(driver, server, 1, resume=state, **arguments)["error"]
            assert error["class"] == "InvalidArgumentError" and "resume" in error["message"], arguments
        for op in ("products.list", "subscriptions.list"):
            client = {"base_url": server.url + ACCOUNT, "api_key": API_KEY}
            error = driver.run({"op": op, "client": client, "args": {"resume": state}, "take": "all"})["error"]
            assert error["class"] == "InvalidArgumentError" and "another list" in error["message"]
        assert len(book.asked) == before, "no request is made"
