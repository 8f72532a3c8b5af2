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
@pytest.mark.parametrize("read", [2] if SANITIZED else [1, 2, 7])
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
