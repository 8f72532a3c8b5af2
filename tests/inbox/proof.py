"""Kills workers that receive deliveries, and cuts their database connections; then checks that events are handled once.

    BILLCORE_PROOF=all tests/run.sh inbox

The sandbox sends 30 % of the events twice at the same moment, and some out of order. The program prints one line of
counts for each database, and ends with an error if an event was handled twice or not at all.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import random
import signal
import socket
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import billcore
from billcore import inbox, webhooks
from billcore.testing import Sandbox, SandboxAccount
from journal.support import Database, PostgresDatabase, SqliteDatabase
from support.postgres import Postgres

from .support import prepare

DUPLICATES, REORDERED = 0.3, 0.1
EVENTS = ("order.confirmed", "order.paid")  # of each charge
CUT = """SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() ORDER BY random() LIMIT 1"""

# Handles an event on a connection; returns whether the event was new.
Handler = Callable[[Any, webhooks.Event, random.Random], bool]


def once(connection: Any, event: webhooks.Event, rng: random.Random) -> bool:
    """The receiver of python/docs/inbox.md, with random pauses, so that a kill may come between statements."""
    claimed = inbox.claim(connection, event)
    pause(rng)
    if claimed:
        effect(connection, event)
    pause(rng)
    connection.commit()
    pause(rng)
    return claimed


def effect(connection: Any, event: webhooks.Event) -> None:
    assert isinstance(event, (webhooks.OrderConfirmed, webhooks.OrderPaid))
    connection.execute(f"INSERT INTO effects VALUES ('{event.name} {event.data.id}')")


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

    def __init__(self, listening: socket.socket, database: Database, secret: str, handler: Handler, seed: int) -> None:
        super().__init__(("127.0.0.1", 0), Receiver, bind_and_activate=False)
        self.socket.close()
        self.socket = listening
        self._database, self._handler = database, handler
        self._verifier, self._rng = webhooks.Verifier(secret), random.Random(seed)
        self._connection: Any = None

    def answer(self, body: bytes, signature: str) -> int:
        event = self._verifier.unwrap(body, signature)
        try:
            self._connection = self._connection or self._database.connect()
            self._handler(self._connection, event, self._rng)
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


def prove(
    database: Database, sandbox: Sandbox, *, deliveries: int, workers: int, seed: int, handler: Handler = once
) -> dict[str, int]:
    """Runs the whole check; returns its counts. Raises AssertionError if an event was not handled exactly once."""
    rng = random.Random(seed)
    account = sandbox.new_account()
    control = account.control
    charges = round(deliveries / (1 + DUPLICATES) / len(EVENTS))
    fork = multiprocessing.get_context("fork")
    counts: Counter[str] = Counter()
    with contextlib.ExitStack() as stack:
        listening = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=256))
        endpoint = control.create_endpoint(
            f"http://127.0.0.1:{listening.getsockname()[1]}/",
            concurrency=2 * workers,
            retry_schedule=[0.05] * 100,
            keep_alive=False,
        )
        control.fault("event_duplicate", concurrent=True, times=10**6, probability=DUPLICATES)
        control.fault("event_reorder", delay=1, times=10**6, probability=REORDERED)

        def start() -> Any:
            arguments = (listening, database, endpoint["secret"], handler, rng.randrange(2**32))
            worker = fork.Process(target=lambda: Worker(*arguments).serve_forever(), daemon=True)
            worker.start()
            return worker

        running = [start() for _ in range(workers)]
        stack.callback(lambda: [(worker.kill(), worker.join()) for worker in running])
        source = fork.Process(target=charge, args=(account, charges), daemon=True)
        source.start()
        while source.exitcode is None or control.deliveries(state="pending", limit=1):
            time.sleep(rng.uniform(0, 0.1))
            assert all(worker.exitcode is None for worker in running), "a worker ended"
            if isinstance(database, PostgresDatabase) and rng.random() < 0.5:
                counts["cuts"] += len(database.execute(CUT))
                continue
            at = rng.randrange(workers)
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
    counts |= Counter({"deliveries": len(sent), "attempts": sum(len(each["attempts"]) for each in sent)})
    return dict(counts | Counter({"claims": len(claims), "effects": len(effects), "ledger": charges}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("deliveries", 10_000), ("workers", 8), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Sandbox(keep=10 * given.deliveries) as sandbox:
        server = Postgres()
        try:
            for database in (SqliteDatabase(Path(folder) / "events.db"), PostgresDatabase(server)):
                prepare(database)
                begun = time.monotonic()
                counts = prove(database, sandbox, deliveries=given.deliveries, workers=given.workers, seed=given.seed)
                print(type(database).__name__, counts, f"{time.monotonic() - begun:.1f} s", flush=True)
        finally:
            server.close()


if __name__ == "__main__":
    main()
