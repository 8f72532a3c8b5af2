"""Recognises the database connections that the inbox and the journal take, and reads the errors of their drivers.

This module imports no driver. It reads the attribute __class__ of an object. In the wrappers of ddtrace, OpenTelemetry
and other tracers, this is the class of the connection that they wrap. The wrapper's own class says nothing: with wrapt,
even a wrapped blocking connection has __aenter__. isinstance() is not enough, because the metaclass of asyncpg's
Connection looks at the wrapper's own class.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple


class Kind(NamedTuple):
    """What a connection is.

    Args:
        library: Name of the package of the connection's class.
        dialect: The kind of database; "" if the connection itself knows it.
        is_async: Whether the connection is for asyncio.
    """

    library: str
    dialect: str
    is_async: bool


_BLOCKING = {
    "sqlite3.Connection": "sqlite",
    "psycopg.Connection": "postgresql",
    "psycopg2.extensions.connection": "postgresql",
    "pymysql.connections.Connection": "mysql",
    "MySQLdb.connections.Connection": "mysql",
    "mariadb.connections.Connection": "mysql",
    "mysql.connector.abstracts.MySQLConnectionAbstract": "mysql",
    "django.db.backends.base.base.BaseDatabaseWrapper": "",
    "django.utils.connection.ConnectionProxy": "",
    "sqlalchemy.engine.Connection": "",
    "sqlalchemy.orm.Session": "",
}
_ASYNC = {
    "psycopg.AsyncConnection": "postgresql",
    "asyncpg.connection.Connection": "postgresql",
    "asyncpg.pool.PoolConnectionProxy": "postgresql",
    "aiomysql.connection.Connection": "mysql",
    "asyncmy.connection.Connection": "mysql",
    "sqlalchemy.ext.asyncio.AsyncConnection": "",
    "sqlalchemy.ext.asyncio.AsyncSession": "",
}
# Objects that give connections, and how they give one.
_SOURCES = {
    "sqlalchemy.engine.Engine": "with engine.begin() as connection",
    "sqlalchemy.orm.sessionmaker": "with sessions.begin() as session",
    "sqlalchemy.orm.scoped_session": "session = sessions()",
    "sqlalchemy.pool.Pool": "with engine.begin() as connection",
    "sqlalchemy.ext.asyncio.AsyncEngine": "async with engine.begin() as connection",
    "sqlalchemy.ext.asyncio.async_sessionmaker": "async with sessions.begin() as session",
    "sqlalchemy.ext.asyncio.async_scoped_session": "session = sessions()",
    "django.utils.connection.BaseConnectionHandler": 'connection = connections["default"]',
    "psycopg_pool.ConnectionPool": "with pool.connection() as connection",
    "psycopg_pool.AsyncConnectionPool": "async with pool.connection() as connection",
    "psycopg2.pool.AbstractConnectionPool": "connection = pool.getconn()",
    "asyncpg.pool.Pool": "async with pool.acquire() as connection",
    "aiomysql.pool.Pool": "async with pool.acquire() as connection",
    "asyncmy.pool.Pool": "async with pool.acquire() as connection",
    "mysql.connector.pooling.MySQLConnectionPool": "connection = pool.get_connection()",
    "mariadb.ConnectionPool": "connection = pool.get_connection()",
}


def is_a(value: Any, path: str) -> bool:
    """Whether a value says that it is an instance of the class at this path; False if its module is not imported."""
    module, _, name = path.rpartition(".")
    found = getattr(sys.modules.get(module), name, None)
    return isinstance(found, type) and issubclass(value.__class__, found)


def recognise(connection: Any) -> Kind | None:
    """Returns what the connection is; None if it is not a connection of a known library."""
    for table, is_async in ((_BLOCKING, False), (_ASYNC, True)):
        for path, dialect in table.items():
            if is_a(connection, path):
                return Kind(path.partition(".")[0], dialect, is_async)
    return None


def name_of(value: Any) -> str:
    """Returns the name of a value's class, for the text of an error."""
    return f"{type(value).__module__}.{type(value).__name__}"


def refusal(taker: str, value: Any, page: str) -> TypeError:
    """Returns the error for a value that is not a known connection; it says what to pass.

    Args:
        taker: Who does not take the value.
        value: The value.
        page: The page that names the known drivers.
    """
    for path, how in _SOURCES.items():
        if is_a(value, path):
            return TypeError(f"a {name_of(value)} is not a connection: pass the one that it gives, as in `{how}`")
    return TypeError(f"{taker} does not take a {name_of(value)}: {page} names the drivers that it knows")


def cause(error: BaseException) -> tuple[str, int | str | None]:
    """Returns the text and the code of the driver's error, which SQLAlchemy and Django wrap in errors of their own.

    The text is one line. The code is an SQLSTATE (PostgreSQL) or a number (MariaDB and MySQL); None if there is none.
    """
    each: BaseException | None = error
    while each is not None:
        code, text = _read(each)
        if code is not None:
            break
        each = getattr(each, "orig", None) or each.__cause__
    return text.strip().partition("\n")[0], code


def _read(error: BaseException) -> tuple[int | str | None, str]:
    first = error.args[0] if error.args else None
    if isinstance(first, dict):  # pg8000: the fields of PostgreSQL's message
        return first.get("C"), str(first.get("M"))
    number = getattr(error, "errno", None) or first
    if isinstance(number, int) and not isinstance(error, OSError):
        return number, str(error.args[1] if first == number and error.args[1:] else error)
    return getattr(error, "sqlstate", None) or getattr(error, "pgcode", None), str(error)
