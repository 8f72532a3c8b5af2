"""World: the state that all routes share, such as the store, the jobs and the deliveries. Work: the changes of one
route.

A change, its ledger row, its jobs and its deliveries are written in one SQLite transaction: all or none. The
deliveries start after the commit.
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from billcore_sandbox import clock, events, outbox
from billcore_sandbox.delivery import Dispatcher
from billcore_sandbox.faults import Faults
from billcore_sandbox.history import History
from billcore_sandbox.jobs import Jobs
from billcore_sandbox.lifecycle import Machine
from billcore_sandbox.options import SECRET_LENGTH, Options
from billcore_sandbox.store import Account, Store
from billcore_sandbox.strictness import Unknown


class Work:
    """One effect of one account, before its commit: its time, its ledger rows, its jobs, its events."""

    def __init__(self, world: World, account: Account, now: datetime | None = None) -> None:
        self.world = world
        self.account = account
        self.options = world.options
        self.machine = world.machine
        self.db: sqlite3.Connection = world.store.db
        self.insert, self.update = world.store.insert, world.store.update
        self.now: datetime = now if now is not None else account.clock.now()
        self.new_deliveries: list[int] = []
        self.recorded: list[int] = []  # ids of ledger rows
        self.next_due: datetime | None = None
        self._receivers: list[sqlite3.Row] | None = None
        self.new_order: sqlite3.Row | None = None  # the order that a renewal made
        self.new_key: sqlite3.Row | None = None  # the key that replaces a rotated key

    def row(self, table: str, number: int | None) -> sqlite3.Row:
        found: sqlite3.Row = self.db.execute(f"SELECT * FROM {table} WHERE id = ?", (number,)).fetchone()
        return found

    def members(self, group: int) -> list[int]:
        sql = "SELECT product_id FROM group_members WHERE group_id = ? ORDER BY product_id"
        return [row[0] for row in self.db.execute(sql, (group,))]

    def set_members(self, group: int, products: list[int]) -> None:
        self.db.execute("DELETE FROM group_members WHERE group_id = ?", (group,))
        rows = [(group, product) for product in sorted({*products})]
        self.db.executemany("INSERT INTO group_members VALUES (?, ?)", rows)

    def groups_of(self, product: int) -> list[sqlite3.Row]:
        return self.db.execute(
            "SELECT g.* FROM product_groups g JOIN group_members m ON m.group_id = g.id"
            " WHERE m.product_id = ? AND g.state = 'live' ORDER BY g.id",
            (product,),
        ).fetchall()

    def record(self, kind: str, **details: Any) -> None:
        """Add the effect to the ledger, as a row with this kind and these details."""
        at, account = clock.iso_precise(self.now), self.account.number
        columns = {"at": at, "account": account, "kind": kind, "details": json.dumps(details)}
        self.recorded.append(self.insert("ledger", columns))

    def schedule(self, kind: str, subject: int, cause: str, due: datetime) -> None:
        """Add a job that performs the action `cause` on an object when the account's clock reaches `due`.

        The job replaces the object's old job.
        """
        self.db.execute(
            "INSERT OR REPLACE INTO jobs (account, due, kind, subject, cause) VALUES (?, ?, ?, ?, ?)",
            (self.account.number, clock.iso_precise(due), kind, subject, cause),
        )
        self.next_due = due if self.next_due is None else min(due, self.next_due)

    def unschedule(self, kind: str, subject: int) -> None:
        self.db.execute("DELETE FROM jobs WHERE kind = ? AND subject = ?", (kind, subject))

    def receivers(self) -> list[sqlite3.Row]:
        """The account's enabled endpoints."""
        if self._receivers is None:
            sql = "SELECT * FROM endpoints WHERE account = ? AND state = 'enabled' ORDER BY id"
            self._receivers = self.db.execute(sql, (self.account.number,)).fetchall()
        return self._receivers

    def emit(self, event: str, data: dict[str, Any]) -> None:
        """Fire `event` with the full resource `data`."""
        outbox.emit(self, event, data)


class World:
    """The state of a running sandbox, which all routes share."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.machine = Machine()
        self.store = Store(options)
        self.faults = Faults(self.store.seed)
        self.unknown = Unknown()
        self.history = History(self)
        self.dispatcher = Dispatcher(self)
        self.jobs = Jobs(self)
        self.after_reset: list[Callable[[], object]] = []  # for example, register the receivers of --deliver
        self._held: list[Work] | None = None  # effects to announce at the end of together()

    def start(self) -> None:
        """Start the loop of jobs, and the deliveries that an earlier process left in the database file."""
        self.dispatcher.resume()
        self.jobs.start()

    def stop(self) -> None:
        self.jobs.stop()
        self.dispatcher.drop()
        self.history.end(503, "stopped", "The sandbox ends.")

    @contextmanager
    def effect(self, account: Account, now: datetime | None = None) -> Iterator[Work]:
        """Open an effect with the time `now` (default: the account's clock).

        The deliveries of the effect start after the commit.
        """
        with self.store.transaction():
            work = Work(self, account, now)
            yield work
        if self._held is None:
            self._announce([work])
        else:
            self._held.append(work)
        if work.next_due is not None:
            self.jobs.look(account, work.next_due)

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make all effects of the block take effect together, or none of them if the block raises."""
        held: list[Work] = []
        self._held = held
        try:
            with self.store.transaction():
                yield
        finally:
            self._held = None
        self._announce(held)

    def _announce(self, done: list[Work]) -> None:
        """Start the deliveries of committed effects, and wake the requests that wait for them."""
        for work in done:
            self.dispatcher.start(work.new_deliveries)
            self.history.effects(work.recorded)

    def new_secret(self, endpoint: int, old: str | None = None) -> str:
        """A secret of 32 characters: from --secret, or random, or with --seed computed from the seed and the endpoint.

        old: the secret to replace, if any; --secret is then not used, because the new secret must differ from `old`.
        """
        if self.options.secret is not None and old is None:
            return self.options.secret
        if self.options.seed is None:
            return secrets.token_hex(SECRET_LENGTH // 2)
        what = f"endpoint {endpoint}" if old is None else f"endpoint {endpoint} after {old}"
        return events.sign(what.encode(), str(self.options.seed))[:SECRET_LENGTH]

    def reset(self) -> None:
        """Restore the demo data, and cancel pending deliveries."""
        self.dispatcher.drop()
        self.faults.clear()
        self.unknown.clear()
        self.store.reset()
        for register in self.after_reset:
            register()
        self.jobs.wake()
        self.history.end(409, "reset", "The sandbox was reset while this request waited.")
