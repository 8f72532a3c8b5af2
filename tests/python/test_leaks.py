"""Memory, descriptors and threads do not grow, however long a client is used and however many clients are made."""

from __future__ import annotations

import json
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from conformance.server import Reply, Request, ScriptedServer, json_reply

from .support import ACCOUNT, API_KEY, ORDER, SANITIZED, SUBSCRIPTION, data, measured_environment, page

AT_ONCE = 8  # pages in flight, and therefore connections
pytestmark = pytest.mark.skipif(SANITIZED, reason="measures with the optimised modules")
MANY = 10_000  # calls
MOST = 2 << 20  # largest allowed growth in bytes; a leak of one small answer per call would be far more
GENEROUS = 300.0  # seconds

PREAMBLE = """
import gc, json, os, socket, stat, sys, threading
import billcore

options = dict(base_url=sys.argv[1], api_key=sys.argv[2], ca_bundle=sys.argv[3] or None, max_retries=0, timeout=60)

def connections():
    found = 0
    for name in os.listdir("/proc/self/fd"):
        path = "/proc/self/fd/" + name
        if os.path.exists(path) and stat.S_ISSOCK(os.stat(path).st_mode):  # listdir() closed its own
            with socket.socket(fileno=os.dup(int(name))) as each:
                found += each.family == socket.AF_INET
    return found

# The number of idle connections depends on how many pages were in flight at once, so they are counted separately.
def measure():
    gc.collect()
    kept = connections()
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    return {
        "memory": pages * os.sysconf("SC_PAGE_SIZE"),
        "objects": sys.getallocatedblocks(),
        "descriptors": len(os.listdir("/proc/self/fd")) - kept,
        "connections": kept,
        "threads": len(os.listdir("/proc/self/task")),
    }

def raises(kind, call):
    try:
        call()
    except kind:
        return
    raise AssertionError(kind)
"""

CALLS = """
client = billcore.Client(**options)
other = client.with_options(max_retries=1, headers={"X-Other": "1"})
subscriptions = client.subscriptions

def call(number):
    match number % 100:
        case 0 if number % 200 == 0:
            raises(billcore.TimeoutError, lambda: subscriptions.get("late", timeout=0.01))
        case 0:
            # Which one depends on whether the request was sent in time.
            kinds = (billcore.OutcomeUnknownError, billcore.TimeoutError)
            raises(kinds, lambda: subscriptions.cancel("late", timeout=0.01))
        case 2:
            raises(billcore.ConnectionError, lambda: subscriptions.get("reset"))
        case 3:
            raises(billcore.ConnectionError, lambda: subscriptions.get("half"))
        case 4:
            raises(billcore.DecodeError, lambda: subscriptions.get("html"))
        case 5:
            raises(billcore.DecodeError, lambda: subscriptions.get("bare").created_at)
        case 6:
            raises(billcore.InvalidArgumentError, lambda: subscriptions.get(".."))
        case n if n < 20:
            raises(billcore.NotFoundError, lambda: subscriptions.get("none"))
        case n if n < 30:
            raises(billcore.PaymentError, lambda: subscriptions.charge("s", product_id=1, amount=1))
        case n if n < 40:
            raises(billcore.ServerError, lambda: subscriptions.cancel("broken"))
        case n if n < 50:
            assert [order.total for order in subscriptions.orders("s")] == [1500] * 6
        case n if n < 55:
            assert subscriptions.orders("s").first().state == "paid"
        case n if n < 60:
            for order in other.subscriptions.orders("s"):
                break
        case n if n < 65:
            pages = subscriptions.orders("s").pages()
            assert len(next(pages).items) == 2
        case n if n < 75:
            response = other.request("GET", "/subscription/s", query={"a": "b"}, raise_on_error=False)
            assert response.json()["data"]["id"] == "sub_1"
        case n if n < 85:
            made = subscriptions.get("s")
            assert made.to_dict()["id"] == "sub_1" and made.metadata["seats"] == 3 and made.response_info.status == 200
        case _:
            assert subscriptions.get("s").created_at.year == 2025

def run(count):
    for number in range(count):
        call(number)
    return measure()

count = int(sys.argv[4])
before, after = run(min(count // 2, 1500)), run(count)
other.close()
client.close()
assert connections() == 0
print(json.dumps([before, after]))
"""

