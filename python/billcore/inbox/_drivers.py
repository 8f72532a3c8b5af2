"""Adapts the connections that the inbox accepts.

This module imports no driver: it recognises a connection by the module of its class.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from ._errors import InboxBusyError, InboxError

_NAMED = re.compile(r":(\w+)")
# Lock and statement time-outs, failed serializations, deadlocks: the transaction has failed, and a new one may succeed.
_BUSY = ("55P03", "57014", "40001", "40P01")
_ABSENT = ("42P01", "42703", "42P10")  # a table, a column or a unique index is missing


class Driver:
    """Runs statements on one connection. With asyncio, `run` returns an awaitable.

    Args:
        dialect: The kind of database.
        is_open: Whether a transaction is open.
        run: Runs a statement with its parameters; returns how many rows it changed.
    """

    def __init__(self, dialect: str, is_open: Callable[[], bool], run: Callable[[str, Mapping[str, Any]], Any]) -> None:
        self.dialect = dialect
        self._is_open = is_open
        self._run = run

    def execute(self, text: str, parameters: Mapping[str, Any]) -> int:
        """Run a statement; returns how many rows it changed."""
        with _explained():
            refuse_without_transaction(self._is_open())
            return int(self._run(text, parameters))

    async def aexecute(self, text: str, parameters: Mapping[str, Any]) -> int:
        """execute() for asyncio."""
        with _explained():
            refuse_without_transaction(self._is_open())
            return int(await self._run(text, parameters))


def blocking(connection: Any) -> Driver:
    """Returns the Driver for a blocking connection; raises TypeError for any other object."""
    modules = _modules(connection)
    if _is_awaited(connection):
        raise TypeError(f"{_kind(connection)} is a connection for asyncio: use aclaim()")
    if "sqlite3" in modules:
        return Driver("sqlite", partial(_sqlite_is_open, connection), partial(_driver, connection, str))
    if modules & {"psycopg", "psycopg2"}:
        return Driver("postgresql", partial(_pg_is_open, connection), partial(_driver, connection, _pyformat))
    if "django" in modules:
        return Driver(connection.vendor, lambda: bool(connection.in_atomic_block), partial(_django, connection))
    if "sqlalchemy" in modules:
        inner = connection.connection() if callable(connection.connection) else connection
        return Driver(inner.dialect.name, partial(_alchemy_is_open, inner), partial(_alchemy, inner))
    raise _unknown(connection)


def awaited(connection: Any) -> Driver:
    """Returns the Driver for an asyncio connection; raises TypeError for any other object."""
    modules = _modules(connection)
    if "asyncpg" in modules:
        return Driver("postgresql", connection.is_in_transaction, partial(_asyncpg, connection))
    if not _is_awaited(connection):
        raise TypeError(f"{_kind(connection)} is not a connection for asyncio: use claim()")
    if "psycopg" in modules:
        return Driver("postgresql", partial(_pg_is_open, connection), partial(_psycopg, connection))
    if "sqlalchemy" in modules:
        bind = connection.get_bind() if hasattr(connection, "get_bind") else connection
        return Driver(bind.dialect.name, lambda: True, partial(_alchemy_async, connection))
    raise _unknown(connection)


def refuse_without_transaction(is_open: bool) -> None:
    if not is_open:
        raise InboxError(
            "no transaction is open on the connection, so the claim and its effect would not be one: begin one first"
        )


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    """Replaces a driver's error by the error of the inbox that has the same meaning, if there is one."""
    try:
        yield
    except Exception as error:
        original = getattr(error, "orig", None) or error
        original = original.__cause__ if getattr(original, "__cause__", None) is not None else original
        state = getattr(original, "sqlstate", None) or getattr(original, "pgcode", None)
        text = str(original).strip().partition("\n")[0]
        if state in _BUSY or "database is locked" in text or "table is locked" in text:
            raise InboxBusyError(
                f"another transaction is at work ({text}): roll back and let the sender retry"
            ) from error
        if state in _ABSENT or re.search("no such table|no column named|ON CONFLICT clause does not match", text):
            raise InboxError(
                f"the table billcore_inbox is missing or of another version ({text}): create it with the SQL of"
                " billcore.inbox.schema()"
            ) from error
        raise


def _modules(connection: Any) -> set[str]:
    return {kind.__module__.partition(".")[0] for kind in type(connection).__mro__}


def _is_awaited(connection: Any) -> bool:
    return hasattr(connection, "run_sync") or hasattr(connection, "__aenter__")


def _kind(connection: Any) -> str:
    return f"a {type(connection).__module__}.{type(connection).__name__}"


def _unknown(connection: Any) -> TypeError:
    return TypeError(f"the inbox does not take {_kind(connection)}: python/inbox.md names the drivers that it knows")


def _pyformat(text: str) -> str:
    return _NAMED.sub(r"%(\1)s", text)


def _driver(connection: Any, style: Callable[[str], str], text: str, values: Mapping[str, Any]) -> int:
    cursor = connection.cursor()
    try:
        cursor.execute(style(text), dict(values))
        return int(cursor.rowcount)
    finally:
        cursor.close()


def _sqlite_is_open(connection: Any) -> bool:
    # In its default mode (autocommit is not set), sqlite3 itself begins a transaction before a statement that writes.
    begins = connection.isolation_level is not None and getattr(connection, "autocommit", -1) is not True
    return bool(connection.in_transaction or begins)


def _pg_is_open(connection: Any) -> bool:
    return not connection.autocommit or int(connection.info.transaction_status) != 0


def _django(connection: Any, text: str, values: Mapping[str, Any]) -> int:
    with connection.cursor() as cursor:
        cursor.execute(_NAMED.sub("%s", text), [values[name] for name in _NAMED.findall(text)])
        return int(cursor.rowcount)


async def _asyncpg(connection: Any, text: str, values: Mapping[str, Any]) -> int:
    names = _NAMED.findall(text)
    done = await connection.execute(
        _NAMED.sub(lambda found: f"${names.index(found[1]) + 1}", text), *(values[name] for name in names)
    )
    return int(done.rpartition(" ")[2]) if done[-1:].isdigit() else 0


async def _psycopg(connection: Any, text: str, values: Mapping[str, Any]) -> int:
    cursor = await connection.execute(_pyformat(text), dict(values))
    return int(cursor.rowcount)


def _alchemy_is_open(connection: Any) -> bool:
    """Asks the driver, because SQLAlchemy reports an open transaction even if the driver commits each statement."""
    if connection.dialect.name == "sqlite":
        return _sqlite_is_open(connection.connection.driver_connection)
    return not connection.connection.dbapi_connection.autocommit


def _alchemy(connection: Any, text: str, values: Mapping[str, Any]) -> int:
    sqlalchemy: Any = __import__("sqlalchemy")
    return int(connection.execute(sqlalchemy.text(text), dict(values)).rowcount)


async def _alchemy_async(connection: Any, text: str, values: Mapping[str, Any]) -> int:
    def run(inner: Any) -> int:
        refuse_without_transaction(_alchemy_is_open(inner))
        return _alchemy(inner, text, values)

    found: Any = await connection.connection() if hasattr(connection, "get_bind") else connection
    changed: int = await found.run_sync(run)
    return changed
