"""The honest service of the model's peer: every answer names its request, every write has an effect in the ledger."""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import billcore

from ..proxy import RawAnswer

ROOT = "/acct"
KEY = "Kq7zV1xWm4Rt9Yb2Hd5Lc8Jf3"  # the API key, which some answers repeat
PER_PAGE = 4
MOST_ORDERS = 22

_ORDER = json.loads(billcore.testing.event("order.paid")[0])["data"]
_SUBSCRIPTION = json.loads(billcore.testing.event("subscription.updated")[0])["data"]
_PRODUCT = json.loads(billcore.testing.event("product.updated")[0])["data"]


@dataclass(frozen=True)
class Asked:
    """A request. mark: the number of the call that sent it; all requests of a call have this number as the id in
    their path."""

    method: str
    mark: int
    what: str  # the operation: order, subscription, …, charge, list
    page: int = 0

    @property
    def is_write(self) -> bool:
        return self.method != "GET"

    def __str__(self) -> str:
        return f"{self.what} {self.mark}" + (f" page {self.page}" if self.page else "")


def parse(method: str, target: str) -> Asked:
    url = urlsplit(target)
    kind, mark, *rest = url.path.removeprefix(ROOT + "/").split("/")
    if method == "GET" and rest == ["orders"]:
        return Asked(method, int(mark), "list", int(parse_qs(url.query).get("page", ["1"])[0]))
    if method == "GET":
        return Asked(method, int(mark), kind)
    named = {
        ("POST", "order"): "charge",
        ("POST", "cancel"): "cancel",
        ("POST", ""): "update",
        ("DELETE", ""): "delete",
    }
    return Asked(method, int(mark), named[method, rest[0] if rest else ""])


def head_of(status: int, body: bytes, mark: int, *more: str) -> bytes:
    lines = [f"HTTP/1.1 {status} Said", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*lines, f"X-Request-Id: {mark}", *more, "", ""]).encode()


def refusal(status: int, asked: Asked, *more: str) -> RawAnswer:
    """Returns an error answer that names its request."""
    body = json.dumps({"error": {"code": "drawn", "message": f"for {asked.mark}"}, "of": KEY}).encode()
    return RawAnswer(head_of(status, body, asked.mark, *more), body)


class Service:
    """Keeps lists and a ledger of effects. Thread-safe."""

    def __init__(self, seed: str) -> None:
        self.effects: Counter[tuple[str, int]] = Counter()  # (operation, call) -> number of effects
        self._seed = seed
        self._lists: dict[int, list[str]] = {}
        self._at_first: dict[int, list[str]] = {}
        self._lock = threading.Lock()

    def act(self, asked: Asked) -> RawAnswer:
        with self._lock:
            if asked.is_write:
                self.effects[asked.what, asked.mark] += 1
            body = json.dumps(self._page(asked) if asked.what == "list" else {"data": self._record(asked)}).encode()
        return RawAnswer(head_of(200, body, asked.mark), body)

    def orders(self, mark: int) -> tuple[list[str], list[str]]:
        """Returns the original and the current content of a requested list."""
        with self._lock:
            return self._at_first.get(mark, []), self._lists.get(mark, [])

    def _record(self, asked: Asked) -> dict[str, Any]:
        if asked.what in ("product", "update", "delete"):
            return {**_PRODUCT, "id": asked.mark}
        if asked.what in ("order", "charge"):
            return {**_ORDER, "id": f"{asked.what}-{asked.mark}"}
        return {**_SUBSCRIPTION, "id": f"{asked.what}-{asked.mark}"}

    def _page(self, asked: Asked) -> dict[str, Any]:
        chance = random.Random(f"{self._seed} {asked}")
        if asked.mark not in self._lists:
            size = random.Random(f"{self._seed} size of {asked.mark}").randint(0, MOST_ORDERS)
            self._lists[asked.mark] = [f"{asked.mark}-{number}" for number in range(size, 0, -1)]
            self._at_first[asked.mark] = list(self._lists[asked.mark])
        orders = self._lists[asked.mark]
        # Some lists grow at their head while they are read, but by less than a page. If a list grew by a whole page,
        # the next page would repeat the previous one.
        if (
            asked.mark % 3 == 0
            and chance.random() < 0.3
            and len(orders) < len(self._at_first[asked.mark]) + PER_PAGE - 1
        ):
            orders.insert(0, f"{asked.mark}-{len(orders) + 1}")
        pages = max(1, -(-len(orders) // PER_PAGE))
        given = orders[(asked.page - 1) * PER_PAGE : asked.page * PER_PAGE]
        link = f"https://service.example/subscription/{asked.mark}/orders?page="
        return {
            "data": [{**_ORDER, "id": each} for each in given],
            "pagination": {
                "total": len(orders),
                "count": len(given),
                "per_page": PER_PAGE,
                "current_page": asked.page,
                "total_pages": pages,
                "links": {
                    "next": f"{link}{asked.page + 1}" if asked.page < pages else None,
                    "previous": f"{link}{asked.page - 1}" if asked.page > 1 else None,
                },
            },
        }
