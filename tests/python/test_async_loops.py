"""AsyncClient with asyncio's ways to run coroutines, many requests, several loops, and context variables."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
import time
from typing import Any

import pytest

import billcore
from conformance.server import Reply, Request
from support.waiting import GENEROUS

from .async_support import RUNNERS, Gate, Run, asked, each_loop, serving, silent
from .support import ACCOUNT, API_KEY, SUBSCRIPTION, data, in_threads, run_program

# Tests of asyncio's ways to run coroutines.


@each_loop
def test_gather_groups_tasks_and_timeouts(run: Run) -> None:
    def script(request: Request) -> Reply:
        name = request.target.rsplit("/", 1)[1]
        return silent(request) if name == "never" else data({**SUBSCRIPTION, "id": name})

    with serving(script) as (_, client):
        get = client.subscriptions.get

        async def main() -> None:
            async with client:
                assert [s.id for s in await asyncio.gather(get("a"), get("b"), get("c"))] == ["a", "b", "c"]
                async with asyncio.TaskGroup() as group:
                    tasks = [group.create_task(get(name)) for name in "de"]
                assert [task.result().id for task in tasks] == ["d", "e"]
                task = asyncio.create_task(get("f"), name="f")
                assert "Subscriptions.get" in repr(task)
                assert (await asyncio.shield(task)).id == "f"
                assert (await asyncio.wait_for(get("g"), 60)).id == "g"
                with pytest.raises(TimeoutError) as caught:
                    await asyncio.wait_for(get("never"), 0.1)
                assert not isinstance(caught.value, billcore.BillcoreError)
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(0.1):
                        await get("never")
                with pytest.raises(billcore.TimeoutError):
                    await get("never", timeout=0.1)
                done, _ = await asyncio.wait([asyncio.ensure_future(get("h"))])
                assert done.pop().result().id == "h"
                for next_done in asyncio.as_completed([get("i"), get("j")]):
                    assert (await next_done).id in ("i", "j")

                loop = asyncio.get_running_loop()

                def from_a_thread() -> Any:
                    return asyncio.run_coroutine_threadsafe(get("k"), loop).result(60).id

                assert await loop.run_in_executor(None, from_a_thread) == "k"

        run(main())
        assert run(client.__aenter__()) is client, "a call may be the main coroutine itself"


@each_loop
def test_a_call_is_a_coroutine_driven_by_hand(run: Run) -> None:
    """Other libraries drive coroutines with send() and throw(), and so does asyncio's pure-Python Task."""
    with serving(lambda _: data(SUBSCRIPTION)) as (_, client):

        async def main() -> None:
            loop = asyncio.get_running_loop()
            task = asyncio.tasks._PyTask(client.subscriptions.get("s"), loop=loop)  # type: ignore[attr-defined]
            assert (await task).id == "sub_1"
            call = client.subscriptions.get("s")
            waits_for = call.send(None)
            assert asyncio.isfuture(waits_for)
            await asyncio.wait([waits_for])
            with pytest.raises(StopIteration) as stopped:
                call.send(None)
            assert stopped.value.value.id == "sub_1"
            thrown = client.subscriptions.get("s")
            with pytest.raises(ZeroDivisionError):
                thrown.throw(ZeroDivisionError())
            await client.close()

        run(main())


@each_loop
def test_a_thousand_requests_at_once(run: Run) -> None:
    """The server answers only when a hundred requests are in flight; the client never has more in flight."""
    together = threading.Barrier(100)

    def script(request: Request) -> Reply:
        if not together.broken and len(server.requests) <= 100:
            together.wait(60)
        return data({**SUBSCRIPTION, "id": request.target.rsplit("/", 1)[1]})

    with serving(script) as (server, client):

        async def main() -> list[Any]:
            found = await asyncio.gather(*(client.subscriptions.get(n, timeout=120) for n in range(1000)))
            await client.close()
            return found

        assert [found.id for found in run(main())] == [str(n) for n in range(1000)]
        assert len(server.requests) == 1000 and server.connections == 100


@each_loop
def test_connections_are_kept(run: Run) -> None:
    """The client keeps its connections open even while all of them are idle."""
    with serving(lambda _: data(SUBSCRIPTION, delay=0.02)) as (server, client):

        async def main() -> None:
            async with client:
                for _ in range(5):
                    await asyncio.gather(*(client.subscriptions.get(n) for n in range(60)))

        run(main())
        assert len(server.requests) == 300 and server.connections <= 60


