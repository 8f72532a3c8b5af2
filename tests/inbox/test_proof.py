"""Kills workers that receive deliveries, and cuts their database connections; then checks that events are handled once.

The sandbox sends 30 % of the events twice at the same moment, and some out of order. BILLCORE_PROOF=all tests/run.sh
inbox makes more deliveries.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import signal
import socket
import time
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

import billcore
from billcore import inbox, webhooks
from billcore.testing import Sandbox, SandboxAccount
from journal.support import Database, PostgresDatabase

DELIVERIES = 10_000 if os.environ.get("BILLCORE_PROOF") == "all" else 400
WORKERS = 8
SEED = 20261126
DUPLICATES, REORDERED = 0.3, 0.1
EVENTS = ("order.confirmed", "order.paid")  # of each charge
CUT = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1"""


def handle(connection: Any, event: webhooks.Event, rng: random.Random) -> None:
    """The receiver of python/docs/inbox.md, with random pauses, so that a kill may come between statements."""
    claimed = inbox.claim(connection, event)
    pause(rng)
    if claimed:
        assert isinstance(event, (webhooks.OrderConfirmed, webhooks.OrderPaid))
        connection.execute(f"INSERT INTO effects VALUES ('{event.name} {event.data.id}')")
    pause(rng)
    connection.commit()
    pause(rng)


def pause(rng: random.Random) -> None:
    if rng.random() < 0.1:
        time.sleep(rng.uniform(0, 0.02))


class Receiver(BaseHTTPRequestHandler):
    """Answers with the statuses of the table in python/docs/inbox.md."""

    server: Worker

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(self.server.answer(body, self.headers["Service-Signature"]))
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        return


class Worker(HTTPServer):
    """The server of one worker process; all workers accept connections from the same socket."""

    def __init__(self, listening: socket.socket, database: Database, secret: str, seed: int) -> None:
        super().__init__(("127.0.0.1", 0), Receiver, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        self._database = database
        self._verifier, self._rng = webhooks.Verifier(secret), random.Random(seed)
        self._connection: Any = None

    def answer(self, body: bytes, signature: str) -> int:
        event = self._verifier.unwrap(body, signature)
        try:
            self._connection = self._connection or self._database.connect()
            handle(self._connection, event, self._rng)
        except Exception as error:  # after a failed commit, the claim of the next delivery shows the outcome
            if self._connection is not None:
                self._connection.close()
            self._connection = None
            return 503 if isinstance(error, inbox.InboxBusyError) else 500
        return 200


def charge(account: SandboxAccount, charges: int) -> None:
    """Makes charges, which cause the events."""
    ids = account.ids
    with billcore.Client(base_url=account.base_url, api_key=account.api_key) as client:
        for _ in range(charges):
            client.subscriptions.charge(
                ids["subscriptions"]["demo-active"], product_id=ids["products"]["one_time"], amount=1500
            )


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(keep=10 * DELIVERIES) as sandbox:
        yield sandbox


def test_each_event_is_handled_once(database: Database, sandbox: Sandbox) -> None:
    rng = random.Random(SEED)
    account = sandbox.new_account()
    control = account.control
    charges = round(DELIVERIES / (1 + DUPLICATES) / len(EVENTS))
    fork = multiprocessing.get_context("fork")
    counts: Counter[str] = Counter()
    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=256))
        endpoint = control.create_endpoint(
            f"http://127.0.0.1:{listening.getsockname()[1]}/",
            concurrency=2 * WORKERS,
            retry_schedule=[0.05] * 100,
            keep_alive=False,
        )
        control.fault("event_duplicate", concurrent=True, times=10**6, probability=DUPLICATES)
        control.fault("event_reorder", delay=1, times=10**6, probability=REORDERED)

        def start() -> Any:
            arguments = (listening, database, endpoint["secret"], rng.randrange(2**32))
            worker = fork.Process(target=lambda: Worker(*arguments).serve_forever(), daemon=True)
            worker.start()
            return worker

        running = [start() for _ in range(WORKERS)]
        stack.callback(lambda: [(worker.kill(), worker.join()) for worker in running])
        source = fork.Process(target=charge, args=(account, charges), daemon=True)
        source.start()
        while source.exitcode is None or control.deliveries(state="pending", limit=1):
            time.sleep(rng.uniform(0, 0.1))
            assert all(worker.exitcode is None for worker in running), "a worker ended"
            if isinstance(database, PostgresDatabase) and rng.random() < 0.5:
                counts["cuts"] += len(database.execute(CUT))
                continue
            at = rng.randrange(WORKERS)
            running[at].kill()
            running[at].join()
            assert running[at].exitcode == -signal.SIGKILL
            running[at] = start()
            counts["kills"] += 1
        assert source.exitcode == 0
    sent = control.deliveries()
    effects = [text for (text,) in database.execute("SELECT id FROM effects")]
    claims = [row for (row,) in database.execute("SELECT id FROM billcore_inbox")]
    events = {str(delivery["id"]) for delivery in sent}
    expected = [f"{name} {each['order_id']}" for each in control.ledger("charge") for name in EVENTS]
    failed = [delivery for delivery in sent if delivery["state"] != "delivered"]
    assert len(expected) == charges * len(EVENTS) and not failed, failed[:1]
    difference = Counter(effects)
    difference.subtract(expected)
    assert not any(difference.values()), f"twice (1) or lost (-1): {dict(+difference)} {dict(-difference)}"
    assert sorted(claims) == sorted(events), f"claims without an event, or the reverse: {set(claims) ^ events}"
    attempts = sum(len(each["attempts"]) for each in sent)
    print(dict(counts), f"deliveries: {len(sent)}, attempts: {attempts}, claims: {len(claims)}")
    assert len(sent) > len(claims) and counts["kills"] > 0
