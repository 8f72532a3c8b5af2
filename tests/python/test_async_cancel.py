"""Cancelling an async call aborts its request. If the service may have performed a write, the CancelledError has a
note about it."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

import pytest

import billcore
from conformance.server import Reply, Request, SilentListener
from support.waiting import GENEROUS, until_awaited

from .async_support import UNSENT, Gate, Run, asked, each_loop, serving, silent
from .interrupt_support import Interrupter
from .support import ACCOUNT, API_KEY, ORDER, SUBSCRIPTION, data, page

MAYBE = "POST /subscription/s/cancel: interrupted after it was sent; it may or may not have happened"
LOST = "POST /subscription/s/cancel: interrupted after the answer came: status 200, it was done (id sub_1)"

CALLS: dict[str, Callable[[billcore.AsyncClient], Coroutine[Any, Any, Any]]] = {
    "read": lambda client: client.subscriptions.get("s"),
    "list": lambda client: client.subscriptions.orders("s").collect(),
    "write": lambda client: client.subscriptions.cancel("s"),
}
each_call = pytest.mark.parametrize("call", CALLS.values(), ids=list(CALLS))


async def ends_cancelled(task: asyncio.Task[Any]) -> list[str]:
    """The notes of the CancelledError that ends the task."""
    with pytest.raises(asyncio.CancelledError) as caught:
        await task
    assert task.cancelled()
    return list(getattr(caught.value, "__notes__", []))


def first_then(first: Reply, reply: Reply) -> Callable[[Request], Reply]:
    """A script that answers the first request with `first`, and all others with `reply`."""
    count: list[Request] = []

    def script(request: Request) -> Reply:
        count.append(request)
        return first if len(count) == 1 else reply

    return script


@each_loop
@each_call
def test_a_call_cancelled_before_its_first_step_sends_nothing(run: Run, call: Callable[[Any], Any]) -> None:
    """A task is cancelled before its first step, or right after its first step, in the same turn of the loop."""
    with serving(lambda _: data(SUBSCRIPTION)) as (server, client):

        async def main() -> None:
            fresh = asyncio.create_task(call(client))
            fresh.cancel()
            assert await ends_cancelled(fresh) == []
            begun = asyncio.create_task(call(client))
            asyncio.get_running_loop().call_soon(begun.cancel)
            assert await ends_cancelled(begun) == []
            await asyncio.sleep(UNSENT)
            assert server.requests == []
            assert (await client.subscriptions.get("s")).id == "sub_1"
            await client.close()

        run(main())
        assert len(server.requests) == 1


@each_loop
@each_call
def test_a_call_cancelled_while_it_connects_sends_nothing(run: Run, call: Callable[[Any], Any]) -> None:
    """A call is cancelled during the TLS handshake, before the client has sent the request."""
    with SilentListener() as listener:

        async def main() -> None:
            url = f"https://127.0.0.1:{listener.port}{ACCOUNT}"
            async with billcore.AsyncClient(base_url=url, api_key=API_KEY) as client:
                task = asyncio.create_task(call(client))
                await asyncio.sleep(0.1)
                task.cancel()
                assert await ends_cancelled(task) == []

        run(main())


@each_loop
@each_call
@pytest.mark.parametrize(
    "answer",
    [
        Reply(raw=b"", ending="hang"),
        Reply(headers={"Content-Length": "1000"}, body=b'{"data":', ending="hang"),
        Reply(status=503, headers={"Retry-After": "30"}),
    ],
    ids=["no answer", "half an answer", "waiting for a retry"],
)
def test_a_call_cancelled_after_sending_has_a_note_if_it_writes(
    run: Run, call: Callable[[Any], Any], answer: Reply
) -> None:
    writes = call is CALLS["write"]
    if writes and answer.status == 503:
        pytest.skip("a write is not sent again")
    with serving(first_then(answer, data(SUBSCRIPTION)), max_retries=2) as (server, client):

        async def main() -> None:
            task = asyncio.create_task(call(client))
            await asked(server)
            await asyncio.sleep(0.05)
            assert not task.done()
            task.cancel()
            assert await ends_cancelled(task) == ([MAYBE] if writes else [])
            await until_awaited(lambda: server.ended == (answer.ending == "hang"))
            assert (await client.subscriptions.get("s")).id == "sub_1"
            await client.close()

        run(main())
        assert len(server.requests) == 2, "a cancelled request is not sent again"


@each_loop
def test_a_call_cancelled_while_it_waits_for_a_connection_sends_nothing(run: Run) -> None:
    gate = Gate(lambda _: data(SUBSCRIPTION))
    with serving(gate) as (server, client):

        async def main() -> None:
            others = [asyncio.create_task(client.subscriptions.get(n)) for n in range(100)]
            await asked(server, 100)
            waiting = [asyncio.create_task(call(client)) for call in CALLS.values()]
            last = asyncio.create_task(client.subscriptions.get("last"))
            with pytest.raises(billcore.TimeoutError, match="nothing was sent"):
                await client.subscriptions.cancel("late", timeout=UNSENT)
            assert len(server.requests) == 100
            for task in waiting:
                task.cancel()
                assert await ends_cancelled(task) == []
            gate.open()
            assert all(found.id == "sub_1" for found in await asyncio.gather(*others, last))
            await client.close()

        run(main())
        assert len(server.requests) == 101 and server.connections == 100


@each_loop
@each_call
def test_a_call_cancelled_in_the_turn_of_its_answer_has_a_note_if_it_writes(
    run: Run, call: Callable[[Any], Any]
) -> None:
    """A call that is cancelled after its answer arrived, but before its task resumed, loses the result; if it is a
    write, its CancelledError has a note."""
    answer = page([ORDER], 1, 1) if call is CALLS["list"] else data(SUBSCRIPTION)
    with serving(lambda _: answer) as (server, client):

        async def main() -> None:
            awaited = call(client)
            answered = awaited.send(None)
            await asyncio.wait([answered])  # the answer was received, but the call has not resumed
            with pytest.raises(asyncio.CancelledError) as caught:
                awaited.throw(asyncio.CancelledError())
            assert getattr(caught.value, "__notes__", []) == ([LOST] if call is CALLS["write"] else [])
            await client.close()

        run(main())
        assert len(server.requests) == 1


# asyncio's time-outs: the causes of their TimeoutError include an error with the note that a write may have happened.

Call = Callable[[], Awaitable[Any]]


async def awaited(call: Call) -> None:
    async with asyncio.timeout(0.2):
        await call()


async def in_a_group(call: Call) -> None:
    async with asyncio.timeout(0.2), asyncio.TaskGroup() as group:
        group.create_task(call())  # type: ignore[arg-type]


async def waited_for(call: Call) -> None:
    await asyncio.wait_for(call(), 0.2)


async def waited_for_within(call: Call) -> None:
    async with asyncio.timeout(0.2):
        await asyncio.wait_for(call(), GENEROUS)


@each_loop
@pytest.mark.parametrize("way", [awaited, in_a_group, waited_for, waited_for_within], ids=lambda way: way.__name__)
def test_a_timeout_leads_to_the_note(run: Run, way: Any) -> None:
    with serving(silent) as (server, client):

        async def main() -> list[str]:
            with pytest.raises(TimeoutError) as caught:
                await way(lambda: client.subscriptions.cancel("s"))
            await until_awaited(lambda: server.ended == 1)
            await client.close()
            notes: list[str] = []
            error: BaseException | None = caught.value
            assert not isinstance(error, billcore.BillcoreError)
            while error is not None:
                notes += getattr(error, "__notes__", [])
                error = error.__cause__ or error.__context__
            return notes

        assert MAYBE in run(main())


@each_loop
def test_a_cancellation_that_is_not_passed_on_gets_no_note(run: Run) -> None:
    with serving(silent) as (server, client):

        async def main() -> BaseException:
            task = asyncio.ensure_future(client.subscriptions.cancel("s"))
            await asked(server)
            try:
                raise ValueError("another matter")
            except ValueError as error:
                task.cancel()
                await asyncio.wait([task])
                return error
            finally:
                await client.close()

        assert not hasattr(run(main()), "__notes__")


CALLER = """
import asyncio, uvloop
async def main():
    async with billcore.AsyncClient(**options) as client:
        CALL
try:
    LOOP.run(main())
except KeyboardInterrupt as error:
    say(**told(error))
"""
AWAITED = {
    "read": 'await asyncio.gather(client.subscriptions.get("s"), asyncio.sleep(60))',
    "write": 'await client.subscriptions.cancel("s")',
}


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
@pytest.mark.parametrize("kind", AWAITED)
def test_ctrl_c(loop: str, kind: str) -> None:
    caller = Interrupter(CALLER.replace("CALL", AWAITED[kind]).replace("LOOP", loop))

    def script(request: Request) -> Reply:
        caller.signal(signal.SIGINT)
        return silent(request)

    (line,) = caller.run(script)
    assert line["names"][0] == "KeyboardInterrupt" and line["notes"] == ([MAYBE] if kind == "write" else [])
    # The program did not configure logging, so Python prints warnings.
    logged = f"POST /subscription/{{id}}/cancel: {MAYBE.partition(': ')[2]}: look before you send it again (id s,"
    assert caller.errors.startswith(logged) and caller.errors.count("\n") == 1 if kind == "write" else not caller.errors
