"""Runs the journal's statements on SQLite or PostgreSQL, through a driver's connections or an SQLAlchemy engine.

Every statement runs in its own transaction, on a connection that only the journal uses.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .. import _clock
from .. import _databases as databases
from . import _table as table
from ._errors import JournalError
from ._steps import SOON, Sql

_log = logging.getLogger("billcore")
_NOW = {"postgresql": "CAST(extract(epoch FROM clock_timestamp()) AS double precision)"}
_EXISTS = {
    # Reading pg_class makes the session accept that another session has made the table meanwhile.
    "postgresql": "SELECT count(*) FROM pg_class WHERE oid = to_regclass('billcore_journal')",
    "sqlite": "SELECT count(*) FROM sqlite_master WHERE name = 'billcore_journal'",
}
_NAMED = re.compile(r":(\w+)")
_LOCK = 7_203_160_544_918_391_846  # PostgreSQL's advisory lock: one process at a time makes the tables
_BUSY = "the connection is in a transaction: give the journal a function that returns a new connection each time"


class _DriverSession:
    """A connection of sqlite3 or psycopg, while a statement runs."""

    def __init__(self, connection: Any) -> None:
        if databases.is_a(connection, "sqlite3.Connection"):
            self.dialect = "sqlite"
            if connection.in_transaction:
                raise JournalError(f"{_BUSY}, without autocommit=False")
            connection.row_factory, connection.text_factory = None, str
            self._cursor = connection.cursor()
        elif databases.is_a(connection, "psycopg.Connection"):
            rows: Any = __import__("psycopg.rows", fromlist=["tuple_row"])
            self.dialect = "postgresql"
            if connection.info.transaction_status:
                raise JournalError(_BUSY)
            connection.autocommit = True
            self._cursor = connection.cursor(row_factory=rows.tuple_row)
        else:
            raise JournalError(
                f"a journal takes connections of sqlite3 or psycopg, not a {type(connection).__name__}: use an"
                " SQLAlchemy engine for other drivers"
            )

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        if self.dialect == "sqlite":
            self._cursor.execute("PRAGMA synchronous = FULL")
            self._cursor.execute("BEGIN IMMEDIATE")
        else:
            self._cursor.execute("BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL synchronous_commit = on")
        try:
            yield
        except BaseException:
            with contextlib.suppress(Exception):  # raise the first error even if ROLLBACK fails
                self._cursor.execute("ROLLBACK")
            raise
        self._cursor.execute("COMMIT")

    def execute(self, text: str, parameters: Mapping[str, Any]) -> Any:
        if self.dialect == "postgresql":
            text = _NAMED.sub(r"%(\1)s", text)
        self._cursor.execute(text, dict(parameters))
        return self._cursor.rowcount if self._cursor.description is None else self._cursor.fetchall()


class _EngineSession:
    """A connection of an SQLAlchemy engine, while a statement runs."""

    def __init__(self, connection: Any) -> None:
        self.dialect = connection.dialect.name
        if self.dialect not in _EXISTS:
            raise JournalError(f"a journal works with SQLite and PostgreSQL, not with {self.dialect}")
        if self.dialect == "postgresql":
            connection = connection.execution_options(isolation_level="READ COMMITTED")
        self._connection = connection

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        if self.dialect == "sqlite":  # this PRAGMA works only outside a transaction
            pooled = self._connection.connection
            if getattr(pooled.driver_connection, "in_transaction", False):
                raise JournalError("the engine's pool shares a connection that is in a transaction: use another pool")
            with contextlib.closing(pooled.cursor()) as cursor:
                cursor.execute("PRAGMA synchronous = FULL")
        with self._connection.begin():
            if self.dialect == "postgresql":
                self.execute("SET LOCAL synchronous_commit = on", {})
            yield

    def execute(self, text: str, parameters: Mapping[str, Any]) -> Any:
        sqlalchemy: Any = __import__("sqlalchemy")
        result = self._connection.execute(sqlalchemy.text(text), parameters)
        return [tuple(row) for row in result] if result.returns_rows else result.rowcount


class Store:
    """Runs statements. Thread-safe; usable in a forked child if the engine is usable there.

    Args:
        source: An SQLAlchemy Engine or AsyncEngine, or a function that returns a new connection of sqlite3 or psycopg.
        asynchronous: Whether the caller uses run_async() instead of run().
        create: Whether to make the tables if they do not exist.
    """

    def __init__(self, source: Any, asynchronous: bool, create: bool) -> None:
        self._is_engine = hasattr(source, "connect") and hasattr(source, "dialect")
        self._is_async = hasattr(source, "sync_engine")
        if self._is_async and not asynchronous:
            raise TypeError("an AsyncEngine needs an AsyncJournal")
        if hasattr(getattr(source, "__self__", None), "putconn"):
            raise TypeError(
                "a journal closes its connections, which a pool wants back: give it a function that returns a new"
                " connection, or an SQLAlchemy engine"
            )
        sessions = ("sqlalchemy.orm.sessionmaker", "sqlalchemy.orm.scoped_session")
        is_function = callable(source) and not hasattr(source, "cursor")
        if not self._is_engine and (not is_function or any(databases.is_a(source, each) for each in sessions)):
            raise TypeError(
                "a journal needs an SQLAlchemy engine, or a function that returns a new connection, such as"
                " lambda: sqlite3.connect('charges.db')"
            )
        self._source = source
        self._create = create
        self._ready = False
        self._shift: float | None = None  # SQLite: time of day minus time since boot, in seconds

    def run(self, statement: Sql) -> Any:
        """Run the statement; returns its rows, or how many rows it changed."""
        with _explained(statement):
            if self._is_engine:
                with self._source.connect() as connection:
                    return self._perform(_EngineSession(connection), statement)
            connection = self._source()
            session = _DriverSession(connection)  # if _DriverSession raises an error, the connection stays open
            with contextlib.closing(connection):
                return self._perform(session, statement)

    async def run_async(self, statement: Sql) -> Any:
        """The asyncio form of run(): runs the statement in a thread, or on an AsyncEngine."""
        if not self._is_async:
            return await asyncio.to_thread(self.run, statement)
        with _explained(statement):
            async with self._source.connect() as connection:
                return await connection.run_sync(lambda inner: self._perform(_EngineSession(inner), statement))

    def _perform(self, session: _DriverSession | _EngineSession, statement: Sql) -> Any:
        if not self._ready:
            self._prepare(session)
            self._ready = True
        try:
            with session.transaction():  # take SQLite's lock before reading the time
                result = session.execute(self._dated(session.dialect, statement.text), statement.parameters)
                if isinstance(result, int) and result not in (0, 1) and not statement.many:
                    raise JournalError(
                        f"the database reports {result} changed rows, so nobody can tell whether the journal's row was"
                        " written: do not use a pipeline, or a connection that another library wraps so"
                    )
                return result
        except Exception as error:
            if _is_duplicate(error):  # another process or key has already written the row
                return 0
            raise

    def _dated(self, dialect: str, text: str) -> str:
        here = time.time() if self._shift is None else _clock.now() + self._shift
        return text.replace("{now}", _NOW.get(dialect, repr(here)))

    def _prepare(self, session: _DriverSession | _EngineSession) -> None:
        """Check that the tables exist, and their version."""
        if session.dialect == "sqlite" and not _alone(session, "PRAGMA database_list")[0][2]:
            raise JournalError("a journal in memory survives nothing: give it a database file")
        note = {"account": "", "name": "version"}
        if not _alone(session, _EXISTS[session.dialect])[0][0]:
            if not self._create:
                raise JournalError(
                    "the journal's tables do not exist in this database: if it is the right one, make them once with"
                    f" billcore.journal.schema({session.dialect!r}), or with create=True"
                )
            with session.transaction():
                if session.dialect == "postgresql":
                    session.execute(f"SELECT pg_advisory_xact_lock({_LOCK})", {})
                if not session.execute(_EXISTS[session.dialect], {})[0][0]:
                    for text in table.SCHEMA:
                        session.execute(text, {})
                    _log.warning("the journal has made its tables in a database that had none")
        version = (_alone(session, table.READ_NOTE, note) or [("of no billcore",)])[0][0]
        if version != table.VERSION:
            raise JournalError(
                f"the journal's tables have version {version}, and this billcore knows version {table.VERSION}:"
                " use one version of billcore for all processes"
            )
        if session.dialect == "sqlite" and (boot := _boot()):
            # All processes of a host use one clock, which does not jump until the next boot. At a boot, the clock
            # starts at the time of day, or at the time of the journal's latest change if that is later. So if the host
            # boots with a time of day that is far too early, stored deadlines are still not in the far future.
            note = {"account": "", "name": f"boot {boot}"}
            if not _alone(session, table.READ_NOTE, note):
                latest = _alone(session, "SELECT max(changed) FROM billcore_charges")[0][0] or 0
                _alone(session, table.NOTE, {**note, "value": repr(max(time.time(), latest) - _clock.now())})
            self._shift = float(_alone(session, table.READ_NOTE, note)[0][0])


def _alone(session: _DriverSession | _EngineSession, text: str, parameters: Mapping[str, Any] | None = None) -> Any:
    """Runs the statement in a transaction of its own."""
    with session.transaction():
        return session.execute(text, parameters or {})


@contextlib.contextmanager
def _explained(statement: Sql) -> Iterator[None]:
    """Turns every error into a JournalError about the statement's key."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, JournalError):
            error, cause = JournalError(_reason(error), retry_after=SOON), error
            error.__cause__ = cause
        error.key = statement.parameters.get("key", "")
        raise error


def _is_duplicate(error: Exception) -> bool:
    """Whether a unique index refused the statement."""
    text, code = databases.cause(error)
    return code == "23505" or text.startswith("UNIQUE constraint failed")


def _reason(error: Exception) -> str:
    text, _ = databases.cause(error)
    if "database is locked" in text:
        return "the journal's database file is locked, maybe by a transaction of your own: end it, then call again"
    if "closed database" in text or "connection is closed" in text:
        return f"{text.rstrip('.')}: give the journal a function that returns a new connection each time"
    return f"the journal's database failed: {text or type(error).__name__}"


def _boot() -> str:
    """The id that Linux gives to each boot; "" on other systems."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    except OSError:
        return ""
