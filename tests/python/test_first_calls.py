"""Threads make the first calls of a process concurrently; the library's lazy initialisation must not deadlock."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.server import Reply, Request, ScriptedServer

from .support import ACCOUNT, API_KEY, SUBSCRIPTION, data, run_together

PROCESSES = 6
THREADS = 8

PREAMBLE = """
import sys, threading
import billcore
options = dict(base_url=sys.argv[1], api_key=sys.argv[2], max_retries=0, timeout=60)
threads = int(sys.argv[3])
class Hooks:
    def on_request(self, attempt):
        pass

def at_once(work):
    together = threading.Barrier(threads)
    ended = []
    def one():
        together.wait()
        work()
        ended.append(None)
    running = [threading.Thread(target=one, daemon=True) for _ in range(threads)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    print(len(ended))
"""

FIRST = {
    "hooks": """
client = billcore.Client(**options, hooks=Hooks())
at_once(lambda: client.subscriptions.get("s"))
""",
    "logging": """
import logging
logging.basicConfig(level=logging.INFO)
client = billcore.Client(**options)
at_once(lambda: client.subscriptions.get("s"))
""",
    "an error": """
client = billcore.Client(**options)
def work():
    try:
        client.subscriptions.get("none")
    except billcore.NotFoundError:
        pass
at_once(work)
""",
    "an event loop": """
client = billcore.AsyncClient(**options, hooks=Hooks())
def work():
    # asyncio is not imported before the call: the client imports it, as run() does.
    call = client.subscriptions.get("s")
    import asyncio
    asyncio.run(call)
at_once(work)
""",
    "a verifier": """
from billcore import webhooks
def work():
    try:
        webhooks.verify(b"", None, "k" * 32)
    except webhooks.SignatureError:
        pass
    event = b'{"id": 1, "name": "order.paid", "created_at": "2025-04-25T10:00:00Z", "data": {"price": 1.5}}'
    webhooks.unwrap(event, webhooks.sign(event, "k" * 32), "k" * 32).created_at
at_once(work)
""",
}


def script(request: Request) -> Reply:
    return Reply(status=404, body=b"{}") if request.target.endswith("/none") else data(SUBSCRIPTION)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with ScriptedServer(script) as server:
        yield server.url + ACCOUNT


@pytest.mark.parametrize("first", FIRST)
def test_threads_that_make_the_first_calls_at_once_all_end(first: str, url: str) -> None:
    ended = run_together(PREAMBLE + FIRST[first], [(url, API_KEY, str(THREADS))] * PROCESSES)
    assert ended == [(0, f"{THREADS}\n", "")] * PROCESSES
