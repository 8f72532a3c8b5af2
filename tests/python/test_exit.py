"""A process that exits while daemon threads run library code does not crash, print anything or hang."""

from __future__ import annotations

import ssl
from collections.abc import Iterator

import pytest

from conformance.server import Reply, Request, ScriptedServer

from .support import ACCOUNT, API_KEY, ORDER, SANITIZED, SECRET, SUBSCRIPTION, data, page, run_together, sign

PROCESSES = 3 if SANITIZED else 4  # processes of each kind; each one exits at a different moment
THREADS = 8

PREAMBLE = """
import asyncio, gc, logging, os, sys, threading, time
import billcore
from billcore import webhooks
url, api_key, ca_bundle, secret, signature, threads, pause = sys.argv[1:]
options = dict(base_url=url, api_key=api_key, ca_bundle=ca_bundle or None, max_retries=0, timeout=60)
body = b"x" * 200_000
begun = threading.Semaphore(0)

def daemons(work):
    def endless():
        begun.release()
        while True:
            work()
    for _ in range(int(threads)):
        threading.Thread(target=endless, daemon=True).start()
    for _ in range(int(threads)):
        begun.acquire()
    time.sleep(float(pause))
"""

# Programs in which daemon threads repeat a piece of work.
KINDS = {
    "errors that take long to make": """
make = billcore.NotFoundError.__init__
def slowly(self, *arguments, **more):
    time.sleep(0.02)
    make(self, *arguments, **more)
billcore.NotFoundError.__init__ = slowly
client = billcore.Client(**options)
def work():
    try:
        client.subscriptions.get("none")
    except billcore.NotFoundError:
        pass
daemons(work)
""",
    "waits": """
client = billcore.Client(**options)
daemons(lambda: client.subscriptions.get("late"))
""",
    "hooks": """
class Hooks:
    def on_request(self, attempt):
        sum(range(100))
    def on_response(self, attempt):
        time.sleep(0.001)
    def __del__(self):
        time.sleep(0.001)
def work():
    client = billcore.Client(**options, hooks=Hooks())
    client.subscriptions.get("s")
daemons(work)
""",
    "blocked hooks": """
class Hooks:
    def on_response(self, attempt):
        begun.release()
        time.sleep(0.05)
client = billcore.Client(**options, hooks=Hooks())
daemons(lambda: client.subscriptions.get("s"))
""",
    "writes that wait, with hooks": """
class Hooks:
    def on_response(self, attempt):
        print("told", attempt.error, flush=True)
client = billcore.Client(**options, hooks=Hooks())
other = billcore.Client(**options)
daemons(lambda: client.subscriptions.cancel("late"))
daemons(lambda: other.subscriptions.cancel("late"))
""",
    "calls, errors, lists and logging": """
logging.getLogger("billcore").addHandler(logging.NullHandler())
logging.getLogger("billcore").setLevel(logging.DEBUG)
client = billcore.Client(**options)
def work():
    client.subscriptions.get("s")
    try:
        client.subscriptions.get("none")
    except billcore.NotFoundError:
        pass
    for order in client.subscriptions.orders("s"):
        order.created_at
    for batch in client.subscriptions.orders("s").to_batches():
        pass
    with billcore.Client(**options) as own:
        own.products.list().first()
daemons(work)
""",
    "event loops": """
client = billcore.AsyncClient(**options)
async def calls():
    await asyncio.gather(*(client.subscriptions.get("s") for _ in range(4)))
    async for order in client.subscriptions.orders("s"):
        pass
daemons(lambda: asyncio.run(calls()))
""",
    "webhooks": """
def clock():
    time.sleep(0.001)
    return 0.0
verifier = webhooks.Verifier(secret, freshness=60, clock=clock)
event = b'{"id": 1, "name": "order.paid", "created_at": "1970-01-01T00:00:00Z", "data": {}}' + b" " * 100_000
signed = webhooks.sign(event, secret)
def work():
    webhooks.verify(body, signature, secret)
    verifier.unwrap(event, signed).data
    stream = webhooks.Verifier(secret).stream()
    stream.update(body)
    stream.finish(signature)
daemons(work)
""",
    "the main thread calls while the interpreter finalizes": """
client = billcore.Client(**options)
class Nothing:
    def on_response(self, attempt):
        pass
class Last:
    def __init__(self):
        self.client = billcore.Client(**options, hooks=Nothing())
        self.print = print
    def __del__(self):
        with self.client as own:
            self.print("called", own.subscriptions.get("s").id, flush=True)
billcore._last = Last()  # destroyed when the module is cleared during finalization
daemons(lambda: client.subscriptions.get("late"))
""",
}


def script(request: Request) -> Reply:
    if "/late" in request.target:
        return Reply(raw=b"", ending="hang")
    if request.target.endswith("/none"):
        return Reply(status=404, body=b"{}")
    if "/orders" in request.target:
        return page([{**ORDER, "id": f"o{number}"} for number in range(3)], 1, 1)
    if "/product" in request.target:
        return page([{"id": 1}], 1, 1)
    return data(SUBSCRIPTION)


@pytest.fixture(scope="module", params=["tls"] if SANITIZED else ["plain", "tls"])
def server(request: pytest.FixtureRequest, tls: tuple[ssl.SSLContext, str]) -> Iterator[tuple[str, str]]:
    """The address of a server, and the certificate to trust."""
    context, certificate = tls if request.param == "tls" else (None, "")
    with ScriptedServer(script, tls=context) as running:
        yield running.url + ACCOUNT, certificate


@pytest.mark.parametrize("kind", KINDS)
def test_the_process_ends_while_daemon_threads_are_in_calls(kind: str, server: tuple[str, str]) -> None:
    url, certificate = server
    fixed = (url, API_KEY, certificate, SECRET, sign(b"x" * 200_000), str(THREADS))
    pauses = [str(0.05 + 0.037 * number) for number in range(PROCESSES)]
    ended = run_together(PREAMBLE + KINDS[kind], [(*fixed, pause) for pause in pauses])
    said = "called sub_1\n" if "finalizes" in kind else ""
    assert ended == [(0, said, "")] * PROCESSES
