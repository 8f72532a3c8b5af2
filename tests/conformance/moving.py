"""Lists that change and lie while they are read, and the rule for every reading of them.

A reading gives each record that was in the list from the first request to the last, or says that it may not have: with
the reason of its verdict, or with an error. It gives no record twice, and none that was never in the list.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

from .drivers import Driver
from .fixtures import ACCOUNT, API_KEY
from .server import Reply, Request, json_reply

Json = dict[str, Any]
Lie = Callable[["MovingList", Json, int], Reply | None]
"""Changes the answer for a page, or replaces it."""
Act = Callable[["MovingList", int], Lie | None]
"""Changes a list before the answer to its n-th request; may return a lie for that answer."""
REASONS = {"total_changed", "overlap", "repeated_page", "list_shrank", "total_differs", "undecodable_item", "no_total"}


class MovingList:
    """A list, latest first. `act` is called before each answer."""

    def __init__(self, records: str | list[str], per_page: int, act: Act) -> None:
        self.records = [*records]
        self.per_page = per_page
        self.asked: list[int] = []
        self.ever: set[str] = set()
        self.lasting: set[str] = set()
        """The records that were in the list at every request."""
        self._act = act
        self._grown = 0
        self._lock = threading.Lock()

    def insert(self, count: int) -> None:
        for _ in range(count):
            self._grown += 1
            self.records.insert(0, str(self._grown))

    def delete(self, *names: str) -> None:
        self.records = [name for name in self.records if name not in names]

    def data(self, page: int) -> list[Any]:
        return [{"id": name} for name in self.records[max(page - 1, 0) * self.per_page :][: self.per_page]]

    def answer(self, page: int) -> Reply:
        with self._lock:
            self.asked.append(page)
            lie = self._act(self, len(self.asked))
            now = set(self.records)
            self.lasting = self.lasting & now if len(self.asked) > 1 else now
            self.ever |= now
            data, total = self.data(page), len(self.records)
            numbers = {"total": total, "count": len(data), "per_page": self.per_page, "current_page": page}
            numbers["total_pages"] = -(-total // self.per_page)
            body = {"data": data, "pagination": {**numbers, "links": {"next": None, "previous": None}}}
            return (lie and lie(self, body, page)) or json_reply(body)


class Shelf:
    """A service with one moving list for each subscription."""

    def __init__(self) -> None:
        self.lists: dict[str, MovingList] = {}

    def __call__(self, request: Request) -> Reply:
        target = urlsplit(request.target)
        page = int(parse_qs(target.query)["page"][0])
        return self.lists[target.path.split("/")[-2]].answer(page)


@dataclass(frozen=True)
class Reading:
    """What a reading gave. `end` is the verdict's reason, "complete", or the class of the error; BillcoreError if the
    way to read does not tell the class."""

    items: list[str | None]
    end: str
    failed: bool = False


# The ways to read a list. "first": first(), then all items; "mixed": an item, then a page, and so on; "batches": Arrow
# columns, page by page; "joined": batches of several pages; "arrow": an Arrow stream; "peek": C's peek_page and skip;
# "resumed": a few items at a time, each time with a new list that continues from the state.
COMMON = ("all", "first-all", "pages", "resumed")
WAYS = {
    "cpp": (*COMMON, "collect", "mixed", "arrow"),
    "c": (*COMMON, "mixed", "peek", "batches"),
    "c-loop": (*COMMON, "mixed", "peek", "batches"),
    "python": (*COMMON, "collect", "mixed", "batches", "joined", "arrow"),
    "python-async": (*COMMON, "collect", "mixed", "batches", "joined"),
    "go": COMMON,
    "rust": (*COMMON, "mixed"),
    "rust-async": (*COMMON, "mixed"),
}


def read(driver: Driver, url: str, id: str, way: str, *, concurrency: int = 1, **args: Any) -> Reading:
    client = {"base_url": url + ACCOUNT, "api_key": API_KEY, "max_retries": 0, "concurrency": concurrency}
    items: list[str | None] = []
    state: Json = {}
    while True:
        take = 3 if way == "resumed" else way
        reply = driver.run(
            {"op": "subscriptions.orders", "client": client, "args": {"id": id, **args, **state}, "take": take}
        )
        given = reply["ok"]["items"] if "ok" in reply else reply["error"]["items"]
        items += [item.get("id") for item in given]
        if "error" in reply:
            return Reading(items, reply["error"]["class"], failed=True)
        end = reply["ok"]["reason"] or reply["ok"]["verdict"]
        if way != "resumed" or end != "stopped":
            return Reading(items, str(end))
        state = {"resume": reply["ok"]["state"]}


def broken_rules(moving: MovingList, reading: Reading) -> list[str]:
    out = []
    names = [name for name in reading.items if name is not None]
    if len(names) != len({*names}) and reading.end != "may_repeat":
        out.append("a record was given twice")
    if strangers := {*names} - moving.ever:
        out.append(f"records that never were in the list: {strangers}")
    missed = moving.lasting - {*names}
    # A record that the service sent without its id may be one of those that seem to be missed.
    if reading.end == "complete" and len(missed) > len(reading.items) - len(names):
        out.append(f"missed although complete: {sorted(missed)}")
    if not reading.failed and reading.end not in {*REASONS, "complete", "may_repeat"}:
        out.append(f"ended with {reading.end!r}")
    return out
