"""Each on_request is followed by exactly one on_response, however the attempt ends; an abandoned write is logged."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest

import billcore
from conformance.server import Reply, Request, SilentListener
from support.waiting import until_awaited

from .async_support import Run, asked, each_loop, serving, silent
from .calls_support import calling, each_kind
from .support import ACCOUNT, API_KEY, ORDER, data, page

MAYBE = "interrupted after it was sent; it may or may not have happened"
WARNING = f"POST /subscription/{{id}}/order: {MAYBE}: look before you send it again (id s, attempt 1, request id None)"


class Ends(billcore.Hooks):
    """Counts the attempts that began, and collects the Attempt objects of those that ended."""

    def __init__(self) -> None:
        self.begun = 0
        self.ends: list[billcore.Attempt] = []

    def on_request(self, attempt: billcore.Attempt, /) -> None:
        self.begun += 1
        assert not attempt.sent and not attempt.outcome_unknown and attempt.path is None

    def on_response(self, attempt: billcore.Attempt, /) -> None:
        self.ends.append(attempt)

    def lines(self) -> list[tuple[Any, ...]]:
        assert self.begun == len(self.ends)
        return [(a.method, a.status or a.error, a.sent, a.outcome_unknown, a.path) for a in self.ends]


GIVEN_UP = ("POST", "CancelledError", True, True, "/subscription/s/order")
READ = ("GET", "CancelledError", True, False, None)


def charge(client: Any) -> Any:
    return client.subscriptions.charge("s", product_id=1, amount=1)


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> Iterator[Callable[[], list[str]]]:
    """Returns the warnings logged so far; the log level is WARNING."""
    with caplog.at_level(logging.WARNING, "billcore"):
        yield lambda: [record.getMessage() for record in caplog.records if record.name == "billcore"]


# Ways to abandon a call in an event loop. Each function below takes `call`, which makes the call, and `asked`, which
# waits until the server has received the request.
Call = Callable[[], Awaitable[Any]]
Asked = Callable[[], Awaitable[None]]


async def cancelled(call: Call, asked: Asked) -> None:
    task = asyncio.ensure_future(call())
    await asked()
    task.cancel()
    await asyncio.wait([task])


async def begun(call: Call, asked: Asked) -> Any:
    coroutine: Any = call()
    coroutine.send(None)
    await asked()
    return coroutine


async def closed(call: Call, asked: Asked) -> None:
    (await begun(call, asked)).close()


async def dropped(call: Call, asked: Asked) -> None:
    await begun(call, asked)
    gc.collect()


async def thrown(call: Call, asked: Asked) -> None:
    coroutine = await begun(call, asked)
    with pytest.raises(KeyError):
        coroutine.throw(KeyError("mine"))


each_way = pytest.mark.parametrize("way", [cancelled, closed, dropped, thrown], ids=lambda way: way.__name__)


@each_loop
@each_way
@pytest.mark.parametrize("hooked", [True, False], ids=["hooks", "no hooks"])
def test_a_call_that_is_given_up(run: Run, way: Any, hooked: bool, warnings: Callable[[], list[str]]) -> None:
    hooks = Ends()
    with serving(silent, hooks=hooks if hooked else None) as (server, client):

        async def main() -> None:
            await way(lambda: client.orders.get("o"), lambda: asked(server))
            await way(lambda: client.subscriptions.orders("s").collect(), lambda: asked(server, 2))
            await way(lambda: charge(client), lambda: asked(server, 3))
            await client.close()

        run(main())
    assert warnings() == [WARNING]
    assert hooks.lines() == ([READ, READ, GIVEN_UP] if hooked else [])


@each_loop
def test_what_was_not_sent_is_not_logged(run: Run, warnings: Callable[[], list[str]]) -> None:
    hooks = Ends()
    with SilentListener() as listener:

        async def main() -> None:
            url = f"https://127.0.0.1:{listener.port}{ACCOUNT}"
            async with billcore.AsyncClient(base_url=url, api_key=API_KEY, hooks=hooks) as client:
                await cancelled(lambda: charge(client), lambda: asyncio.sleep(0.1))

        run(main())
    assert hooks.lines() == [("POST", "CancelledError", False, False, None)] and warnings() == []


@each_loop
def test_a_loop_that_is_closed(run: Run, warnings: Callable[[], list[str]]) -> None:
    hooks = Ends()
    with serving(silent, hooks=hooks) as (server, client):
        loop = asyncio.new_event_loop()
        task = loop.create_task(charge(client))
        loop.run_until_complete(asked(server))
        loop.close()
        assert hooks.lines() == [GIVEN_UP] and warnings() == [WARNING]
        with pytest.raises(KeyError):
            task.get_coro().throw(KeyError("mine"))
        run(client.close())
    assert hooks.lines() == [GIVEN_UP] and warnings() == [WARNING]


@each_kind
def test_prefetched_pages_that_are_dropped_end_as_attempts(kind: str) -> None:
    hooks = Ends()

    def script(request: Request) -> Reply:
        return page([{**ORDER, "id": n} for n in range(3)], 1, 9) if "page=1" in request.target else silent(request)

    with calling(kind, script, hooks=hooks, concurrency=4) as (_, calls):
        pager = calls.client.subscriptions.orders("s")

        async def read() -> None:
            async for order in pager:
                if order.id == 2:
                    await until_awaited(lambda: hooks.begun == 5)
                    return

        if kind == "blocking":
            next(order for order in pager if order.id == 2)
        else:
            calls.done(read())
        gc.collect()
    assert hooks.begun == len(hooks.ends) == 5
    assert [attempt.status or attempt.error for attempt in hooks.ends] == [200] + ["CancelledError"] * 4


# Tests in which the answer arrives at the same time as the cancellation.


@each_loop
def test_an_answer_that_nobody_gets_is_logged(run: Run, warnings: Callable[[], list[str]]) -> None:
    class Closing(Ends):
        def on_response(self, attempt: billcore.Attempt, /) -> None:
            super().on_response(attempt)
            if len(self.ends) == 5:
                last.close()

    hooks = Closing()
    last: Any = None
    replies = [data(ORDER), data(ORDER), Reply(status=402), Reply(raw=b"", ending="reset"), data(ORDER)]
    replies[0].headers["X-Request-Id"] = "req_9"
    with serving(replies, hooks=hooks) as (_, client):

        async def main() -> None:
            nonlocal last
            for end in ("cancel", "close", "cancel", "cancel"):
                call = charge(client)
                await asyncio.wait([call.send(None)])
                if end == "close":
                    call.close()
                else:
                    with pytest.raises(asyncio.CancelledError):
                        call.throw(asyncio.CancelledError())
            last = charge(client)
            await asyncio.wait([last.send(None)])
            await client.close()

        run(main())
    subject = "POST /subscription/{id}/order: interrupted after "
    assert warnings() == [
        subject + "the answer came: status 200, it was done (id ord_1) (id s, attempt 1, request id req_9)",
        subject + "the answer came: status 200, it was done (id ord_1) (id s, attempt 1, request id None)",
        WARNING,
        subject + "the answer came: status 200, it was done (id ord_1) (id s, attempt 1, request id None)",
    ]
    assert [attempt.status for attempt in hooks.ends] == [200, 200, 402, None, 200] and hooks.begun == 5
