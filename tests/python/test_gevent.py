"""The client in a program of gevent, which patches the standard library and runs all greenlets in one thread, as
gunicorn's gevent worker does."""

from __future__ import annotations

import json
import threading
from collections import Counter

import pytest

from conformance.server import Reply, Request, ScriptedServer
from support.waiting import GENEROUS

from .support import ACCOUNT, API_KEY, ORDER, PRODUCT, SANITIZED, data, number_of, page, run_python

AT_ONCE = 6  # charges that the service holds back until all of them have arrived

PROGRAM = """
from gevent import monkey
monkey.patch_all()
import json, sys
import gevent
import billcore

class Hooks(billcore.Hooks):
    def on_response(self, attempt):
        gevent.getcurrent().told = attempt.status

options = dict(base_url=sys.argv[1], api_key=sys.argv[2], max_retries=0, timeout=50)
client = billcore.Client(**options, hooks=Hooks())

def charge(number):
    made = client.subscriptions.charge("s", product_id=1, amount=number)
    assert gevent.getcurrent().told == 200
    return made.total_with_vat

def read(number):
    return len(client.subscriptions.orders("s").collect())

def in_pool(work, number):
    return gevent.get_hub().threadpool.apply(work, (number,))

jobs = [gevent.spawn(in_pool, charge, 1001 + number) for number in range(int(sys.argv[3]))]
jobs += [gevent.spawn(charge, number) for number in range(20)]
jobs += [gevent.spawn(in_pool, charge, number) for number in range(20, 40)]
jobs += [gevent.spawn(read, 0) for _ in range(5)] + [gevent.spawn(in_pool, read, 0) for _ in range(5)]
gevent.joinall(jobs, raise_error=True)
print(json.dumps([job.value for job in jobs]))
"""

# Records where calls in a thread of gevent's pool take a lock of gevent. The thread may wait forever for such a lock.
LOCKS = """
from gevent import monkey
monkey.patch_all()
import json, logging, sys, traceback
import gevent, gevent.thread
import billcore

client = billcore.Client(base_url=sys.argv[1], api_key=sys.argv[2], hooks=billcore.Hooks() if sys.argv[3] else None)
thread_of = monkey.get_original("_thread", "get_ident")
main, acquire, taken = thread_of(), gevent.thread.LockType.acquire, []

def watched(lock, *arguments, **named):
    if thread_of() != main:
        taken.append(traceback.format_stack(limit=4)[0])
    return acquire(lock, *arguments, **named)

gevent.thread.LockType.acquire = gevent.thread.LockType.__enter__ = watched

def calls():
    order = client.subscriptions.charge("s", product_id=1, amount=2)
    read = client.subscriptions.orders("s").collect()
    try:
        client.products.get(404)
    except billcore.NotFoundError:
        rate = client.products.get(1).vat_rate
        return [order.total_with_vat, len(read), order.created_at.year, str(rate)]

done = gevent.get_hub().threadpool.apply(calls)
quiet = list(taken)
gevent.get_hub().threadpool.apply(logging.getLogger, ["another"])
print(json.dumps([done, quiet, len(taken)]))
"""

# Every way to read and write, in greenlets that switch within their calls.
SWITCHES = """
from gevent import monkey
monkey.patch_all()
import json, random, sys, time
import gevent
import billcore

class Hooks(billcore.Hooks):
    def on_request(self, attempt):
        time.sleep(random.random() / 500)

    on_response = on_request

client = billcore.Client(base_url=sys.argv[1], api_key=sys.argv[2], max_retries=0, timeout=50, hooks=Hooks())
orders = client.subscriptions.orders

def charge():
    return client.subscriptions.charge("s", product_id=1, amount=7).total_with_vat

def fail():
    try:
        client.products.get(404)
    except billcore.NotFoundError as error:
        return error.status

def close():
    with billcore.Client(base_url=sys.argv[1], api_key=sys.argv[2], hooks=Hooks()) as other:
        return other.subscriptions.orders("s").first().id

ways = [
    charge,
    fail,
    close,
    lambda: client.request("GET", "/product/1").status,
    lambda: len(orders("s").collect()),
    lambda: len([order.id for order in orders("s")]),
    lambda: len([page.items for page in orders("s").pages()]),
    lambda: sum(batch.num_rows for batch in orders("s").to_batches()),
    lambda: [got.value.id for got in client.products.get_many([1] * 3)],
]
jobs = [gevent.spawn(way) for way in ways * 5]
gevent.joinall(jobs, raise_error=True)
print(json.dumps([job.value for job in jobs]))
"""

