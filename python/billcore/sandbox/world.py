"""What all parts share: options, store, faults, deliveries; and the transaction of an effect.

An effect, its ledger row and the deliveries it causes are one SQLite transaction: none of them exists without the
others. Deliveries start when it has been committed.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from billcore.sandbox import clock, events
from billcore.sandbox.delivery import Dispatcher
from billcore.sandbox.errors import encode
from billcore.sandbox.faults import Faults
from billcore.sandbox.options import Options
from billcore.sandbox.store import Account, Store


class Work:
    """One open effect of one account: its time, its ledger rows, its events."""

    def __init__(self, world: World, account: Account) -> None:
        self._world = world
        self.account = account
        self.db: sqlite3.Connection = world.store.db
        self.now: datetime = clock.now()
        self.new_deliveries: list[int] = []

    def record(self, kind: str, **details: Any) -> None:
        """Add the effect to the ledger."""
        self.db.execute(
            "INSERT INTO ledger (at, account, kind, details) VALUES (?, ?, ?, ?)",
            (clock.iso_precise(self.now), self.account.number, kind, json.dumps(details)),
        )

    def emit(self, event: str, data: dict[str, Any]) -> None:
        """Fire `event` with the full resource `data`: one delivery for every endpoint of the account."""
        for endpoint in self.db.execute(
            "SELECT * FROM endpoints WHERE account = ? ORDER BY id", (self.account.number,)
        ).fetchall():
            delivery_id = self._reserve()
            shaped = encode(events.shape(self._world.options, event, delivery_id, data))
            self._insert(delivery_id, delivery_id, endpoint, event, clock.iso(self.now), shaped)

    def test_hook(self, endpoint: sqlite3.Row, data: Any) -> None:
        """The event that an administrator sends to try an endpoint; its envelope id is 0."""
        self._insert(self._reserve(), 0, endpoint, events.TEST_HOOK, clock.iso(self.now), encode(data))

    def replay(self, delivery: sqlite3.Row, endpoint: sqlite3.Row) -> int:
        """Send a delivery's payload again under a new id; returns that id."""
        delivery_id = self._reserve()
        self._insert(delivery_id, delivery_id, endpoint, delivery["event"], delivery["created_at"], delivery["data"])
        return delivery_id

    def _reserve(self) -> int:
        self.db.execute("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'deliveries'")
        row = self.db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'deliveries'").fetchone()
        return int(row["seq"])

    def _insert(
        self, seq: int, delivery_id: int, endpoint: sqlite3.Row, event: str, created_at: str, data: bytes
    ) -> None:
        body = events.envelope(delivery_id, event, self.account.number, created_at, data)
        state = "pending" if self._world.dispatcher.may_reach(endpoint["url"]) else "held_back"
        self.db.execute(
            "INSERT INTO deliveries VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '[]')",
            (
                seq,
                delivery_id,
                self.account.number,
                endpoint["id"],
                event,
                endpoint["url"],
                created_at,
                data,
                body,
                events.sign(body, endpoint["secret"]),
                state,
            ),
        )
        if state == "pending":
            self.new_deliveries.append(seq)


class World:
    """The running service behind its routes."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.store = Store(options.db, options.seed)
        self.faults = Faults()
        self.dispatcher = Dispatcher(options, self.store)

    @contextmanager
    def effect(self, account: Account) -> Iterator[Work]:
        """Open an effect; when it is committed, its deliveries start."""
        with self.store.transaction():
            work = Work(self, account)
            yield work
        self.dispatcher.start(work.new_deliveries)

    def reset(self) -> None:
        """Back to the seeded state; deliveries under way are dropped."""
        self.dispatcher.drop()
        self.faults.clear()
        self.store.reset()
