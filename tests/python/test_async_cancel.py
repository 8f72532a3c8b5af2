"""Cancelling an async call aborts its request. If the service may have performed a write, the CancelledError has a
note about it."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

import billcore
from conformance.server import Reply, Request, SilentListener
from support.children import child_environment
from support.waiting import GENEROUS, until_awaited

from .async_support import UNSENT, Gate, Run, asked, each_loop, serving, silent
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


def notes_of(call: object) -> list[str]:
    return [MAYBE] if call is CALLS["write"] else []


def never_then(reply: Reply) -> Callable[[Request], Reply]:
    """A script that never answers the first request, and answers all others with `reply`."""
    count: list[Request] = []

    def script(request: Request) -> Reply:
        count.append(request)
        return silent(request) if len(count) == 1 else reply

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
def test_a_call_cancelled_after_sending_has_a_note_if_it_writes(run: Run, call: Callable[[Any], Any]) -> None:
    with serving(never_then(data(SUBSCRIPTION)), max_retries=2) as (server, client):

        async def main() -> None:
            task = asyncio.create_task(call(client))
            await asked(server)
            task.cancel()
            assert await ends_cancelled(task) == notes_of(call)
            await until_awaited(lambda: server.ended == 1)
            assert (await client.subscriptions.get("s")).id == "sub_1"
            await client.close()

        run(main())
        assert len(server.requests) == 2, "a cancelled request is not sent again"


@each_loop
@each_call
def test_a_call_cancelled_within_the_answer_has_a_note_if_it_writes(run: Run, call: Callable[[Any], Any]) -> None:
    half = Reply(headers={"Content-Length": "1000"}, body=b'{"data":', ending="hang")
    with serving(lambda _: half) as (server, client):

        async def main() -> None:
            task = asyncio.create_task(call(client))
            await asked(server)
            await asyncio.sleep(0.05)
            task.cancel()
            assert await ends_cancelled(task) == notes_of(call)
            await until_awaited(lambda: server.ended == 1)
            await client.close()

        run(main())


@each_loop
def test_a_call_cancelled_while_it_waits_for_a_retry_sends_no_more(run: Run) -> None:
    replies = [Reply(status=503, headers={"Retry-After": "30"}), data(SUBSCRIPTION)]
    with serving(replies, max_retries=2) as (server, client):

        async def main() -> None:
            task = asyncio.create_task(client.subscriptions.get("s"))
            await asked(server)
            await asyncio.sleep(0.1)
            assert not task.done()
            task.cancel()
            assert await ends_cancelled(task) == []
            assert (await client.subscriptions.get("s")).id == "sub_1"
            await client.close()

        run(main())
        assert len(server.requests) == 2


@each_loop
@each_call
def test_a_call_cancelled_while_it_waits_for_a_connection_sends_nothing(run: Run, call: Callable[[Any], Any]) -> None:
    gate = Gate(lambda _: data(SUBSCRIPTION))
    with serving(gate) as (server, client):

        async def main() -> None:
            others = [asyncio.create_task(client.subscriptions.get(n)) for n in range(100)]
            await asked(server, 100)
            waiting = [asyncio.create_task(call(client)) for _ in range(5)]
            last = asyncio.create_task(client.subscriptions.get("last"))
            await asyncio.sleep(UNSENT)
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
def test_the_deadline_counts_while_it_waits_for_a_connection(run: Run) -> None:
    gate = Gate(lambda _: data(SUBSCRIPTION))
    with serving(gate) as (server, client):

        async def main() -> None:
            others = [asyncio.create_task(client.subscriptions.get(n)) for n in range(100)]
            await asked(server, 100)
            for operation in (client.subscriptions.get, client.subscriptions.cancel):
                started = time.monotonic()
                with pytest.raises(billcore.TimeoutError, match="nothing was sent"):
                    await operation("late", timeout=0.2)
                assert 0.19 <= time.monotonic() - started < GENEROUS / 2
            gate.open()
            await asyncio.gather(*others)
            await client.close()

        run(main())
        assert len(server.requests) == 100


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


@each_loop
def test_cancelled_at_every_moment(run: Run) -> None:
    """The call returns a result or raises CancelledError, with a note if the server received the request."""
    ends: list[str] = []
    sent = 1  # requests, with that of the first call
    with serving(lambda _: data(SUBSCRIPTION)) as (server, client):

        async def turns(count: int) -> None:
            nonlocal sent
            task = asyncio.create_task(client.subscriptions.cancel("s"))
            for _ in range(count):
                await asyncio.sleep(0)
            task.cancel()
            notes: list[str] | None = None
            try:
                assert (await task).id == "sub_1"
            except asyncio.CancelledError as error:
                notes = getattr(error, "__notes__", [])
                assert notes in ([], [MAYBE], [LOST])
            sent += notes != []
            # The server may see a request after the call has ended.
            await until_awaited(lambda: len(server.requests) >= sent)
            await asyncio.sleep(0.01)
            assert len(server.requests) == sent, "sent, but there is no note"
            ends.append("result" if notes is None else "noted" if notes else "unsent")

        async def main() -> None:
            await client.subscriptions.get("warm")
            for count in (*range(12), *range(12, 200, 8), 1000, 5000, 20000):
                await turns(count)
            await client.close()

        run(main())
        assert {"unsent", "noted"} <= set(ends), ends


@each_loop
def test_a_chain_of_timeouts(run: Run) -> None:
    """Only the innermost of nested timeouts expires; its error has the note that the write may have happened."""
    with serving(silent) as (server, client):

        async def main() -> None:
            with pytest.raises(TimeoutError) as caught:
                async with asyncio.timeout(GENEROUS):
                    await asyncio.wait_for(asyncio.wait_for(client.subscriptions.cancel("s"), 1), GENEROUS)
            assert not isinstance(caught.value, billcore.BillcoreError)
            notes: list[str] = []
            error: BaseException | None = caught.value
            while error is not None:
                notes += getattr(error, "__notes__", [])
                error = error.__cause__ or error.__context__
            assert notes == [MAYBE]
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await client.subscriptions.get("s", timeout=None)
            with pytest.raises(billcore.OutcomeUnknownError):
                async with asyncio.timeout(GENEROUS):
                    await client.subscriptions.cancel("s", timeout=1)
            await until_awaited(lambda: server.ended == server.connections == 3)
            await client.close()

        run(main())


@each_loop
def test_a_task_group_that_fails(run: Run) -> None:
    def script(request: Request) -> Reply:
        return Reply(status=404) if request.target.endswith("/none") else silent(request)

    with serving(script) as (server, client):

        async def main() -> None:
            tasks: list[asyncio.Task[Any]] = []
            with pytest.raises(ExceptionGroup) as caught:
                async with asyncio.TaskGroup() as group:
                    tasks += [group.create_task(client.subscriptions.get(n)) for n in range(5)]
                    await asked(server, 5)
                    group.create_task(client.orders.get("none"))
            assert caught.group_contains(billcore.NotFoundError) and all(task.cancelled() for task in tasks)
            await until_awaited(lambda: server.ended == 5)
            await client.close()

        run(main())


@each_loop
def test_a_cancelled_call_does_not_disturb_the_others(run: Run) -> None:
    gate = Gate(lambda request: data({**SUBSCRIPTION, "id": request.target.rsplit("/", 1)[1]}))
    with serving(gate) as (server, client):

        async def main() -> None:
            tasks = [asyncio.create_task(client.subscriptions.get(n)) for n in range(40)]
            await asked(server, 40)
            for task in tasks[::2]:
                task.cancel()
            await asyncio.wait(tasks[::2])
            gate.open()
            assert [(await task).id for task in tasks[1::2]] == [str(n) for n in range(1, 40, 2)]
            # The client still works after the cancellations, even with twice as many concurrent calls as connections.
            found = await asyncio.gather(*(client.subscriptions.get(n) for n in range(200)))
            assert [each.id for each in found] == [str(n) for n in range(200)]
            await client.close()

        run(main())
        assert server.connections <= 120


CALLER = """
import asyncio, signal, sys, billcore, uvloop
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores SIGINT
async def main():
    async with billcore.AsyncClient(base_url=sys.argv[1], api_key=sys.argv[2], timeout=None) as client:
        if sys.argv[4] == "write":
            await client.subscriptions.cancel("s")
        elif sys.argv[4] == "list":
            async for order in client.subscriptions.orders("s"):
                pass
        else:
            await asyncio.gather(client.subscriptions.get("s"), asyncio.sleep(60))
