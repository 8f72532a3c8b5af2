"""The history: how many records are kept, waiting for a change of the records, and the log of --log."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import sqlite3
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from billcore_sandbox import clock, store_schema
from billcore_sandbox.errors import Refusal
from billcore_sandbox.options import Options
from billcore_sandbox.store import Store

T = TypeVar("T")
# Maps a table to its key and the condition for finished rows. trim() keeps the latest finished rows, and all
# unfinished rows.
_KEPT = {
    "requests": ("id", "id NOT IN (SELECT subject FROM jobs WHERE kind = 'request')"),
    "ledger": ("id", "1"),
    "deliveries": ("seq", store_schema.ENDED),
}
_MOST_AT_ONCE = 1000
_MASKED = ("x-api-key", "authorization", "proxy-authorization", "cookie")
_MOST_LOGGED = 2000  # characters of a body


class History:
    """The methods of History are called after each change of the records in the store."""

    def __init__(self, options: Options, store: Store) -> None:
        self._store = store
        self._logs = options.log is not None
        self._keep = options.keep
        self._new = 0  # records since the last trim()
        self._waiting: dict[asyncio.Event, Refusal | None] = {}  # for each wait(), why it is refused

    def answered(self, number: int) -> None:
        """Call this after a request was answered, or after its connection was closed without an answer."""
        self.changed()
        if self._logs:
            row = self._store.one("SELECT * FROM requests WHERE id = ?", number)
            if row is not None:
                shown = request(row)
                headers = [[name, "***" if name.lower() in _MASKED else text] for name, text in shown["headers"]]
                write("request", shown | {"headers": headers, "body": shown["body"][:_MOST_LOGGED]})

    def effects(self, recorded: list[int]) -> None:
        """Call this after an effect was committed. recorded: the ids of its rows in the ledger."""
        self.changed(1 + len(recorded))
        if self._logs:
            for number in recorded:
                if (row := self._store.one("SELECT * FROM ledger WHERE id = ?", number)) is not None:
                    shown = effect(self._store, row)
                    write("effect", {"effect": shown.pop("kind"), **shown})

    def attempts(self, seq: int, made: list[dict[str, Any]]) -> None:
        """Call this after attempts of a delivery were recorded."""
        if self._logs:
            row = self._store.one("SELECT * FROM deliveries WHERE seq = ?", seq)
            if row is None:
                return
            shown = {name: row[name] for name in ("seq", "id", "endpoint_id", "event", "url", "state")}
            shown["account"] = self._store.uuid_of(row["account"])
            for attempt in made:
                write("attempt", shown | {name: attempt.get(name) for name in ("at", "status", "error", "fault")})

    def end(self, status: int, code: str, message: str) -> None:
        """Call this after a reset and at the end: every wait() is refused, because the earlier records are deleted."""
        for each in self._waiting:
            self._waiting[each] = Refusal(status, code, message)
        self.changed()

    def trim(self) -> None:
        """Delete the finished records of each table, except the latest (--keep)."""
        self._new = 0
        with contextlib.suppress(sqlite3.Error):  # such as a full disk: the next trim() deletes the records
            for table, (key, ended) in _KEPT.items():
                last = f"SELECT {key} FROM {table} WHERE {ended} ORDER BY {key} DESC LIMIT 1 OFFSET ?"
                sql = f"DELETE FROM {table} WHERE {ended} AND {key} <= ({last})"
                self._store.db.execute(sql, (self._keep,))

    async def wait(self, look: Callable[[], T | None], timeout: float) -> T | None:
        """Call `look` now and after each change until it finds something; None if the time-out expires first."""
        changed = asyncio.Event()
        self._waiting[changed] = None
        try:
            async with asyncio.timeout(timeout):
                while (found := look()) is None:
                    changed.clear()
                    await changed.wait()
                    if (refusal := self._waiting[changed]) is not None:
                        raise refusal
                return found
        except TimeoutError:
            return look()
        finally:
            del self._waiting[changed]

    def changed(self, new: int = 0) -> None:
        """Call this after any other change, such as `new` records: every wait() checks its condition again."""
        self._new += new
        # Trim only after many new records, because trim() takes time to find the oldest record to keep.
        if self._new >= min(_MOST_AT_ONCE, max(1, self._keep // 10)):
            self.trim()
        for each in self._waiting:
            each.set()


def request(row: sqlite3.Row) -> Any:
    """A row of the table `requests`, as the control routes show it."""
    return dict(row) | {name: json.loads(row[name] or "null") for name in ("headers", "unknown", "late")}


def effect(store: Store, row: sqlite3.Row) -> Any:
    """A row of the table `ledger`, as the control routes show it."""
    shown = {name: row[name] for name in ("id", "at", "kind")}
    return {**shown, "account": store.uuid_of(row["account"]), **json.loads(row["details"])}


def write(kind: str, fields: dict[str, Any]) -> None:
    """Write one line of the log to stderr."""
    with contextlib.suppress(OSError, ValueError):  # stderr may be closed
        print(json.dumps({"kind": kind} | fields), file=sys.stderr, flush=True)


class Lines(logging.Formatter):
    """Formats warnings and errors as JSON lines of the log."""

    def format(self, record: logging.LogRecord) -> str:
        trace = {"trace": self.formatException(record.exc_info)} if record.exc_info else {}
        at = clock.iso_precise(clock.real())
        return json.dumps({"kind": "warning", "at": at, "message": record.getMessage(), **trace})