# Kills a greenlet while a hook of its charge waits. The next hook of that charge waits until other charges have ended.
KILLED = """
from gevent import monkey
monkey.patch_all()
import json, sys
import gevent, gevent.event
import billcore

waiting, others_done = gevent.event.Event(), gevent.event.Event()

class Hooks(billcore.Hooks):
    def on_request(self, attempt):
        if gevent.getcurrent() is victim:
            waiting.set()
            gevent.event.Event().wait()
        gevent.sleep(0)

    def on_response(self, attempt):
        if gevent.getcurrent() is victim:
            others_done.wait()
        gevent.sleep(0)

client = billcore.Client(base_url=sys.argv[1], api_key=sys.argv[2], max_retries=0, timeout=50, hooks=Hooks())

def charge(number):
    return client.subscriptions.charge("s", product_id=1, amount=number).total_with_vat

victim = gevent.spawn(charge, 900)
waiting.wait()
others = [gevent.spawn(charge, number) for number in range(9)]
victim.kill(block=False)
gevent.joinall(others, raise_error=True)
others_done.set()
victim.join()
print(json.dumps([[other.value for other in others], type(victim.value).__name__]))
"""


class Service:
    """A service that holds back each charge with an amount above 1000 until AT_ONCE such charges have arrived."""

    def __init__(self) -> None:
        self.charges: Counter[int] = Counter()
        self._lock = threading.Lock()
        self._together = threading.Barrier(AT_ONCE)

    def __call__(self, request: Request) -> Reply:
        if "/product" in request.target:
            return data(PRODUCT) if request.target.endswith("/1") else Reply(404)
        if request.method == "GET":
            number = number_of(request)
            return page([{**ORDER, "id": f"o{number}{letter}"} for letter in "ab"], number, 10)
        amount = json.loads(request.body)["amount"]
        with self._lock:
            self.charges[amount] += 1
        if amount > 1000:
            self._together.wait(GENEROUS)
        return data({**ORDER, "total_with_vat": amount})


# Greenlets move their stacks, which AddressSanitizer reports as an error.
@pytest.mark.skipif(SANITIZED, reason="runs with the optimised modules")
def test_calls_in_greenlets_and_in_gevents_pool() -> None:
    """Calls in a greenlet give the right results; in gevent's thread pool they do not block the other greenlets."""
    service = Service()
    numbers = [*range(1001, 1001 + AT_ONCE), *range(40)]
    with ScriptedServer(service) as server:
        printed = run_python(PROGRAM, server.url + ACCOUNT, API_KEY, str(AT_ONCE))
    assert json.loads(printed) == [*numbers, *[20] * 10]
    assert service.charges == Counter(numbers)


@pytest.mark.skipif(SANITIZED, reason="runs with the optimised modules")
@pytest.mark.parametrize("hooks", ["hooks", ""])
def test_a_call_in_gevents_pool_takes_no_lock_of_gevent(hooks: str) -> None:
    """gevent replaces Python's locks, also those of imports and of logging; a thread of its pool that waits for such
    a lock may wait forever (gevent issue 2013)."""
    with ScriptedServer(Service()) as server:
        done, taken, counted = json.loads(run_python(LOCKS, server.url + ACCOUNT, API_KEY, hooks))
    assert done == [2, 20, 2025, "12.5"]
    assert taken == []
    assert counted > 0


@pytest.mark.skipif(SANITIZED, reason="runs with the optimised modules")
def test_a_hook_may_switch_to_another_greenlet() -> None:
    """A hook that sends a metric through a socket of gevent switches greenlets; other calls begin and end meanwhile."""
    with ScriptedServer(Service()) as server:
        printed = run_python(SWITCHES, server.url + ACCOUNT, API_KEY)
    assert json.loads(printed) == [7, 404, "o1a", 200, 20, 20, 10, 20, [42, 42, 42]] * 5


@pytest.mark.skipif(SANITIZED, reason="runs with the optimised modules")
def test_a_killed_greenlet_ends_its_own_call_only() -> None:
    with ScriptedServer(Service()) as server:
        printed = run_python(KILLED, server.url + ACCOUNT, API_KEY)
    assert json.loads(printed) == [[*range(9)], "GreenletExit"]
