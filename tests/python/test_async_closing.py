"""An AsyncClient that is closed or collected, with or without calls in flight, leaves no sockets or tasks behind."""

from __future__ import annotations

import asyncio
import gc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import uvloop

import billcore
from conformance.server import Reply, Request, ScriptedServer
from faults.certificates import Certificates
from support.waiting import until, until_awaited

from .async_support import RUNNERS, Gate, Run, WatchedServer, asked, descriptors, each_loop, new_client, serving, silent
from .support import ACCOUNT, API_KEY, ORDER, SUBSCRIPTION, data, page, run_program
from .test_leaks import MANY, answer, check, measures


@each_loop
def test_after_close_a_call_is_a_config_error(run: Run) -> None:
    with serving(lambda _: data(SUBSCRIPTION)) as (server, client):

        async def main() -> None:
            subscriptions, pager = client.subscriptions, client.products.list()
            before = client.orders.get("o")
            async with client as same:
                assert same is client
            await client.close()
            calls: list[Callable[[], Any]] = [
                lambda: before,
                lambda: subscriptions.get("s"),
                lambda: client.orders.get("o"),
                lambda: client.request("GET", "/x"),
                pager.first,
            ]
            for call in calls:
                with pytest.raises(billcore.ConfigError, match="closed"):
                    await call()

        run(main())
        assert server.requests == []


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
    with serving(lambda _: data(SUBSCRIPTION)) as (_, client):

        async def main() -> None:
            gc.collect()  # garbage of earlier tests has descriptors too
            before = descriptors()
            await use(client)
            assert descriptors() > before
            await client.close()
            await until_awaited(lambda: descriptors() == before)

        run(main())


@each_loop
def test_close_with_a_call_that_is_cancelled_later(run: Run) -> None:
    with serving(silent, timeout=None) as (server, client):

        async def main() -> None:
            gc.collect()  # garbage of earlier tests has descriptors too
            before = descriptors()
            task = asyncio.create_task(client.subscriptions.get("s"))
            await asked(server)
            await client.close()
            task.cancel()
            await asyncio.wait([task])
            await until_awaited(lambda: descriptors() == before)

        run(main())


@each_loop
def test_without_close_nothing_is_left_either(run: Run) -> None:
    """A client that is garbage-collected closes its sockets, whether the loop has ended or still runs."""

    def script(_: Request) -> Reply:
        return data(SUBSCRIPTION)

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
            gc.collect()
            await until_awaited(lambda: descriptors() == within)

        run(goes_on())


@each_loop
def test_a_call_that_is_never_resumed(run: Run) -> None:
    """The caller drops a started call: the client closes its connection, and Python prints no warning."""
    with serving(silent, timeout=None) as (server, client):

        async def main() -> None:
            call = client.subscriptions.get("s")
            call.send(None)
            await asked(server)
            assert server.ended == 0
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                del call
                gc.collect()
            await until_awaited(lambda: server.ended == 1)
            await client.close()

        run(main())


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


@each_loop
def test_what_a_loop_left_behind_is_garbage(run: Run) -> None:
    """When a loop is closed, its calls in flight never complete, but they and their sockets are collected."""
    new_loop = asyncio.new_event_loop if run is RUNNERS["asyncio"] else uvloop.new_event_loop
    with serving(silent, timeout=None) as (server, client):
        before = descriptors()
        loop = new_loop()
        handler: list[Any] = []
        loop.set_exception_handler(lambda _, context: handler.append(context["message"]))
        loop.create_task(use(client, 3))
        loop.run_until_complete(asked(server, 3))
        loop.close()
        del loop, client
        gc.collect()
        until(lambda: server.ended == 3)
        until(lambda: descriptors() <= before)


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
@pytest.mark.parametrize(
    "ending", ["", "sys.exit(0)", "raise SystemExit(0)", "del client; gc.collect()", "client = loop"]
)
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


