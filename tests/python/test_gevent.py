"""The client in a program of gevent, which patches the standard library and runs all greenlets in one thread, as
gunicorn's gevent worker does."""

from __future__ import annotations

import json
import threading
from collections import Counter

import pytest

from conformance.server import Reply, Request, ScriptedServer
from support.waiting import GENEROUS

from .support import ACCOUNT, API_KEY, ORDER, SANITIZED, data, number_of, page, run_python

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


class Service:
    """A service that holds back each charge with an amount above 1000 until AT_ONCE such charges have arrived."""

    def __init__(self) -> None:
        self.charges: Counter[int] = Counter()
        self._lock = threading.Lock()
        self._together = threading.Barrier(AT_ONCE)

    def __call__(self, request: Request) -> Reply:
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
