"""A client after os.fork(): it works in both processes, and neither process uses the connections of the other.

The programs run in child processes, because the process of the tests has threads and must not fork. The
subscription id in a request names the sender, so that the server can record which connection each sender uses.
"""

from __future__ import annotations

import pytest

from .fork_support import Scene
from .support import SANITIZED


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
# Exits without os._exit, so the interpreter cleans up.
if (child := os.fork()) == 0:
    sys.exit(0)
join(child)
get(client, "parent")
""")
    scene.expect(parent=6)


@pytest.mark.parametrize("concurrency", [1, 8])
@pytest.mark.parametrize("first", ["child", "parent"])
@pytest.mark.parametrize("read", [2] if SANITIZED else [2, 7])
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
    # In a new loop: parent and child share the selector of the old one.
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
    """Parent and child share the loop's selector, so the child gets socket events for the parent's answers."""
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


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_an_awaited_client_on_both_sides(scene: Scene, loop: str) -> None:
    scene.run(f"""
import asyncio, uvloop

client = billcore.AsyncClient(**options)

async def use(name):
    found = await asyncio.gather(*(client.subscriptions.get(name + "-slow") for _ in range(3)))
    assert [each.id for each in found] == [name + "-slow"] * 3

def child():
    global client
    {loop}.run(use("child"))
    {loop}.run(client.close())
    client = None
    gc.collect()

runner = asyncio.Runner(loop_factory={loop}.new_event_loop)
runner.run(use("parent"))
join(fork(child))
runner.run(use("parent"))
runner.run(client.close())
runner.close()
""")
    senders = scene.by_sender()
    assert len(senders["parent"]) == 6 and len(senders["child"]) == 3
    assert scene.server.connections == 6, "the parent keeps its connections"


# AddressSanitizer's allocator stays locked in the child when a thread held the lock during the fork.
@pytest.mark.skipif(SANITIZED, reason="runs with the optimised modules")
def test_fork_while_threads_are_in_calls(scene: Scene) -> None:
    scene.run("""
client = billcore.Client(**options)
stop = threading.Event()
failures = []

def call():
    try:
        get(client, "parent-of-seven")
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
# Opens all connections before the first fork. If the parent forks while one of its threads opens a connection, the
# child can inherit a socket that billcore has not recorded yet, and over TLS a locked lock of OpenSSL.
get(client, "parent-of-seven")
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