FORKED = """
import asyncio, gc, os, sys, billcore, uvloop
client = billcore.AsyncClient(base_url=sys.argv[1], api_key=sys.argv[2], ca_bundle=sys.argv[3])
async def use():
    found = await asyncio.gather(*(client.subscriptions.get(n) for n in range(3)))
    assert [each.id for each in found] == ["sub_1"] * 3
loop = LOOP.new_event_loop()
loop.run_until_complete(use())
child = os.fork()
if child == 0:
    LOOP.run(use())
    LOOP.run(client.close())
    client = None
    gc.collect()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
loop.run_until_complete(use())
loop.run_until_complete(client.close())
loop.close()
"""


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_a_client_works_on_both_sides_of_a_fork(loop: str, tmp_path: Path) -> None:
    """Uses TLS, because a forked child that closes an inherited TLS connection ends the connection for its parent as
    well."""
    certificates = Certificates(tmp_path)
    with ScriptedServer(lambda _: data(SUBSCRIPTION, delay=0.1), tls=certificates.good) as server:
        url = f"https://localhost:{server.port}{ACCOUNT}"
        done = run_program(FORKED.replace("LOOP", loop), url, API_KEY, str(certificates.bundle))
        assert (done.returncode, done.stderr) == (0, "")
        assert len(server.requests) == 9 and server.connections == 6, "the parent keeps its connections"


CLEAN = """
import asyncio, gc, sys, billcore, uvloop

def new():
    return billcore.AsyncClient(base_url=sys.argv[1], api_key=sys.argv[2], max_retries=0)

async def main():
    async with new() as client:
        await asyncio.gather(*(client.subscriptions.get(n) for n in range(50)))
        task = asyncio.create_task(client.subscriptions.get("never"))
        await asyncio.sleep(0.05)
        task.cancel()
        assert isinstance((await asyncio.gather(task, return_exceptions=True))[0], asyncio.CancelledError)
        try:
            await client.subscriptions.get("never", timeout=0.05)
        except billcore.TimeoutError:
            pass
        try:
            await client.orders.get("none")
        except billcore.NotFoundError:
            pass
        assert [order.id async for order in client.subscriptions.orders("s")] == ["ord_1"]
    unclosed = new()
    await unclosed.subscriptions.get("s")
    del unclosed
    gc.collect()
    await new().subscriptions.get("s")

for loop in (asyncio, uvloop):
    loop.run(main())
gc.collect()
print("done")
"""


@pytest.mark.parametrize("flags", [("-W", "error"), ("-X", "dev", "-W", "error")], ids=["plain", "dev"])
def test_clients_and_loops_end_without_warnings(flags: tuple[str, ...]) -> None:
    def script(request: Request) -> Reply:
        if request.target.endswith("/never"):
            return silent(request)
        if request.target.endswith("/none"):
            return Reply(status=404)
        return page([ORDER], 1, 1) if "/orders" in request.target else data(SUBSCRIPTION)

    debug = "1" if "dev" in flags else ""
    with serving(script) as (server, _):
        done = run_program(CLEAN, server.url + ACCOUNT, API_KEY, flags=flags, PYTHONASYNCIODEBUG=debug)
    # asyncio's debug mode logs slow turns of the loop, which occur on a slow machine.
    complaints = [line for line in done.stderr.splitlines() if not line.startswith("Executing ")]
    assert (done.returncode, done.stdout, complaints) == (0, "done\n", [])


LEAKS = """
import asyncio, uvloop

async def call(client, number):
    get = client.subscriptions.get
    match number % 10:
        case 0:
            task = asyncio.create_task(get("late"))
            await asyncio.sleep(0.001)
            task.cancel()
            assert isinstance((await asyncio.gather(task, return_exceptions=True))[0], asyncio.CancelledError)
        case 1:
            (end,) = await asyncio.gather(get("none"), return_exceptions=True)
            assert isinstance(end, billcore.NotFoundError)
        case 2:
            (end,) = await asyncio.gather(get("late", timeout=0.01), return_exceptions=True)
            assert isinstance(end, billcore.TimeoutError)
        case 3:
            assert len(await client.subscriptions.orders("s").collect()) == 6
        case 4:
            async for order in client.subscriptions.orders("s"):
                break
        case _:
            await asyncio.gather(*(get("s") for _ in range(5)))

async def calls(count):
    async with billcore.AsyncClient(**options) as client:
        for number in range(count):
            await call(client, number)

def run(count):
    for loop in (asyncio, uvloop):
        loop.run(calls(count))
    return measure()

count = int(sys.argv[4]) // 6
before = run(count // 5)
print(json.dumps([before, run(count)]))
"""


def test_ten_thousand_calls_leave_nothing() -> None:
    with ScriptedServer(answer) as server:
        check(*measures(LEAKS, server, "", str(MANY)))
        assert len(server.requests) >= MANY
