"""Work: the changes of one route or job, and what they need. World.effect() opens and commits them."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from billcore_sandbox import clock
from billcore_sandbox.faults import Faults
from billcore_sandbox.store import Account, Store

_STATE_CHANGE = (
    'INSERT INTO state_changes (at, account, object, object_id, "from", "to", cause, event, request_id)'
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_LINK_DELIVERY = "UPDATE deliveries SET effect_id = ? WHERE seq = ?"
_LINK_STATE = "UPDATE state_changes SET effect_id = ? WHERE id = ?"


class Transitions(Protocol):
    """The state machines: see lifecycle.Machine."""

    def create(self, work: Work, machine: str, cause: str, columns: dict[str, Any]) -> sqlite3.Row: ...

    def fire(self, work: Work, machine: str, row: sqlite3.Row, cause: str, **given: Any) -> sqlite3.Row: ...


@dataclass(frozen=True, slots=True)
class Given:
    """What every Work of a sandbox uses.

    may_reach: whether events may be delivered to a URL. new_secret: makes a secret for an endpoint.
    """

    store: Store
    machine: Transitions
    faults: Faults
    may_reach: Callable[[str], bool]
    new_secret: Callable[..., str]


class Work:
    """One effect of one account, before its commit: its time, its ledger rows, its jobs, its events."""

    def __init__(self, given: Given, account: Account, now: datetime | None = None, request: int | None = None) -> None:
        self.account, self.request = account, request
        self.options, self.machine, self.faults = account.options, given.machine, given.faults
        self.may_reach, self.new_secret = given.may_reach, given.new_secret
        store = given.store
        self.db: sqlite3.Connection = store.db
        self.insert, self.update, self.last_id = store.insert, store.update, store.last_id
        self.now: datetime = now if now is not None else account.clock.now()
        self.at = clock.iso_precise(self.now)
        self.new_deliveries: list[int] = []
        self.recorded: list[int] = []  # ids of ledger rows
        self.made: list[int] = []  # seqs of deliveries
        self._states: list[int] = []  # ids of changes of states
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
        about = {"at": self.at, "account": self.account.number, "request_id": self.request}
        self.recorded.append(self.insert("ledger", {**about, "kind": kind, "details": json.dumps(details)}))

    def change(self, kind: str, subject: int, **details: Any) -> int:
        """Add what has no table of its own to the history; returns the id of the change."""
        details = {"at": self.at, **details}
        columns = {"kind": kind, "account": self.account.number, "subject": subject, "details": json.dumps(details)}
        return self.insert("changes", columns)

    @property
    def state_id(self) -> int | None:
        """The id of the latest change of an object's state, which fires the next event."""
        return self._states[-1] if self._states else None

    def enter(self, machine: str, number: int, before: str, after: str, cause: str, event: str | None) -> None:
        """Record that an object came from a state into another, or stayed in its state."""
        row = (self.at, self.account.number, machine, number, before, after, cause, event, self.request)
        self._states.append(self.db.execute(_STATE_CHANGE, row).lastrowid or 0)

    def link(self) -> None:
        """Write the id of the effect to the deliveries and state changes that it made: call this before the commit."""
        for effect in self.recorded[:1]:
            for sql, made in ((_LINK_DELIVERY, self.made), (_LINK_STATE, self._states)):
                if made:
                    self.db.executemany(sql, [(effect, each) for each in made])

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


class Open(Protocol):
    """World.effect(): opens a Work of an account with the time `now`, and commits it."""

    def __call__(self, account: Account, now: datetime | None = None) -> AbstractContextManager[Work]: ...
