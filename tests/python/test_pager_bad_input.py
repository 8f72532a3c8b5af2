"""Lists from faulty services, blocking and async: the errors of Python, and how reading continues.

The rules are rows of tests/fixtures/bad_input.json (list_…) and tests of pager_bad_input_test.cpp.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal

import pytest

import billcore
from conformance.server import Reply, Request, ScriptedServer, json_reply

from .support import ACCOUNT, API_KEY, ORDER, number_of, page

PATH = "GET /subscription/s/orders?page="
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


@both
def test_an_error_on_page_57(kind: Kind) -> None:
    broken = True

    def script(request: Request) -> Reply:
        number = number_of(request)
        return Reply(status=500, body=b"null") if number == 57 and broken else good(number, 80)

    with reading(kind, script, concurrency=8) as (server, own):
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
        other = Reading("blocking" if kind == "awaited" else "awaited", server, concurrency=1)
        resumed: list[int] = []
        resuming = other.orders(resume=state)
        other.into(resumed, resuming)
        other.close()
        assert resumed == rest and str(resuming.verdict) == "complete"
        own.into(seen, pager)
        assert seen == list(range(80 * 3)) and str(pager.verdict) == "complete"


BAD: dict[str, tuple[Reply, type[Exception]]] = {
    "null": (json_reply(None), billcore.DecodeError),
    "another page": (good(3, 5), billcore.PaginationError),
    "401": (Reply(status=401, body=b"null"), billcore.AuthenticationError),
    "429": (Reply(status=429, body=b"null"), billcore.RateLimitError),
    "302": (Reply(status=302, headers={"Location": "/elsewhere"}), billcore.ApiError),
    "reset": (Reply(raw=b"", ending="reset"), billcore.ConnectionError),
}


@both
@pytest.mark.parametrize("bad", BAD)
def test_an_answer_that_is_no_page_names_the_page(kind: Kind, bad: str) -> None:
    reply, expected = BAD[bad]

    def script(request: Request) -> Reply:
        number = number_of(request)
        return reply if number == 2 and broken else good(number, 5)

    broken = True
    with reading(kind, script, concurrency=8) as (_, own):
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
def test_states_that_are_none(kind: Kind) -> None:
    with reading(kind, lambda request: good(number_of(request), 9), concurrency=4) as (server, own):
        pager = own.orders()
        assert len(own.done(pager.collect(8))) == 8
        state = pager.state
        for text in ("", "x", state[:-1], state + "\n"):
            with pytest.raises(billcore.InvalidArgumentError, match="resume is not the state"):
                own.orders(resume=text)
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
