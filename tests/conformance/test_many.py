"""Tests get_many: several records at once, each with its value or its error beside its id."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

from support.waiting import GENEROUS

from .drivers import Driver
from .fixtures import ACCOUNT, API_KEY
from .server import Reply, Request, ScriptedServer, json_reply


class Shop:
    """Answers GET /order/ID. Records the requests, and holds back the answers for the ids in `held`."""

    def __init__(self, answers: dict[str, Reply] | None = None) -> None:
        self.answers = answers or {}
        self.asked: list[str] = []
        self.held: set[str] = set()
        self.at_once = self.most_at_once = 0
        self._changed = threading.Condition()

    def __call__(self, request: Request) -> Reply:
        id = request.target.rpartition("/")[2]
        with self._changed:
            self.asked.append(id)
            self.at_once += 1
            self.most_at_once = max(self.most_at_once, self.at_once)
            self._changed.notify_all()
            assert self._changed.wait_for(lambda: id not in self.held, GENEROUS)
            self.at_once -= 1
            self._changed.notify_all()
            return self.answers.pop(id, None) or json_reply({"data": {"id": id}})

    def release_after(self, requests: int, held: int) -> None:
        """Releases the answers when so many requests have arrived, and all but the held ones are answered."""
        with self._changed:
            done = self._changed.wait_for(lambda: len(self.asked) == requests and self.at_once == held, GENEROUS)
            self.most_at_once = 0
            self.held.clear()
            self._changed.notify_all()
        assert done


Get = Callable[..., list[tuple[Any, Any]]]


@pytest.fixture
def shop() -> Shop:
    return Shop()


@pytest.fixture
def get(driver: Driver, shop: Shop) -> Any:
    """Gets the orders with these ids; gives each id with the record's id, or with the class of the error."""
    with ScriptedServer(shop) as server:

        def get(
            ids: list[Any], *, op: str = "orders", retries: int = 0, total: float | None = None, **args: Any
        ) -> Any:
            client = {"base_url": server.url + ACCOUNT, "api_key": API_KEY, "max_retries": retries}
            request = {"op": f"{op}.get_many", "client": client, "args": {"ids": ids, **args}}
            reply = driver.run(request | ({} if total is None else {"total_timeout": total}))
            if "error" in reply:
                return reply["error"]
            return [(got["id"], got["ok"]["id"] if "ok" in got else got["error"]["class"]) for got in reply["ok"]]

        yield get


@pytest.mark.parametrize("ordered", [True, False])
def test_order(language: str, get: Get, shop: Shop, ordered: bool) -> None:
    shop.held = {"a"}
    begun = threading.Thread(target=shop.release_after, args=(4, 1))
    begun.start()
    found = get([*"abcd"], concurrency=4 if ordered else 2, ordered=ordered)
    begun.join()
    if not ordered:
        assert found[:2] == [("b", "b"), ("c", "c")], "d is asked for after the reader has these"
        found.sort()
    assert found == [(id, id) for id in "abcd"]


@pytest.mark.parametrize("op", ["subscriptions", "products"])
def test_other_groups(language: str, get: Get, shop: Shop, op: str) -> None:
    assert get([3, 1, 2], op=op) == [(3, "3"), (1, "1"), (2, "2")]


def test_an_error_stands_beside_its_id(language: str, get: Get, shop: Shop) -> None:
    shop.answers = {"b": json_reply({}, status=404), "c": Reply(body=b"{"), "d": Reply(raw=b"?")}
    errors = [("b", "NotFoundError"), ("c", "DecodeError"), ("d", "ConnectionError")]
    assert get([*"abcde"]) == [("a", "a"), *errors, ("e", "e")]


def test_calls_in_flight(language: str, get: Get, shop: Shop) -> None:
    ids = [f"o{number}" for number in range(100)]
    assert get(ids, concurrency=5) == [(id, id) for id in ids]
    assert sorted(shop.asked) == sorted(ids) and shop.most_at_once <= 5


def test_a_429_halves_what_is_in_flight(language: str, get: Get, shop: Shop) -> None:
    ids = [f"o{number}" for number in range(40)]
    shop.held = set(ids[:8])
    shop.answers = {id: json_reply({}, status=429) for id in ids[:2]}
    begun = threading.Thread(target=shop.release_after, args=(8, 8))
    begun.start()
    assert get(ids, concurrency=8, retries=1) == [(id, id) for id in ids]
    begun.join()
    assert shop.asked.count("o0") == shop.asked.count("o1") == 2
    assert shop.most_at_once < 8


def test_the_time_out_of_all(language: str, get: Any, shop: Shop) -> None:
    shop.held = {"b"}
    error = get([*"abc"], total=0.5, concurrency=1)
    shop.release_after(2, 1)
    assert (error["class"], error["outcome_unknown"], error["items_before"]) == ("TimeoutError", False, 1)
    why = "the context passed its deadline" if language == "go" else "total_timeout has passed"
    assert error["message"].startswith(f"get_many: {why}; ask again for the ids")


def test_a_concurrency_below_1_is_refused(language: str, get: Any, shop: Shop) -> None:
    error = get(["a"], concurrency=0)
    assert error["class"] == "InvalidArgumentError" and "concurrency" in error["message"]
    assert not shop.asked
