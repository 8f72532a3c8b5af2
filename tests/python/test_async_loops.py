"""AsyncClient with asyncio's ways to run coroutines, many requests, loops in threads, and context variables."""

from __future__ import annotations

import asyncio
import contextvars
import gc
from typing import Any

import pytest

import billcore
from conformance.server import Reply, Request

from .async_support import RUNNERS, Run, each_loop, serving, silent
from .support import SUBSCRIPTION, data, in_threads

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


# Several loops.


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
