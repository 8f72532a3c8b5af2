"""Runs the statements of the inbox on each kind of connection that it accepts (see _databases.py)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from .. import _databases as databases
from ._errors import InboxBusyError, InboxError

_NAMED = re.compile(r":(\w+)")
# Lock and statement time-outs, failed serializations, deadlocks: the transaction has failed, and a new one may succeed.
_BUSY = {"55P03", "57014", "40001", "40P01", 1020, 1205, 1213, 1317, 1969, 3024, 3572}
_ABSENT = {"42P01", "42703", "42P10", 1054, 1146, 1176}  # a table, a column or a unique index is missing
_DUPLICATE = 1062
_DIALECTS = {"postgresql": "postgresql", "sqlite": "sqlite", "mysql": "mysql", "mariadb": "mysql"}


class Driver:
    """Runs statements on one connection. With asyncio, `run` returns an awaitable.

    Args:
        dialect: The kind of database, as the connection names it. Raises InboxError if the inbox does not know it.
        is_open: Whether a transaction is open.
        run: Runs a statement with its parameters; returns how many rows it changed.
    """

    def __init__(self, dialect: str, is_open: Callable[[], bool], run: Callable[[str, Mapping[str, Any]], Any]) -> None:
        if dialect not in _DIALECTS:
            raise InboxError(f"the inbox works with PostgreSQL, SQLite, MariaDB and MySQL, not with {dialect}")
        self.dialect = _DIALECTS[dialect]
        self._is_open = is_open
        self._run = run

    def execute(self, text: str, parameters: Mapping[str, Any]) -> int:
        """Run a statement; returns how many rows it changed or returned, 0 if the row that it inserts exists."""
        try:
            refuse_without_transaction(self._is_open())
            return _counted(self._run(text, parameters))
        except Exception as error:
            return _explained(error)

    async def aexecute(self, text: str, parameters: Mapping[str, Any]) -> int:
        """execute() for asyncio."""
        try:
            refuse_without_transaction(self._is_open())
            return _counted(await self._run(text, parameters))
        except Exception as error:
            return _explained(error)


def blocking(connection: Any) -> Driver:
    """Returns the Driver for a blocking connection; raises TypeError for any other object."""
    if databases.is_a(connection, "sqlalchemy.pool.PoolProxiedConnection"):
        connection = connection.driver_connection
    kind = _kind(connection)
    if kind.is_async:
        raise TypeError(f"a {databases.name_of(connection)} is a connection for asyncio: use aclaim()")
    if kind.library == "django":
        return Driver(connection.vendor, lambda: bool(connection.in_atomic_block), partial(_django, connection))
    if kind.library == "sqlalchemy":
        inner = connection.connection() if callable(connection.connection) else connection
        return Driver(inner.dialect.name, partial(_alchemy_is_open, inner), partial(_alchemy, inner))
    style = str if kind.dialect == "sqlite" else _pyformat
    return Driver(kind.dialect, partial(_IS_OPEN[kind.dialect], connection), partial(_driver, connection, style))


def awaited(connection: Any) -> Driver:
    """Returns the Driver for an asyncio connection; raises TypeError for any other object."""
    kind = _kind(connection)
    if not kind.is_async:
        raise TypeError(f"a {databases.name_of(connection)} is not a connection for asyncio: use claim()")
    if kind.library == "asyncpg":
        return Driver("postgresql", connection.is_in_transaction, partial(_asyncpg, connection))
    if kind.library == "sqlalchemy":
        bind = connection.get_bind() if hasattr(connection, "get_bind") else connection
        return Driver(bind.dialect.name, lambda: True, partial(_alchemy_async, connection))
    return Driver(kind.dialect, partial(_IS_OPEN[kind.dialect], connection), partial(_driver_async, connection))


def refuse_without_transaction(is_open: bool) -> None:
    if not is_open:
        raise InboxError(
            "no transaction is open on the connection, so the claim and its effect would not be one: begin one first"
        )


def _counted(rows: Any) -> int:
    if not isinstance(rows, int) or rows < 0:
        raise InboxError(
            f"the driver reports {rows} rows, so nobody can tell what the statement did: do not use a pipeline, or a"
            " connection that another library wraps so"
        )
    return rows


def _explained(error: Exception) -> int:
    """Replaces a driver's error by the error of the inbox that has the same meaning, if there is one.

    Returns 0 if MariaDB or MySQL refused a row because its key exists. INSERT IGNORE would hide other errors too. ON
    DUPLICATE KEY UPDATE counts 1 for a row that exists if the client asks for the number of rows that were found
    (CLIENT_FOUND_ROWS), as SQLAlchemy does.
    """
    text, code = databases.cause(error)
    if code == _DUPLICATE and re.search("['.]PRIMARY'", text):
        return 0
    if code in _BUSY or "database is locked" in text or "table is locked" in text:
        raise InboxBusyError(f"another transaction is at work ({text}): roll back and let the sender retry") from error
    if code in _ABSENT or re.search("no such table|no column named|ON CONFLICT clause does not match", text):
        raise InboxError(
            f"the table billcore_inbox is missing or of another version ({text}): create it with the SQL of"
            " billcore.inbox.schema()"
        ) from error
    raise error


def _kind(connection: Any) -> databases.Kind:
    kind = databases.recognise(connection)
    if kind is None:
        raise databases.refusal("the inbox", connection, "python/docs/inbox.md")
    return kind


def _pyformat(text: str) -> str:
    return _NAMED.sub(r"%(\1)s", text)


def _driver(connection: Any, style: Callable[[str], str], text: str, values: Mapping[str, Any]) -> Any:
    cursor = connection.cursor()
    try:
        cursor.execute(style(text), dict(values))
        return cursor.rowcount
    finally:
        cursor.close()


async def _driver_async(connection: Any, text: str, values: Mapping[str, Any]) -> Any:
    async with connection.cursor() as cursor:
        await cursor.execute(_pyformat(text), dict(values))
        return cursor.rowcount


def _sqlite_is_open(connection: Any) -> bool:
    # In its default mode (autocommit is not set), sqlite3 itself begins a transaction before a statement that writes.
    begins = connection.isolation_level is not None and getattr(connection, "autocommit", -1) is not True
    return bool(connection.in_transaction or begins)


def _pg_is_open(connection: Any) -> bool:
    return not connection.autocommit or int(connection.info.transaction_status) != 0


def _mysql_is_open(connection: Any) -> bool:
    """Without autocommit, the server begins a transaction before the first statement. mysqlclient tells only that."""
    commits = connection.get_autocommit() if hasattr(connection, "get_autocommit") else connection.autocommit
    begun = getattr(connection, "in_transaction", False) or getattr(connection, "server_status", 0) & 1
    return not commits or bool(begun)


_IS_OPEN = {"sqlite": _sqlite_is_open, "postgresql": _pg_is_open, "mysql": _mysql_is_open}


def _django(connection: Any, text: str, values: Mapping[str, Any]) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(_NAMED.sub("%s", text), [values[name] for name in _NAMED.findall(text)])
        return cursor.rowcount


async def _asyncpg(connection: Any, text: str, values: Mapping[str, Any]) -> Any:
    names = _NAMED.findall(text)
    done = await connection.execute(
        _NAMED.sub(lambda found: f"${names.index(found[1]) + 1}", text), *(values[name] for name in names)
    )
    return int(done.rpartition(" ")[2]) if done[-1:].isdigit() else done


def _alchemy_is_open(connection: Any) -> bool:
    """Asks the driver, because SQLAlchemy reports an open transaction even if the driver commits each statement."""
    pooled = connection.connection
    if connection.dialect.name == "postgresql":
        return not pooled.dbapi_connection.autocommit
    return _IS_OPEN[_DIALECTS[connection.dialect.name]](pooled.driver_connection)


def _alchemy(connection: Any, text: str, values: Mapping[str, Any]) -> Any:
    sqlalchemy: Any = __import__("sqlalchemy")
    return connection.execute(sqlalchemy.text(text), dict(values)).rowcount


async def _alchemy_async(connection: Any, text: str, values: Mapping[str, Any]) -> Any:
    def run(inner: Any) -> Any:
        refuse_without_transaction(_alchemy_is_open(inner))
        return _alchemy(inner, text, values)

    found: Any = await connection.connection() if hasattr(connection, "get_bind") else connection
    return await found.run_sync(run)