AWAITED = """
import asyncio, logging, uvloop
logging.getLogger("billcore").setLevel(logging.ERROR)  # not the warnings of writes that are given up

async def fails(kind, call):
    try:
        await call
    except kind:
        return
    raise AssertionError(kind)

async def call(client, number):
    match number % 20:
        case 0:
            await fails(billcore.TimeoutError, client.subscriptions.get("late", timeout=0.01))
        case 1:
            await fails(billcore.ConnectionError, client.subscriptions.get("half"))
        case 2:
            await fails(billcore.PaymentError, client.subscriptions.charge("s", product_id=1, amount=1))
        case 3:
            task = asyncio.create_task(client.subscriptions.cancel("late"))
            await asyncio.sleep(0.002)
            task.cancel()
            await fails(asyncio.CancelledError, task)
        case 4:
            assert len([order async for order in client.subscriptions.orders("s")]) == 6
        case 5:
            async for order in client.subscriptions.orders("s"):
                break
        case _:
            assert (await client.subscriptions.get("s")).created_at.year == 2025

async def rounds(client, count):
    for begin in range(0, count, 20):
        await asyncio.gather(*(call(client, number) for number in range(begin, begin + 20)))

async def run(count):
    async with billcore.AsyncClient(**options) as client:
        await rounds(client, count)
    return measure()

count = int(sys.argv[4])
loop = getattr(sys.modules[sys.argv[5]], "run")
before = loop(run(count // 4))
print(json.dumps([before, loop(run(count))]))
"""

LOOPS = """
import asyncio, collections

client = billcore.AsyncClient(**options)  # never closed, as when a platform ends a handler
kept = collections.deque(maxlen=5)  # lists that are not read on when their loop ends

async def handle(number):
    match number % 4:
        case 0:
            assert (await client.subscriptions.get("s")).id == "sub_1"
        case 1:
            assert len(await client.subscriptions.orders("s").collect()) == 6
            kept.append(aiter(client.subscriptions.orders("s")))
            await anext(kept[-1])
        case 2:
            asyncio.ensure_future(client.subscriptions.get("late"))  # the loop ends it
            await asyncio.sleep(0)
        case 3:
            async with billcore.AsyncClient(**options) as own:
                assert (await own.subscriptions.get("s")).id == "sub_1"

def run(count):
    for number in range(count):
        asyncio.run(handle(number))
    return measure()

before = run(100)
print(json.dumps([before, run(int(sys.argv[4]))]))
"""

COLUMNS = """
import pyarrow

client = billcore.Client(**options)

def once():
    reader = pyarrow.RecordBatchReader.from_stream(client.subscriptions.orders("s").to_arrow())
    reader.read_next_batch()
    list(client.subscriptions.orders("s", page=2).to_batches())

def times(count):
    for _ in range(count):
        once()
    return measure()

print(json.dumps([times(50), times(200)]))
"""

CLIENTS = """
def use(number):
    client = billcore.Client(**options)
    assert client.subscriptions.get("s").id == "sub_1"
    match number % 4:
        case 0:
            client.close()
        case 1:
            with client:
                client.with_options(timeout=5).subscriptions.get("s")
        case 2:
            pager, group = client.subscriptions.orders("s"), client.subscriptions
            assert pager.first().id == "ord_1a"
            del client  # the pager and the group still hold it
            assert group.get("s").id == "sub_1" and len(pager.collect()) == 6
        case 3:
            raises(billcore.TimeoutError, lambda: client.subscriptions.get("late", timeout=0.01))

def run(count):
    for number in range(count):
        use(number)
    return measure()

before = run(100)
print(json.dumps([before, run(int(sys.argv[4]))]))
"""


