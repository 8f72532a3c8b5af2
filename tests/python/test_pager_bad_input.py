"""Lists from faulty services, blocking and async: the items before the error, the error, and how reading continues."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal

import pytest

import billcore
from conformance.server import Reply, Request, ScriptedServer, json_reply
from support.children import child_environment
from support.waiting import until

from .support import ACCOUNT, API_KEY, ORDER, number_of, page

PATH = "GET /subscription/s/orders?page="
BILLION = 1_000_000_000
Kind = Literal["blocking", "awaited"]


def good(number: int, pages: int) -> Reply:
    return page([{**ORDER, "id": (number - 1) * 3 + which} for which in range(3)], number, pages)


class Reading:
    """Reads the lists of a Client or an AsyncClient."""

    def __init__(self, kind: Kind, server: ScriptedServer, **options: Any) -> None:
        settings = {"api_key": API_KEY, "max_retries": 0, "timeout": 60, **options}
        self._runner = asyncio.Runner() if kind == "awaited" else None
        make: Any = billcore.Client if self._runner is None else billcore.AsyncClient
        self.client: Any = make(base_url=server.url + ACCOUNT, **settings)

    def close(self) -> None:
        self.done(self.client.close())
        if self._runner is not None:
            self._runner.close()

    def orders(self, subscription: str = "s", **arguments: Any) -> Any:
        return self.client.subscriptions.orders(subscription, **arguments)

    def done(self, result: Any) -> Any:
        async def wait() -> Any:
            return await result

        return result if self._runner is None else self._runner.run(wait())

    def into(self, seen: list[Any], pager: Any) -> None:
        """Reads the pager to its end or to an error, and appends the ids to `seen`."""

        async def read() -> None:
            async for item in pager:
                seen.append(item.id)

        if self._runner is not None:
            return self._runner.run(read())
        for item in pager:
            seen.append(item.id)


@contextmanager
def reading(kind: Kind, script: Callable[[Request], Reply], **options: Any) -> Iterator[tuple[ScriptedServer, Reading]]:
    with ScriptedServer(script) as server:
        made = Reading(kind, server, **options)
        try:
            yield server, made
        finally:
            made.close()


both = pytest.mark.parametrize("kind", ["blocking", "awaited"])
one_or_many = pytest.mark.parametrize("concurrency", [1, 8])

REST = """
import asyncio, json, sys
import billcore

kind, url, key, state = sys.argv[1:]
settings = dict(base_url=url, api_key=key, max_retries=0, concurrency=3)

async def awaited():
    async with billcore.AsyncClient(**settings) as client:
        return [order.id async for order in client.subscriptions.orders("s", resume=state)]

def blocking():
    with billcore.Client(**settings) as client:
        return [order.id for order in client.subscriptions.orders("s", resume=state)]