try:
    getattr(sys.modules[sys.argv[3]], "run")(main())
except KeyboardInterrupt as error:
    print("KeyboardInterrupt")
    while error is not None:
        print(*getattr(error, "__notes__", []))
        error = error.__context__
"""


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
@pytest.mark.parametrize("kind", ["read", "list", "write"])
def test_ctrl_c(loop: str, kind: str) -> None:
    with serving(silent) as (server, _):
        process = subprocess.Popen(
            [sys.executable, "-c", CALLER, server.url + ACCOUNT, API_KEY, loop, kind],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=child_environment(),
        )
        try:
            deadline = time.monotonic() + GENEROUS
            while not server.requests and time.monotonic() < deadline:
                time.sleep(0.01)
            process.send_signal(signal.SIGINT)
            output, errors = process.communicate(timeout=GENEROUS)
        finally:
            process.kill()
            process.wait()
    assert process.returncode == 0 and output.startswith("KeyboardInterrupt")
    assert (MAYBE in output) is (kind == "write"), output
    # The program did not configure logging, so Python prints warnings.
    logged = f"POST /subscription/{{id}}/cancel: {MAYBE.partition(': ')[2]}: look before you send it again (id s,"
    assert errors.startswith(logged) and errors.count("\n") == 1 if kind == "write" else errors == ""