def answer(request: Request) -> Reply:
    name = request.target.split("/subscription/")[1].split("?")[0]
    if name.startswith("late"):
        return Reply(raw=b"", ending="hang")  # an answer could arrive before a busy client checks its deadline
    if name == "s/order":
        return json_reply({"error": {"code": "card_declined", "message": "No."}}, 402)
    if name == "s/orders":
        number = int(request.target.split("page=")[1])
        return page([{**ORDER, "id": f"ord_{number}{which}"} for which in "ab"], number, 3)
    replies = {
        "reset": Reply(raw=b"", ending="reset"),
        "half": data(SUBSCRIPTION, send_only=200, ending="close"),
        "html": Reply(body=b"<html>"),
        "bare": data({}),
        "none": Reply(status=404, body=b"null"),
        "broken": Reply(status=503, body=b"<html>" + b"x" * 5000),
    }
    return replies.get(name.removesuffix("/cancel")) or data(SUBSCRIPTION)


@pytest.fixture(params=["http", "tls"])
def server(request: pytest.FixtureRequest, tls: tuple[ssl.SSLContext, str]) -> Iterator[tuple[ScriptedServer, str]]:
    """A server, and the file of its certificate (empty without TLS)."""
    context, bundle = tls if request.param == "tls" else (None, "")
    with ScriptedServer(answer, tls=context) as server:
        yield server, bundle


def measures(code: str, server: ScriptedServer, *arguments: str) -> tuple[dict[str, int], dict[str, int]]:
    """Measurements of a program after its warm-up, and at the end."""
    done = subprocess.run(
        [
            sys.executable,
            "-W",
            "error::ResourceWarning",
            "-c",
            PREAMBLE + code,
            server.url + ACCOUNT,
            API_KEY,
            *arguments,
        ],
        capture_output=True,
        text=True,
        env=measured_environment(),
        timeout=GENEROUS,
    )
    assert (done.returncode, done.stderr) == (0, "")
    before, after = json.loads(done.stdout)
    return before, after


def check(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert after["descriptors"] == before["descriptors"]
    assert after["connections"] <= AT_ONCE
    assert after["threads"] == before["threads"] == 1
    assert after["memory"] <= before["memory"] + MOST
    assert after["objects"] <= before["objects"] + 1000  # up to 510 objects are temporary, however many calls run


def test_ten_thousand_calls() -> None:
    with ScriptedServer(answer) as server:
        before, after = measures(CALLS, server, "", str(MANY))
        check(before, after)
        assert len(server.requests) >= MANY


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_ten_thousand_awaited_calls(loop: str) -> None:
    with ScriptedServer(answer) as server:
        before, after = measures(AWAITED, server, "", str(MANY), loop)
        check(before, after)
        assert len(server.requests) >= MANY


def test_hundreds_of_event_loops() -> None:
    """BILLCORE_LOOPS=8760 simulates one event loop an hour for a year."""
    count = int(os.environ.get("BILLCORE_LOOPS") or 400)
    with ScriptedServer(answer) as server:
        before, after = measures(LOOPS, server, "", str(count))
        check(before, after)
        assert after["connections"] == 0
        assert server.connections >= count


def test_hundreds_of_streams() -> None:
    def long_page(request: Request) -> Reply:
        items = [{**ORDER, "id": number, "metadata": {"text": "x" * 200}} for number in range(200)]
        return page(items, int(request.target.split("page=")[1]), 2, 200)

    with ScriptedServer(long_page) as server:
        before, after = measures(COLUMNS, server, "")
    assert after["memory"] <= before["memory"] + 4 * MOST, "200 times 150 KB would be far more"
    assert after["descriptors"] == before["descriptors"]
    assert after["connections"] <= AT_ONCE
    assert after["objects"] <= before["objects"] + 1000


def test_hundreds_of_clients(server: tuple[ScriptedServer, str]) -> None:
    # Fewer clients with TLS, because they are slower.
    count = 200 if server[1] else 500
    before, after = measures(CLIENTS, *server, str(count))
    check(before, after)
    assert server[0].connections >= 100 + count
