"""A client and os.fork(): each side works, and none touches the connections of the other.

The programs run in processes of their own: forking the one of the tests, which has threads, would be the tests' fault.
Each request names who sends it (the subscription asked for): so the server can tell whose connection it came over.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import ssl
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conformance.server import Reply, Request, ScriptedServer

from .gunicorn_support import gunicorn
from .support import ACCOUNT, API_KEY, SUBSCRIPTION, child_environment, data, page

GENEROUS = 60.0  # seconds, which only a broken run needs

PREAMBLE = """
import gc, os, sys, threading, traceback
import billcore

options = dict(base_url=sys.argv[1], api_key=sys.argv[2], ca_bundle=sys.argv[3] or None, max_retries=0, timeout=60)

def get(client, name):
    assert client.subscriptions.get(name).id == name

def fork(work, *args):
    child = os.fork()
    if child != 0:
        return child
    status = 1
    try:
        work(*args)
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)

def join(*children):
    for child in children:
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

def descriptors():
    found = set()
    for number in os.listdir("/proc/self/fd"):
        try:
            found.add(os.readlink("/proc/self/fd/" + number))
        except FileNotFoundError:  # the one that read the folder
            pass
    return found

def connections():
    # Established ones. libcurl also has pairs of sockets of its own, which a child inherits and which hold up nobody.
    with open("/proc/self/net/tcp") as table:
        inodes = {line.split()[9] for line in table if line.split()[3] == "01"}
    return {name for name in descriptors() if name.startswith("socket:") and name[8:-1] in inodes}
"""


class Scene:
    """A server, over TLS or not, and who has sent what over which connection."""

    def __init__(self, server: ScriptedServer, bundle: str) -> None:
        self.server = server
        self._bundle = bundle

    @property
    def arguments(self) -> list[str]:
        return [self.server.url + ACCOUNT, API_KEY, self._bundle]

    def run(self, code: str) -> str:
        """Runs a program; it must end well, and say nothing on stderr."""
        done = subprocess.run(
            [sys.executable, "-W", "error::ResourceWarning", "-c", PREAMBLE + code, *self.arguments],
            capture_output=True,
            text=True,
            env=child_environment(),
            timeout=GENEROUS,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def by_sender(self) -> dict[str, list[int]]:
        """The connection of each request, by the first part of the name that was asked for."""
        senders: dict[str, list[int]] = defaultdict(list)
        for request in self.server.requests:
            senders[name_in(request).split("-")[0]].append(request.connection)
        return senders

    def expect(self, **requests: int) -> None:
        """These senders, with so many requests each, each over one connection, which is its own."""
        senders = self.by_sender()
        assert {name: len(connections) for name, connections in senders.items()} == requests
        assert all(len(set(connections)) == 1 for connections in senders.values()), senders
        assert self.server.connections == len(requests), senders


def name_in(request: Request) -> str:
    return request.target.split("/subscription/")[1].split("/")[0].split("?")[0]


def answer(request: Request) -> Reply:
    if "/orders?" in request.target:
        number = int(request.target.split("page=")[1])
        if "/many/" in request.target:
            return page([{"id": number * 2}, {"id": number * 2 + 1}], number, 60, delay=0.005)
        return page([{"id": f"{number}a"}, {"id": f"{number}b"}], number, 4)
    delay = 0.02 if "slow" in request.target else 0.0
    return data({**SUBSCRIPTION, "id": name_in(request)}, delay=delay)


@pytest.fixture(params=["http", "tls"])
def scene(request: pytest.FixtureRequest, tls: tuple[ssl.SSLContext, str]) -> Iterator[Scene]:
    context, bundle = tls if request.param == "tls" else (None, "")
    with ScriptedServer(answer, tls=context) as server:
        yield Scene(server, bundle)


def test_parent_and_child(scene: Scene) -> None:
    scene.run("""
before = descriptors()
client = billcore.Client(**options)
get(client, "parent")
inherited = connections()
assert len(inherited) == 1

def child():
    before = descriptors()
    for _ in range(5):
        get(client, "child")
        assert len(connections()) == 1 and not connections() & inherited
    client.close()
    assert not connections() and descriptors() <= before

joined = fork(child)
get(client, "parent")
join(joined)
for _ in range(3):
    get(client, "parent")
assert connections() == inherited
client.close()
assert descriptors() == before
""")
    scene.expect(parent=5, child=5)


def test_a_child_that_never_calls(scene: Scene) -> None:
    scene.run("""
client = billcore.Client(**options)
get(client, "parent")

def close():
    client.close()

