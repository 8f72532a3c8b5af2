"""GET stream: the history as server-sent events, from any point of it, as long as the reader stays connected.

A reader gets what the store has after its cursor, and nothing is kept for it in memory, so a slow reader is only late.
"""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections.abc import AsyncGenerator
from typing import Any

from billcore_sandbox import attempts
from billcore_sandbox.control import bodies
from billcore_sandbox.control.common import named_account, one_of
from billcore_sandbox.control.deliveries import record
from billcore_sandbox.errors import Refusal, invalid
from billcore_sandbox.history import effect, request, state_change
from billcore_sandbox.retention import LISTS
from billcore_sandbox.store import Account
from billcore_sandbox.world import World

KINDS = ("request", "effect", "delivery", "attempt", "state", "clock")
HEARTBEAT = 15.0  # seconds
_RETRY = b"retry: 1000\n\n"  # milliseconds after which a browser connects again
_BATCH = 200  # changes that are read at once
_CHUNK = 64 << 10  # bytes that are sent at once
# The records of these kinds change: a batch has each of them once, as it is now.
_CHANGING = ("request", "delivery")
_LIST_OF = {kept.kind: name for name, kept in LISTS.items()}
_SHOW = {"request": request, "effect": effect, "state": state_change}


def stream(world: World, query: bodies.StreamQuery) -> AsyncGenerator[bytes, None]:
    """Send everything that happens as server-sent events.

    `event` is the kind: request, effect, delivery, attempt, state or clock, and also reset, cleared and forgotten.
    `data` is the record as JSON, and `id` is a cursor for `after` or Last-Event-ID.
    """
    kinds = KINDS if query.kind is None else tuple(query.kind.split(","))
    for each in kinds:
        one_of("kind", each, KINDS)
    reader = _Reader(world, named_account(world, query.account), kinds)
    if query.after is not None:
        reader.go_to(query.after)
    return _sent(world, reader)


async def _sent(world: World, reader: _Reader) -> AsyncGenerator[bytes, None]:
    yield _RETRY
    while not reader.ended:
        if chunk := reader.read():
            yield chunk
            await asyncio.sleep(0)  # a reader that is far behind must not delay others
            continue
        try:
            if await world.history.wait(reader.may_read, HEARTBEAT) is None:
                yield b":\n\n"
        except Refusal:  # the sandbox was reset, or ends
            break
    if reader.history != world.store.history:
        yield _event("reset", f"{world.store.history}-0", {"seed": world.store.seed})


class _Reader:
    """Reads the changes of a history in order. history: the name of the history that the reader began with."""

    def __init__(self, world: World, account: Account | None, kinds: tuple[str, ...]) -> None:
        self._world, self._account = world, account
        self.history, self._position = world.store.history, world.store.last_id("changes")
        self._first = b""
        self._where, self._args = f"kind IN ('cleared', {', '.join('?' * len(kinds))})", list[Any](kinds)
        if account is not None:
            self._where += " AND (account = ? OR kind = 'cleared' AND account IS NULL)"
            self._args.append(account.number)

    def go_to(self, cursor: str) -> None:
        """Continue after a cursor. If it is of an earlier history, a reset and the whole of this history follow."""
        history, _, position = f"{self.history}-0".partition("-") if cursor == "0" else cursor.partition("-")
        if re.fullmatch("[0-9]{1,18}", position) is None:
            raise invalid("The parameter after must be the cursor of a list, the id of an event, or 0.")
        self._position = int(position)
        if history != self.history:
            self._position = 0
            self._first = _event("reset", f"{self.history}-0", {"seed": self._world.store.seed})

    @property
    def ended(self) -> bool:
        """True after a reset, and after the account was deleted."""
        known = self._account is None or self._world.store.by_uuid.get(self._account.uuid) is self._account
        return not known or self.history != self._world.store.history

    def may_read(self) -> bool | None:
        """True if there is a new change or no further change can come, else None."""
        return True if self.ended or self._position < self._world.store.last_id("changes") else None

    def read(self) -> bytes:
        """The next events: all, or about _CHUNK bytes of them."""
        events, self._first = [self._first], b""
        store, size, seen = self._world.store, 0, set()
        last = store.last_id("changes")
        lost = max(self._world.history.retention.forgotten("changes")[1] - self._position, 0)
        sql = f"SELECT * FROM changes WHERE id > ? AND {self._where} ORDER BY id LIMIT {_BATCH}"
        rows = store.all(sql, self._position, *self._args) if self._position < last else []
        for row in rows:
            self._position = row["id"]
            if row["kind"] in _CHANGING and (row["kind"], row["subject"]) in seen:
                continue
            seen.add((row["kind"], row["subject"]))
            data = self._record(row)
            if data is None:
                lost += 1
                continue
            events += [*self._forgotten(lost), _event(row["kind"], self._cursor, data)]
            lost, size = 0, size + len(events[-1])
            if size > _CHUNK:
                break
        else:
            if len(rows) < _BATCH:
                self._position = max(self._position, last)
            events += self._forgotten(lost)
        return b"".join(events)

    @property
    def _cursor(self) -> str:
        return f"{self.history}-{self._position}"

    def _forgotten(self, lost: int) -> list[bytes]:
        """The event that says how many changes were deleted before this reader read them."""
        return [_event("forgotten", self._cursor, {"changes": lost})] if lost else []

    def _record(self, change: sqlite3.Row) -> Any:
        """The record that has changed, as it is now; None if it was deleted."""
        store, kind = self._world.store, change["kind"]
        details = json.loads(change["details"] or "{}")
        if kind in ("clock", "cleared"):
            return {"account": store.uuid_of(change["account"]), **details}
        name = _LIST_OF.get(kind, "deliveries")
        row = store.one(f"SELECT * FROM {name} WHERE {LISTS[name].key} = ?", change["subject"])
        if row is None:
            return None
        if kind in _SHOW:
            return _SHOW[kind](store, row)
        if kind == "delivery":
            return record(self._world, row)
        about = {name: row[name] for name in ("seq", "id", "endpoint_id", "event", "url", "state")}
        return {**about, "account": store.uuid_of(row["account"]), **attempts.shown(row)[details["number"] - 1]}


def _event(kind: str, cursor: str, data: Any) -> bytes:
    return f"id: {cursor}\nevent: {kind}\ndata: {json.dumps(data, separators=(',', ':'))}\n\n".encode()
