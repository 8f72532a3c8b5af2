"""The history: waiting for a change of the records, how the control routes show them, and the log of --log."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import logging
import sqlite3
import sys
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from billcore_sandbox import clock
from billcore_sandbox.errors import Refusal
from billcore_sandbox.options import Options
from billcore_sandbox.retention import Retention
from billcore_sandbox.store import Store

T = TypeVar("T")
_MASKED = ("x-api-key", "authorization", "proxy-authorization", "cookie")
_MOST_LOGGED = 2000  # characters of a body


class History:
    """The methods of History are called after each change of the records in the store."""

    def __init__(self, options: Options, store: Store) -> None:
        self._store = store
        self._logs = options.log is not None
        self.retention = Retention(options, store)
        self._end: Refusal | None = None  # why every wait() is refused from now on
        self._waiting: dict[asyncio.Event, Refusal | None] = {}  # for each wait(), why it is refused

    def answered(self, number: int, size: int) -> None:
        """Call this after a request was answered with `size` bytes, or its connection was closed without an answer."""
        self.changed(size=size)
        if self._logs:
            row = self._store.one("SELECT * FROM requests WHERE id = ?", number)
            if row is not None:
                shown = request(self._store, row)
                texts = {name: (shown[name] or "")[:_MOST_LOGGED] for name in ("body", "answer_body")}
                write("request", shown | texts)

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

    def reset(self) -> None:
        """Call this after a reset: every wait() is refused, because the earlier records are deleted."""
        for each in self._waiting:
            self._waiting[each] = Refusal(409, "reset", "The sandbox was reset while this request waited.")
        self.changed()

    def stop(self) -> None:
        """Call this when the sandbox ends: every wait() is refused, also a later one."""
        self._end = Refusal(503, "stopped", "The sandbox ends.")
        self.changed()

    async def wait(self, look: Callable[[], T | None], timeout: float) -> T | None:
        """Call `look` now and after each change until it finds something; None if the time-out expires first."""
        changed = asyncio.Event()
        self._waiting[changed] = None
        try:
            async with asyncio.timeout(timeout):
                while (found := look()) is None and self._end is None:
                    changed.clear()
                    await changed.wait()
                    if (refusal := self._waiting[changed]) is not None:
                        raise refusal
                if self._end is not None:
                    raise self._end
                return found
        except TimeoutError:
            return look()
        finally:
            del self._waiting[changed]

    def changed(self, new: int = 0, size: int = 0) -> None:
        """Call this after another change, such as `new` records or `size` bytes: every wait() checks its condition."""
        if new or size:
            self.retention.added(new, size)
        for each in self._waiting:
            each.set()


def request(store: Store, row: sqlite3.Row) -> Any:
    """A row of the table `requests`, as the control routes show it: keys are masked."""
    answered = row["answer_headers"] is not None
    body, encoding = _text(row["body"])
    answer_body, answer_encoding = _text(row["answer_body"]) if answered else (None, None)
    return dict(row) | {
        "account": store.uuid_of(row["account"]),
        "headers": [[name, "***" if name.lower() in _MASKED else value] for name, value in headers(row["headers"])],
        "body": body,
        "encoding": encoding,
        "unknown": json.loads(row["unknown"]),
        "late": json.loads(row["late"] or "null"),
        "answer_headers": [[*each] for each in headers(row["answer_headers"])] if answered else None,
        "answer_body": answer_body,
        "answer_encoding": answer_encoding,
    }


def state_change(store: Store, row: sqlite3.Row) -> Any:
    """A change of an object's state, as the control routes show it."""
    return dict(row) | {"account": store.uuid_of(row["account"]), "object_id": str(row["object_id"])}


def packed(headers: Iterable[tuple[bytes, bytes]]) -> bytes:
    """Headers as one text, for a column."""
    return b"\r\n".join([b": ".join(each) for each in headers])


def headers(column: bytes) -> list[tuple[str, str]]:
    """The names and values of packed() headers."""
    lines = column.decode("latin-1").split("\r\n") if column else []
    return [(name, value) for name, _, value in (line.partition(": ") for line in lines)]


def _text(body: bytes) -> tuple[str, str]:
    """A body as text for JSON, and its encoding: "utf-8", or "base64" for bytes that are not UTF-8."""
    try:
        return body.decode("utf-8"), "utf-8"
    except UnicodeDecodeError:
        return base64.b64encode(body).decode(), "base64"


def effect(store: Store, row: sqlite3.Row) -> Any:
    """A row of the table `ledger`, as the control routes show it."""
    shown = {name: row[name] for name in ("id", "at", "kind", "request_id")}
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