def drop():
    global client
    del client
    gc.collect()

for work in (close, drop, lambda: None, lambda: client.with_options(timeout=1).close()):
    join(fork(work))
    get(client, "parent")
# As one ends without os._exit: with the interpreter's own cleaning up.
if (child := os.fork()) == 0:
    sys.exit(0)
join(child)
get(client, "parent")
""")
    scene.expect(parent=6)


def test_grandchildren(scene: Scene) -> None:
    scene.run("""
client = billcore.Client(**options)
other = client.with_options(headers={"X-Other": "1"})
get(client, "parent")

def grandchild(name):
    for used in (other, client, other):
        get(used, name)
    assert len(connections()) == 1

def used():
    get(other, "used")
    own = connections()
    join(fork(grandchild, "first"))
    get(client, "used")
    assert connections() == own

def unused():
    join(fork(grandchild, "second"))
    get(client, "unused")

join(fork(used), fork(unused))
get(other, "parent")
""")
    scene.expect(parent=2, used=2, unused=1, first=3, second=3)


def test_a_client_of_the_child_alone(scene: Scene) -> None:
    scene.run("""
def child(name):
    before = descriptors()
    with billcore.Client(**options) as client:
        get(client, name)
        get(client, name)
    assert descriptors() == before

join(fork(child, "one"), fork(child, "two"))
child("parent")
""")
    scene.expect(one=2, two=2, parent=2)


def test_a_list_goes_on_on_both_sides(scene: Scene) -> None:
    scene.run("""
client = billcore.Client(**options)
pager = client.subscriptions.orders("list")
orders = iter(pager)
assert [next(orders).id for _ in range(3)] == ["1a", "1b", "2a"]

def rest():
    assert [order.id for order in orders] == ["2b", "3a", "3b", "4a", "4b"]
    assert str(pager.verdict) == "complete"
    get(client, "child")

join(fork(rest))
assert [order.id for order in orders] == ["2b", "3a", "3b", "4a", "4b"]
get(client, "parent")
""")
    senders = scene.by_sender()
    assert not set(senders["child"]) & set(senders["parent"])


@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize("first", ["child", "parent", "neither"])
@pytest.mark.parametrize("read", [1, 2, 7])
def test_a_fork_while_pages_are_on_their_way(scene: Scene, first: str, read: int, concurrency: int) -> None:
    scene.run(f"""
first, read = {first!r}, {read}
client = billcore.Client(**options, concurrency={concurrency})
pager = client.subscriptions.orders("many")
orders = iter(pager)
whole = list(range(2, 122))
assert [next(orders).id for _ in range(read)] == whole[:read]
state = pager.state
turn, go_on = os.pipe()

def child():
    if first == "parent":
        os.read(turn, 1)
    assert pager.state == state
    assert [order.id for order in orders] == whole[read:]
    assert str(pager.verdict) == "complete" and pager.fetched_pages == 60
    assert [order.id for order in client.subscriptions.orders("many", resume=state)] == whole[read:]
    get(client, "child")

children = [fork(child), fork(child)]
if first == "child":
    join(*children)
assert [order.id for order in orders] == whole[read:]
assert str(pager.verdict) == "complete" and pager.fetched_pages == 60
os.write(go_on, b"12")
if first != "child":
    join(*children)
get(client, "parent")
""")
    senders = scene.by_sender()
    assert not set(senders["child"]) & set(senders["parent"]) and len(set(senders["child"])) == 2


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_fork_between_two_loops_that_read_a_list(scene: Scene, concurrency: int) -> None:
    scene.run(f"""
import asyncio

client = billcore.AsyncClient(**options, concurrency={concurrency})
pager = client.subscriptions.orders("many")
whole = list(range(2, 122))

async def some():
    orders = aiter(pager)
    return [(await anext(orders)).id for _ in range(7)]

async def rest():
    return [order.id async for order in pager]

def child():
    # In a loop of its own: the parent's has its selector in both.
    assert asyncio.run(rest()) == whole[7:]
    assert str(pager.verdict) == "complete" and pager.fetched_pages == 60

runner = asyncio.Runner()
seen = runner.run(some())
assert seen == whole[:7]
join(fork(child))
assert runner.run(rest()) == whole[7:]
assert str(pager.verdict) == "complete"
runner.run(client.close())
runner.close()
""")


def test_a_child_that_runs_on_in_the_loop_of_its_parent(scene: Scene) -> None:
    """Their loops share a selector. What the child hears of are the answers to the parent's calls."""
    scene.run("""
import asyncio

async def main():
    loop = asyncio.get_running_loop()
    async with billcore.AsyncClient(**options) as client:
        for number in range(8):
            call = asyncio.ensure_future(client.subscriptions.get("parent-slow"))
            await asyncio.sleep(0.005)
            child = os.fork()
            if child == 0:
                loop.call_later(0.1, os._exit, 0)
                await loop.create_future()
            assert (await call).id == "parent-slow"
            join(child)

asyncio.run(main())
""")
    scene.expect(parent=8)