def test_no_threads() -> None:
    code = """
import asyncio, os, sys, threading, billcore, uvloop
async def main():
    most = 0
    async with billcore.AsyncClient(base_url=sys.argv[1], api_key=sys.argv[2]) as client:
        calls = asyncio.gather(*(client.subscriptions.get(n) for n in range(200)))
        while not calls.done():
            most = max(most, len(os.listdir("/proc/self/task")), threading.active_count())
            await asyncio.sleep(0)
        await calls
    return most
print(asyncio.run(main()), uvloop.run(main()))
"""
    with serving(lambda _: data(SUBSCRIPTION, delay=0.05)) as (server, _):
        done = run_program(code, server.url + ACCOUNT, API_KEY)
        assert (done.stdout, done.stderr) == ("1 1\n", "")
        assert len(server.requests) == 400


# Several loops.


@each_loop
def test_one_loop_after_the_other(run: Run) -> None:
    with serving(lambda _: data(SUBSCRIPTION)) as (server, client):

        async def main() -> None:
            for _ in range(3):
                assert (await client.subscriptions.get("s")).id == "sub_1"

        for _ in range(3):
            run(main())
        assert (len(server.requests), server.connections) == (9, 3), "a loop keeps its connection"
        run(client.close())


def test_loops_of_several_threads_at_once() -> None:
    """Event loops start and end concurrently in several threads."""

    def script(request: Request) -> Reply:
        return data({**SUBSCRIPTION, "id": request.target.rsplit("/", 1)[1]})

    with serving(script) as (server, client):

        async def calls(name: str) -> None:
            found = await asyncio.gather(*(client.subscriptions.get(f"{name}-{n}") for n in range(5)))
            assert [each.id for each in found] == [f"{name}-{n}" for n in range(5)]

        def work(number: int) -> None:
            for turn in range(20):
                list(RUNNERS.values())[turn % 2](calls(f"{number}-{turn}"))

        in_threads(work, range(4))
        assert len(server.requests) == 400
        RUNNERS["asyncio"](client.close())


@each_loop
def test_with_options_shares_the_connections(run: Run) -> None:
    with serving(lambda _: data(SUBSCRIPTION), headers={"X-One": "1"}) as (server, client):

        async def main() -> None:
            other = client.with_options(headers={"X-Two": "2"}, timeout=5)
            await client.subscriptions.get("s")
            await other.subscriptions.get("s")
            await other.close()
            with pytest.raises(billcore.ConfigError):
                await other.subscriptions.get("s")
            await client.subscriptions.get("s")
            await client.close()

        run(main())
        assert server.connections == 1
        assert [(r.header("X-One"), r.header("X-Two")) for r in server.requests] == [
            ("1", None),
            (None, "2"),
            ("1", None),
        ]


# Contexts.

VARIABLE: contextvars.ContextVar[object] = contextvars.ContextVar("VARIABLE")


@each_loop
def test_contexts_stay_with_their_tasks(run: Run) -> None:
    class Local:
        alive = 0

        def __init__(self) -> None:
            Local.alive += 1

        def __del__(self) -> None:
            Local.alive -= 1

    with serving(lambda _: data(SUBSCRIPTION)) as (_, client):

        async def call() -> None:
            mine = Local()
            VARIABLE.set(mine)
            await client.subscriptions.get("s")
            assert VARIABLE.get() is mine

        async def main() -> None:
            await asyncio.gather(*(asyncio.create_task(call()) for _ in range(5)))
            with pytest.raises(LookupError):
                VARIABLE.get()
            gc.collect()
            await asyncio.sleep(0)
            assert Local.alive == 0, "the client keeps the context of a completed call"
            await client.close()

        run(main())


# Test of the time for which a call blocks the loop.


@each_loop
@pytest.mark.parametrize("size", [1_000, 100_000, 1_000_000, 3_900_000])
def test_the_loop_is_not_held_up(run: Run, size: int) -> None:
    """Detects a call that blocks the whole loop, not only its own task; tests/bench/loop_blocking.py measures the
    time. The server answers only after the loop has gone on while the call waits."""
    note = {"key": "seats", "note": "blue seats for the night train to Bergen with a window and one quiet table"}
    answer = data({**SUBSCRIPTION, "metadata": [note] * (size // 100)})
    gate = Gate(lambda _: answer)
    with serving(gate, timeout=2 * GENEROUS) as (server, client):

        async def main() -> float:
            task = asyncio.create_task(client.subscriptions.get("s"))
            await asked(server)
            for _ in range(20):
                await asyncio.sleep(0.001)
            gate.open()
            # The processor time of this thread does not grow while the machine runs other threads.
            longest, last = 0.0, time.thread_time()
            while not task.done():
                await asyncio.sleep(0.001)
                longest, last = max(longest, time.thread_time() - last), time.thread_time()
            await task
            await client.close()
            return longest

        assert run(main()) < 1  # with AddressSanitizer, reading 3.9 MB takes 0.1 s
