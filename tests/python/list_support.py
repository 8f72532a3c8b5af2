"""Lists of orders for the tests of pagers, Arrow columns and prefetching."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import billcore
from conformance.server import Reply, Request, ScriptedServer
from support.waiting import GENEROUS

from .support import ORDER, number_of, options_for, page

PER_PAGE = 3


def orders(first: int, count: int) -> list[dict[str, Any]]:
    return [{**ORDER, "id": number} for number in range(first, first + count)]


def three_pages() -> list[Reply]:
    return [page(orders(0, 3), 1, 3, 8), page(orders(3, 3), 2, 3, 8), page(orders(6, 2), 3, 3, 8)]


class Book:
    """A list of `pages` pages that records the requests, delays answers, and replaces pages with those in
    `instead`."""

    def __init__(self, pages: int, *, delay: float = 0.0) -> None:
        self.pages = pages
        self.delay = delay
        self.asked: list[int] = []
        self.at_once = 0
        self.most_at_once = 0
        self.instead: dict[int, list[Reply]] = {}
        self.go_on = threading.Event()  # no answer is sent while this event is clear
        self.go_on.set()
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> Reply:
        number = number_of(request)
        with self._lock:
            self.asked.append(number)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            instead = self.instead.get(number)
            reply = instead.pop(0) if instead else None
        assert self.go_on.wait(GENEROUS)
        time.sleep(self.delay)
        with self._lock:
            self.at_once -= 1
        return reply or page(orders((number - 1) * PER_PAGE, PER_PAGE), number, self.pages)


@contextmanager
def reading(book: Callable[[Request], Reply], **options: Any) -> Iterator[tuple[ScriptedServer, billcore.Client]]:
    options = {"concurrency": 8, **options}  # the default
    with ScriptedServer(book) as server, billcore.Client(**options_for(server, **options)) as client:
        yield server, client
