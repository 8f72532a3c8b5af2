"""Where the journal keeps its table: SQLite or PostgreSQL, through a driver's connections or an SQLAlchemy engine.

Every statement is a transaction of its own, on a connection of the journal's own.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import _table as table
from ._errors import JournalError
from ._machine import Sql

_NOW = {"postgresql": "CAST(extract(epoch FROM clock_timestamp()) AS double precision)"}
_NAMED = re.compile(r":(\w+)")
_LOCK = 7_203_160_544_918_391_846  # of PostgreSQL: one process at a time makes the tables


class Store:
    """Runs statements. Thread-safe, and usable in a forked child.

    Args:
        source: An SQLAlchemy Engine or AsyncEngine, or a function that returns a new connection of sqlite3 or psycopg.
    """

    def __init__(self, source: Any) -> None:
        self._engine = source if hasattr(source, "connect") and hasattr(source, "dialect") else None
        if self._engine is None and not callable(source):
            raise TypeError(
                "a journal needs an SQLAlchemy engine, or a function that returns a new connection, such as"
                " lambda: sqlite3.connect('charges.db')"
            )
        self._source = source
        self._free: list[tuple[int, Any]] = []  # (process, connection)
        self._lock = threading.Lock()
        self._ready = False
        self._shift: float | None = None  # SQLite: from the time since boot to the time of day, in seconds

    def run(self, statement: Sql) -> Any:
        """Run the statement; returns its rows, or how many rows it changed."""
        try:
            if self._engine is not None:
                with self._engine.connect() as connection:
                    return self._perform(_EngineSession(connection), statement)
            connection = self._take()
            try:
                result = self._perform(_DriverSession(connection), statement)
            except BaseException:
                with contextlib.suppress(Exception):
                    connection.close()
                raise
            with self._lock:
                self._free.append((os.getpid(), connection))
            return result
        except JournalError:
            raise
        except Exception as error:
            raise JournalError(_reason(error)) from error

    async def run_async(self, statement: Sql) -> Any:
        """run() for asyncio: in a thread, or on an AsyncEngine."""
        if self._engine is None or not hasattr(self._engine, "sync_engine"):
            return await asyncio.to_thread(self.run, statement)
        try:
            async with self._engine.connect() as connection:
                return await connection.run_sync(lambda inner: self._perform(_EngineSession(inner), statement))
        except JournalError:
            raise
        except Exception as error:
            raise JournalError(_reason(error)) from error

    def close(self) -> None:
        """Close the connections that are not in use."""
        with self._lock:
            free, self._free = self._free, []
        for process, connection in free:
            if process == os.getpid():
                connection.close()

    def _take(self) -> Any:
        with self._lock:
            while self._free:
                process, connection = self._free.pop()
                if process == os.getpid():
                    return connection
        return self._source()

    def _perform(self, session: _Session, statement: Sql) -> Any:
        session.refuse_foreign_transaction()
        if not self._ready:
            self._prepare(session)
            self._ready = True
        try:
            with session.transaction():
                return session.execute(self._dated(session, statement.text), statement.parameters)
        except Exception as error:
            if _is_a(error, "IntegrityError"):  # a unique index: another process or another key was faster
                return 0
            raise

    def _dated(self, session: _Session, text: str) -> str:
        if "{now}" not in text:
            return text
        now = _NOW.get(session.dialect)
        if now is None:
            now = repr(time.time() if self._shift is None else _since_boot() + self._shift)
        return text.replace("{now}", now)

    def _prepare(self, session: _Session) -> None:
        """Make the tables unless they exist, and check their version."""
        if session.dialect == "sqlite" and not session.execute("PRAGMA database_list", {})[0][2]:
            raise JournalError("a journal in memory survives nothing: give it a database file")
        version: Any = []
        try:
            with session.transaction():
                version = session.execute(table.READ_NOTE, {"account": "", "name": "version"})
        except Exception as error:
            if not _is_a(error, "OperationalError") and not _is_a(error, "ProgrammingError"):
                raise
        if not version:
            with session.transaction():
                if session.dialect == "postgresql":
                    session.execute(f"SELECT pg_advisory_xact_lock({_LOCK})", {})
                for text in table.SCHEMA:
                    session.execute(text, {})
                version = session.execute(table.READ_NOTE, {"account": "", "name": "version"})
        if version[0][0] != table.VERSION:
            raise JournalError(
                f"the journal's tables have version {version[0][0]}, and this billcore knows version {table.VERSION}:"
                " use one version of billcore for all processes"
            )
        if session.dialect == "sqlite" and (boot := _boot()):
            # The processes of a host agree on a clock that does not jump until the next boot.
            note = {"account": "", "name": f"boot {boot}"}
            with session.transaction():
                session.execute(table.NOTE, {**note, "value": repr(time.time() - _since_boot())})
                self._shift = float(session.execute(table.READ_NOTE, note)[0][0])


class _Session:
    """One connection while a statement runs."""

    dialect: str

    def refuse_foreign_transaction(self) -> None:
        raise NotImplementedError

    def transaction(self) -> contextlib.AbstractContextManager[object]:
        raise NotImplementedError

    def execute(self, text: str, parameters: Mapping[str, Any]) -> Any:
        raise NotImplementedError


class _DriverSession(_Session):
    def __init__(self, connection: Any) -> None:
        self._connection = connection
        module = type(connection).__module__.partition(".")[0]
        self.dialect = "postgresql" if module.startswith("psycopg") else "sqlite"
        if module not in ("sqlite3", "psycopg", "psycopg2"):
            raise TypeError(
                f"a journal takes connections of sqlite3 or psycopg, not of {module}: use an SQLAlchemy engine"
            )

    def refuse_foreign_transaction(self) -> None:
        if self.dialect == "sqlite":
            busy = self._connection.in_transaction
        else:
            busy = self._connection.info.transaction_status != 0
        if busy:
            raise JournalError(
                "the connection is in a transaction: give the journal a function that returns new connections"
            )

    @contextlib.contextmanager
    def transaction(self) -> Any:
        cursor = self._connection.cursor()
        if self.dialect == "sqlite":
            cursor.execute("PRAGMA synchronous = FULL")
            cursor.execute("BEGIN IMMEDIATE")
        else:
            if self._connection.autocommit:
                cursor.execute("BEGIN")
            cursor.execute("SET TRANSACTION ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = on")
        try:
            yield
        except BaseException:
            cursor.execute("ROLLBACK")
            raise
        cursor.execute("COMMIT")

    def execute(self, text: str, parameters: Mapping[str, Any]) -> Any:
        cursor = self._connection.cursor()
        if self.dialect == "postgresql":
            text = _NAMED.sub(r"%(\1)s", text)
        cursor.execute(text, dict(parameters))
        return cursor.rowcount if cursor.description is None else cursor.fetchall()


class _EngineSession(_Session):
    def __init__(self, connection: Any) -> None:
        from sqlalchemy import text

        self._text = text
        self.dialect = connection.dialect.name
        if self.dialect not in ("sqlite", "postgresql"):
            raise JournalError(f"a journal works with SQLite and PostgreSQL, not with {self.dialect}")
        level = "READ COMMITTED" if self.dialect == "postgresql" else "SERIALIZABLE"
        self._connection = connection.execution_options(isolation_level=level)

    def refuse_foreign_transaction(self) -> None:
        return  # the engine gives a connection of its own

    @contextlib.contextmanager
    def transaction(self) -> Any:
        with self._connection.begin():
            durable = "PRAGMA synchronous = FULL" if self.dialect == "sqlite" else "SET LOCAL synchronous_commit = on"
            self._connection.execute(self._text(durable))
            yield

    def execute(self, text: str, parameters: Mapping[str, Any]) -> Any:
        result = self._connection.execute(self._text(text), parameters)
        return [tuple(row) for row in result] if result.returns_rows else result.rowcount


def _is_a(error: Exception, name: str) -> bool:
    return any(kind.__name__ == name for kind in type(error).__mro__)


def _reason(error: Exception) -> str:
    text = str(getattr(error, "orig", None) or error).strip().partition("\n")[0]
    if "database is locked" in text:
        return "the journal's database file is locked, maybe by a transaction of your own: end it, then call again"
    return f"the journal's database failed: {text or type(error).__name__}"


def _boot() -> str:
    """The id of the machine's present run; "" where there is none."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""


def _since_boot() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)
