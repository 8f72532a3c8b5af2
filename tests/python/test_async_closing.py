"""An AsyncClient that is closed or collected, with or without calls in flight, leaves no sockets or tasks behind, and
neither does its loop."""

from __future__ import annotations

import asyncio
import gc
import warnings
from typing import Any

import pytest

import billcore
from conformance.server import Reply, Request
from support.waiting import until, until_awaited

from .async_support import Gate, Run, WatchedServer, asked, descriptors, each_loop, new_client, serving, silent
from .support import ACCOUNT, API_KEY, SUBSCRIPTION, data, run_program


@each_loop
def test_calls_under_way_finish(run: Run) -> None:
    gate = Gate(lambda _: data(SUBSCRIPTION))
    with serving(gate) as (server, client):

        async def main() -> Any:
            task = asyncio.create_task(client.subscriptions.cancel("s"))
            await asked(server)
            await client.close()
            with pytest.raises(billcore.ConfigError):
                await client.subscriptions.get("s")
            gate.open()
            return (await task).id

        assert run(main()) == "sub_1"


async def use(client: billcore.AsyncClient, count: int = 20) -> None:
    await asyncio.gather(*(client.subscriptions.get(n) for n in range(count)))


@each_loop
def test_close_gives_back_every_descriptor(run: Run) -> None:
    """Also if a call in flight is cancelled after close()."""

    def script(request: Request) -> Reply:
        return silent(request) if request.target.endswith("/never") else data(SUBSCRIPTION)

    with serving(script, timeout=None) as (server, client):

        async def main() -> None:
            gc.collect()  # garbage of earlier tests has descriptors too
            before = descriptors()
            await use(client)
            task = asyncio.create_task(client.subscriptions.get("never"))
            await asked(server, 21)
            assert descriptors() > before
            await client.close()
            task.cancel()
            await asyncio.wait([task])
            await until_awaited(lambda: descriptors() == before)

        run(main())


@each_loop
def test_without_close_nothing_is_left_either(run: Run) -> None:
    """A client that is garbage-collected closes its sockets, whether the loop has ended or still runs, and so does a
    started call that is dropped; Python prints no warning."""

    def script(request: Request) -> Reply:
        return silent(request) if request.target.endswith("/never") else data(SUBSCRIPTION)

    server = WatchedServer(script)
    with server, warnings.catch_warnings():
        warnings.simplefilter("error")

        async def main() -> None:
            await use(new_client(server))

        run(main())  # the first run may open descriptors that the loop keeps
        gc.collect()
        until(lambda: server.ended == server.connections)
        before = descriptors()
        run(main())
        gc.collect()
        until(lambda: descriptors() == before)

        async def goes_on() -> None:
            within = descriptors()
            await use(new_client(server))
            call = new_client(server, timeout=None).subscriptions.get("never")
            call.send(None)
            await asked(server, 61)
            del call
            gc.collect()
            await until_awaited(lambda: descriptors() == within)

        run(goes_on())


@each_loop
def test_a_client_that_only_its_call_knows(run: Run) -> None:
    """The running call holds the only reference to its client: the call still ends normally, and afterwards the
    client is garbage-collected."""

    def script(request: Request) -> Reply:
        return Reply(status=404) if request.target.endswith("/none") else silent(request)

    server = WatchedServer(script)
    with server:

        async def main() -> None:
            with pytest.raises(billcore.NotFoundError):
                await new_client(server).orders.get("none")
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await new_client(server, timeout=None).subscriptions.get("s")
            task = asyncio.create_task(new_client(server, timeout=None).subscriptions.cancel("s"))
            await asked(server, 3)
            task.cancel()
            with pytest.raises(asyncio.CancelledError) as caught:
                await task
            assert len(caught.value.__notes__) == 1
            del task, caught
            gc.collect()
            await until_awaited(lambda: server.ended == 3)

        run(main())


@each_loop
def test_a_task_that_nobody_keeps_goes_on(run: Run) -> None:
    """The loop holds a reference to the waiting task, so that a garbage collection does not end the request."""
    gate = Gate(lambda _: data(SUBSCRIPTION))
    with serving(gate) as (server, client):
        ended: list[Any] = []

        async def forgotten() -> None:
            ended.append((await client.subscriptions.cancel("s")).id)

        async def main() -> None:
            asyncio.create_task(forgotten())  # noqa: RUF006
            await asked(server)
            gc.collect()
            gate.open()
            await until_awaited(lambda: bool(ended))
            await client.close()

        run(main())
        assert ended == ["sub_1"] and len(server.requests) == 1


def test_a_loop_that_is_never_closed_gives_back_its_sockets_when_it_goes() -> None:
    """uvloop is left out: it never frees a loop that is not closed, with or without a client."""
    with serving(lambda _: data(SUBSCRIPTION)) as (server, client):
        for _ in range(5):
            loop = asyncio.new_event_loop()
            loop.run_until_complete(client.subscriptions.get("s"))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ResourceWarning)
                del loop
                gc.collect()
        assert server.connections == 5
        until(lambda: server.ended == 5)


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
@pytest.mark.parametrize("ending", ["", "del client; gc.collect()"])
def test_the_interpreter_ends_with_a_request_under_way(loop: str, ending: str) -> None:
    code = f"""
import asyncio, gc, sys, billcore, uvloop
loop = {loop}.new_event_loop()
client = billcore.AsyncClient(base_url=sys.argv[1], api_key=sys.argv[2], timeout=None)
async def main():
    task = loop.create_task(client.subscriptions.get("s"))
    await asyncio.sleep(0.1)
    return task
task = loop.run_until_complete(main())
print("begun")
{ending}
"""
    with serving(silent) as (server, _):
        done = run_program(code, server.url + ACCOUNT, API_KEY)
        assert (done.returncode, done.stdout) == (0, "begun\n"), done.stderr
        assert "Fatal" not in done.stderr and "Traceback" not in done.stderr, done.stderr
        until(lambda: server.requests)  # the program may end before the server has seen its request
        assert len(server.requests) == 1