def test_workers_of_multiprocessing(scene: Scene) -> None:
    output = scene.run("""
import json, multiprocessing

client = billcore.Client(**options)
get(client, "parent")

def work(number):
    get(client, f"worker-{number}")
    return number, os.getpid()

def main():
    context = multiprocessing.get_context("fork")
    with context.Pool(4) as pool:
        done = pool.map_async(work, range(200), chunksize=1)
        for _ in range(20):
            get(client, "parent")
        print(json.dumps(done.get(60)))
        pool.close()
        pool.join()
    get(client, "parent")
    client.close()

main()
""")
    processes: dict[int, int] = dict(json.loads(output))
    assert len(processes) == 200 and len(set(processes.values())) <= 4
    used: dict[int, set[int]] = defaultdict(set)
    for request in scene.server.requests:
        sender, _, number = name_in(request).partition("-")
        used[processes[int(number)] if sender == "worker" else 0].add(request.connection)
    assert all(len(connections) == 1 for connections in used.values()), used
    assert scene.server.connections == len(used) == len(set(processes.values())) + 1


# The allocator of AddressSanitizer stays locked in the child when a thread was in it.
@pytest.mark.skipif("libasan" in os.environ.get("LD_PRELOAD", ""), reason="runs with the optimised modules")
def test_fork_while_threads_are_in_calls(scene: Scene) -> None:
    scene.run("""
client = billcore.Client(**options)
stop = threading.Event()
failures = []

def call():
    try:
        while not stop.is_set():
            get(client, "parent-slow")
    except BaseException as error:
        failures.append(error)

def child(number):
    for _ in range(2):
        get(client, f"child{number}")
    assert len(connections()) == 1
    client.close()
    assert not connections()

threads = [threading.Thread(target=call, daemon=True) for _ in range(6)]
for thread in threads:
    thread.start()
for number in range(12):
    get(client, "parent")
    join(fork(child, number))
stop.set()
for thread in threads:
    thread.join()
assert not failures, failures
get(client, "parent")
""")
    senders = scene.by_sender()
    parents = set(senders.pop("parent"))
    assert len(parents) <= 7
    assert len(senders) == 12 and all(len(connections) == 2 for connections in senders.values())
    children = [set(connections) for connections in senders.values()]
    assert all(len(connections) == 1 and not connections & parents for connections in children)
    assert scene.server.connections == len(parents) + 12


APPLICATION = """
import os
import billcore

bundle = os.environ["CA"] or None
client = billcore.Client(base_url=os.environ["URL"], api_key=os.environ["KEY"], ca_bundle=bundle, max_retries=0)
client.subscriptions.get("master")  # used before the workers are forked

def application(environ, start_response):
    name = "worker" + str(os.getpid()) + "-" + environ["PATH_INFO"][1:]
    body = client.subscriptions.get(name).id.encode()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
"""
CONFIGURATION = """
import os

preload_app = True
workers = 3
control_socket_disable = True

def on_exit(server):
    import application
    application.client.subscriptions.get("master")
"""


def test_workers_of_gunicorn(scene: Scene, tmp_path: Path) -> None:
    (tmp_path / "application.py").write_text(APPLICATION)
    (tmp_path / "settings.py").write_text(CONFIGURATION)
    url, key, bundle = scene.arguments

    def ask(port: int, number: int) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=GENEROUS)
        with contextlib.closing(connection):
            connection.request("GET", f"/{number}")
            response = connection.getresponse()
            assert response.status == 200
            return response.read().decode()

    options = ["--config", "settings.py"]
    with gunicorn(tmp_path, options, URL=url, KEY=key, CA=bundle) as port, ThreadPoolExecutor(8) as pool:
        names = list(pool.map(lambda number: ask(port, number), range(120)))
    assert [name.partition("-")[2] for name in names] == [str(number) for number in range(120)]
    senders = scene.by_sender()
    assert len(senders.pop("master")) == 2
    assert sum(map(len, senders.values())) == 120
    assert all(len(set(connections)) == 1 for connections in senders.values()), senders
    assert scene.server.connections == len(senders) + 1
