"""The client in gunicorn's gevent worker, which patches the standard library and runs all requests in one thread."""

from __future__ import annotations

import contextlib
import http.client
import json
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from conformance.server import Reply, Request, ScriptedServer
from support.waiting import GENEROUS

from .gunicorn_support import gunicorn
from .support import ACCOUNT, API_KEY, ORDER, SANITIZED, data, page

AT_ONCE = 6  # charges that the service holds back until all of them have arrived

APPLICATION = """
import os
import gevent
import billcore


class Hooks(billcore.Hooks):
    def on_response(self, attempt):
        gevent.getcurrent().told = attempt.status

options = dict(base_url=os.environ["URL"], api_key=os.environ["KEY"], max_retries=0, timeout=50)
client = billcore.Client(**options, hooks=Hooks())

def charge(number):
    made = client.subscriptions.charge("s", product_id=1, amount=number)
    assert gevent.getcurrent().told == 200
    return str(made.total_with_vat)

def read(number):
    return str(len(client.subscriptions.orders("s").collect()))

def application(environ, start_response):
    _, where, what, number = environ["PATH_INFO"].split("/")
    work = {"charge": charge, "read": read}[what]
    if where == "pool":
        body = gevent.get_hub().threadpool.apply(work, (int(number),))
    else:
        body = work(int(number))
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body.encode()]
"""


class Service:
    """A service that holds back each charge with an amount above 1000 until AT_ONCE such charges have arrived."""

    def __init__(self) -> None:
        self.charges: Counter[int] = Counter()
        self._lock = threading.Lock()
        self._together = threading.Barrier(AT_ONCE)

    def __call__(self, request: Request) -> Reply:
        if request.method == "GET":
            number = int(request.target.partition("page=")[2].partition("&")[0] or 1)
            return page([{**ORDER, "id": f"o{number}{letter}"} for letter in "ab"], number, 10)
        amount = json.loads(request.body)["amount"]
        with self._lock:
            self.charges[amount] += 1
        if amount > 1000:
            self._together.wait(GENEROUS)
        return data({**ORDER, "total_with_vat": amount})


def ask(port: int, path: str) -> str:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=GENEROUS)) as connection:
        connection.request("GET", path)
        response = connection.getresponse()
        body = response.read().decode()
    assert response.status == 200, body
    return body


# Greenlets move their stacks, which AddressSanitizer reports as an error.
@pytest.mark.skipif(SANITIZED, reason="runs with the optimised modules")
def test_workers_of_gevent(tmp_path: Path) -> None:
    """Calls in a greenlet give the right results; in gevent's thread pool they do not block the other greenlets."""
    (tmp_path / "application.py").write_text(APPLICATION)
    service = Service()
    numbers = [*range(1, 41), *range(1001, 1001 + AT_ONCE)]
    paths = [f"/{'pool' if number % 2 or number > 1000 else 'here'}/charge/{number}" for number in numbers]
    reads = ["/pool/read/0", "/here/read/0"] * 5
    with ScriptedServer(service) as server, ThreadPoolExecutor(16) as pool:
        options = ["-k", "gevent", "--no-control-socket"]
        with gunicorn(tmp_path, options, URL=server.url + ACCOUNT, KEY=API_KEY) as port:
            assert list(pool.map(lambda path: ask(port, path), paths)) == [str(number) for number in numbers]
            assert set(pool.map(lambda path: ask(port, path), reads)) == {"20"}
    assert service.charges == Counter(numbers)