print(json.dumps(asyncio.run(awaited()) if kind == "awaited" else blocking()))
"""


@both
@one_or_many
def test_an_error_on_page_57(kind: Kind, concurrency: int) -> None:
    broken = True

    def script(request: Request) -> Reply:
        number = number_of(request)
        return Reply(status=500, body=b"null") if number == 57 and broken else good(number, 80)

    with reading(kind, script, concurrency=concurrency) as (server, own):
        pager = own.orders()
        seen: list[int] = []
        for again in range(1, 4):
            with pytest.raises(billcore.ServerError) as raised:
                own.into(seen, pager)
            assert str(raised.value) == PATH + "57: 500 the service failed"
            assert raised.value.status == 500 and raised.value.attempts == 1
            assert seen == list(range(56 * 3))
            assert [number_of(request) for request in server.requests].count(57) == again, "it is requested again"
        assert str(pager.verdict) == "possibly_missed" and pager.verdict.reason == "stopped"
        state = pager.state
        broken = False

        rest = list(range(56 * 3, 80 * 3))
        other = Reading("blocking" if kind == "awaited" else "awaited", server, concurrency=9 - concurrency)
        resumed: list[int] = []
        resuming = other.orders(resume=state)
        other.into(resumed, resuming)
        other.close()
        assert resumed == rest and str(resuming.verdict) == "complete"
        done = subprocess.run(
            [sys.executable, "-c", REST, kind, server.url + ACCOUNT, API_KEY, state],
            capture_output=True,
            text=True,
            env=child_environment(),
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout) == rest
        own.into(seen, pager)
        assert seen == list(range(80 * 3)) and str(pager.verdict) == "complete"


@both
@one_or_many
@pytest.mark.parametrize("says", ["page 1", "what was asked for"])
def test_page_1_for_ever(kind: Kind, concurrency: int, says: str) -> None:
    def script(request: Request) -> Reply:
        return page([{**ORDER, "id": 1}, {**ORDER, "id": 2}], 1 if says == "page 1" else number_of(request), BILLION)

    with reading(kind, script, concurrency=concurrency) as (server, own):
        pager = own.orders()
        seen: list[int] = []
        for _ in range(3):
            with pytest.raises(billcore.PaginationError) as raised:
                own.into(seen, pager)
            which = "2: received page 1" if says == "page 1" else "3: the list repeats itself"
            assert str(raised.value).startswith(PATH + which)
        assert seen == [1, 2]
        with pytest.raises(billcore.PaginationError):
            own.done(pager.collect())
        assert len(server.requests) <= 3 + 5 * concurrency


@both
@pytest.mark.parametrize("concurrency", [1, 8, 64])
def test_a_list_that_promises_a_billion_pages_takes_bounded_memory(kind: Kind, concurrency: int) -> None:
    lock = threading.Lock()
    at_once = most = 0

    def script(request: Request) -> Reply:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        time.sleep(0.02)
        with lock:
            at_once -= 1
        return good(number_of(request), BILLION)

    with reading(kind, script, concurrency=concurrency) as (server, own):
        pager = own.orders()
        tracemalloc.start()
        try:
            assert own.done(pager.first()).id == 0 and len(server.requests) == 1
            assert [order.id for order in own.done(pager.collect(300))] == list(range(300))
            assert tracemalloc.get_traced_memory()[1] < 5 << 20
        finally:
            tracemalloc.stop()
        assert pager.verdict.reason == "stopped" and pager.fetched_pages == 100
        assert most <= concurrency
        asked = sorted(number_of(request) for request in server.requests)
        assert asked[:100] == list(range(1, 101)) and len(set(asked)) == len(asked) and asked[-1] <= 100 + concurrency


def numbers(current: Any, pages: Any) -> Reply:
    pagination = {"total": 9, "count": 1, "per_page": 1, "current_page": current, "total_pages": pages, "links": {}}
    return json_reply({"data": [{**ORDER, "id": "new"}], "pagination": pagination})


BAD: dict[str, tuple[Reply, type[Exception]]] = {
    "null": (json_reply(None), billcore.DecodeError),
    "data null": (json_reply({"data": None, "pagination": {}}), billcore.DecodeError),
    "pagination null": (json_reply({"data": [], "pagination": None}), billcore.DecodeError),
    "no numbers": (json_reply({"data": [], "pagination": {}}), billcore.DecodeError),
    "nothing": (Reply(), billcore.DecodeError),
    "html": (Reply(body=b"<html>"), billcore.DecodeError),
    "invalid utf-8": (Reply(body=b'{"data":["\xff"]}'), billcore.DecodeError),
    "page -2": (numbers(-2, 5), billcore.PaginationError),
    "page 0": (numbers(0, 5), billcore.PaginationError),
    "page 3": (numbers(3, 5), billcore.PaginationError),
    "page 2**63": (numbers(2**63, 5), billcore.DecodeError),
    "page 10**30": (numbers(10**30, 5), billcore.DecodeError),
    "page 2.0": (numbers(2.0, 5), billcore.DecodeError),
    "page '2'": (numbers("2", 5), billcore.DecodeError),
    "page true": (numbers(True, 5), billcore.DecodeError),
    "page null": (numbers(None, 5), billcore.DecodeError),
    "pages 5.5": (numbers(2, 5.5), billcore.DecodeError),
    "pages '5'": (numbers(2, "5"), billcore.DecodeError),
    "pages 10**30": (numbers(2, 10**30), billcore.DecodeError),
    "pages [5]": (numbers(2, [5]), billcore.DecodeError),
    "empty, yet more": (page([], 2, 5, 9), billcore.PaginationError),
    "401": (Reply(status=401, body=b"null"), billcore.AuthenticationError),
    "429": (Reply(status=429, body=b"null"), billcore.RateLimitError),
    "302": (Reply(status=302, headers={"Location": "/elsewhere"}), billcore.ApiError),
    "reset": (Reply(raw=b"", ending="reset"), billcore.ConnectionError),
    "cut off": (Reply(body=b'{"data":[]}', send_only=50, ending="close"), billcore.ConnectionError),
}


@both
@one_or_many
@pytest.mark.parametrize("bad", BAD)
def test_an_answer_that_is_no_page_names_the_page(kind: Kind, concurrency: int, bad: str) -> None:
    reply, expected = BAD[bad]

    def script(request: Request) -> Reply:
        number = number_of(request)
        return reply if number == 2 and broken else good(number, 5)

    broken = True
    with reading(kind, script, concurrency=concurrency) as (_, own):
        pager = own.client.subscriptions.list(reference_id="ref-4711")
        seen: list[int] = []
        for _ in range(2):
            with pytest.raises(billcore.BillcoreError) as raised:
                own.into(seen, pager)
            assert type(raised.value) is expected, repr(raised.value)
            assert str(raised.value).startswith("GET /subscriptions?page=2: "), raised.value
            assert "4711" not in repr(raised.value) + repr(vars(raised.value))
        with pytest.raises(expected):
            own.done(pager.collect(10))
        assert seen == [0, 1, 2]
        state = pager.state
        broken = False
        own.into(seen, pager)
        assert seen == list(range(15))
        resumed: list[int] = []
        own.into(resumed, own.client.subscriptions.list(reference_id="ref-4711", resume=state))
        assert resumed == list(range(3, 15))
        assert "4711" not in state
        with pytest.raises(billcore.InvalidArgumentError, match="another list"):
            own.client.subscriptions.list(reference_id="ref-4712", resume=state)


@both
@pytest.mark.parametrize("pages", [0, -1, -(2**63)])
def test_counts_that_cannot_be(kind: Kind, pages: int) -> None:
    with reading(kind, lambda request: good(number_of(request), pages)) as (server, own):
        pager = own.orders()
        seen: list[int] = []
        own.into(seen, pager)
        assert seen == [0, 1, 2] and len(server.requests) == 1
        (only,) = [own.done(anext(aiter(p)) if kind == "awaited" else next(iter(p))) for p in [own.orders().pages()]]
        assert only.total_pages == pages and len(only.items) == 3


@both
def test_numbers_that_only_the_caller_reads(kind: Kind) -> None:
    least = {"current_page": 1, "total_pages": 1}
    with reading(kind, lambda _: json_reply({"data": [], "pagination": least})) as (_, own):
        pager = own.orders()
        only: Any = own.done(anext(aiter(pager.pages())) if kind == "awaited" else next(iter(pager.pages())))
        assert (only.current_page, only.total_pages, pager.total) == (1, 1, None)
        for name in ("total", "count", "per_page", "links"):
            assert not hasattr(only, name) and getattr(only, name, "none") == "none"
            with pytest.raises(billcore.MissingFieldError) as caught:
                getattr(only, name)
            assert (caught.value.path, caught.value.name) == (f"pagination.{name}", name)
    wrong: dict[str, Any] = least | {"total": None, "count": "1", "per_page": 1.5, "links": []}
    with reading(kind, lambda _: json_reply({"data": [], "pagination": wrong})) as (_, own):
        pager = own.orders()
        only = own.done(anext(aiter(pager.pages())) if kind == "awaited" else next(iter(pager.pages())))
        for name in ("total", "count", "per_page", "links"):
            with pytest.raises(billcore.DecodeError) as raised:
                getattr(only, name)
            assert type(raised.value) is billcore.DecodeError and raised.value.path == f"pagination.{name}"


@both
@one_or_many
def test_links_are_not_followed(kind: Kind, concurrency: int) -> None:
    with ScriptedServer() as elsewhere:

        def script(request: Request) -> Reply:
            body = json.loads(good(number_of(request), 6).body)
            links = {"next": f"{elsewhere.url}/steal?page=2", "previous": f"//{elsewhere.host}/"}
            return json_reply({**body, "pagination": {**body["pagination"], "links": links}})

        with reading(kind, script, concurrency=concurrency) as (_, own):
            seen: list[int] = []
            own.into(seen, own.orders())
            assert seen == list(range(18))
        assert elsewhere.connections == 0


@both
@one_or_many
def test_a_time_out_names_the_page(kind: Kind, concurrency: int) -> None:
    go_on = threading.Event()

    def script(request: Request) -> Reply:
        if number_of(request) > 2:
            go_on.wait(60)
        return good(number_of(request), 4)

    with reading(kind, script, concurrency=concurrency) as (_, own):
        pager = own.orders(timeout=0.3)
        seen: list[int] = []

        # On a busy machine, any page may be late; the list goes on with this page.
        def read() -> bool:
            with pytest.raises(billcore.TimeoutError) as raised:
                own.into(seen, pager)
            late = f"{PATH}{len(seen) // 3 + 1}: no complete answer within the time-out"
            assert str(raised.value).startswith(late)
            return len(seen) >= 6

        def read_on() -> bool:
            with suppress(billcore.TimeoutError):
                own.into(seen, pager)
            return len(seen) >= 12

        until(read)
        assert seen == list(range(6))
        go_on.set()
        until(read_on)
        assert seen == list(range(12))


@both
def test_states_that_are_none(kind: Kind) -> None:
    with reading(kind, lambda request: good(number_of(request), 9), concurrency=4) as (server, own):
        pager = own.orders()
        assert len(own.done(pager.collect(8))) == 8
        state = pager.state
        wrong = [
            "",
            "x",
            "p1.",
            "p1." + state[3:],
            "p2." + state[3:],
            "p4." + state[3:],
            state + "=",
            state + "\n",
            " " + state,
            state.lower(),
            state * 2,
        ]
        wrong += [state[:end] for end in range(len(state))]
        wrong += [state[:at] + ("B" if state[at] == "A" else "A") + state[at + 1 :] for at in range(len(state))]
        for text in wrong:
            with pytest.raises(billcore.InvalidArgumentError, match="resume is not the state") as raised:
                own.orders(resume=text)
            assert len(text) < 9 or text not in str(raised.value)
        for thing in (b"p1.", 5, state.encode(), [state]):
            with pytest.raises(billcore.InvalidArgumentError, match="resume"):
                own.orders(resume=thing)
        others: list[Callable[[], Any]] = [
            lambda: own.orders("t", resume=state),
            lambda: own.orders(per_page=3, resume=state),
            lambda: own.orders(state="paid", resume=state),
            lambda: own.orders(product_id=3, resume=state),
            lambda: own.client.products.list(resume=state),
        ]
        for other in others:
            with pytest.raises(billcore.InvalidArgumentError, match="another list"):
                other()
        assert {r.target.split("?")[0] for r in server.requests} == {ACCOUNT + "/subscription/s/orders"}, (
            "nothing is sent"
        )
        assert len(server.requests) <= 3 + 4
        seen: list[int] = []
        rest = own.orders(resume=state)
        assert own.done(rest.first()).id == 8 and own.done(rest.first()).id == 8
        own.into(seen, rest)
        assert seen == list(range(8, 27))
        assert own.done(own.orders(resume=rest.state).first()) is None
