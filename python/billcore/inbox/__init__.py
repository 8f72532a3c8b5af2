"""Handles each event once: a program claims the event in the same transaction that stores the event's effect.

    with engine.begin() as connection:
        if inbox.claim(connection, event):
            ...                                  # the effect, on the same connection

The service delivers an event at least once, so duplicates are normal, even in two workers at the same time. A claim is
one row, which is committed or rolled back together with the effect. python/docs/inbox.md has a table of what happens
when two workers claim the same event.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from .._errors import InvalidArgumentError
from ..webhooks import Event
from ._errors import InboxBusyError, InboxError
from ._statements import awaited, blocking

__all__ = [
    "InboxBusyError",
    "InboxError",
    "aclaim",
    "alock",
    "apurge",
    "claim",
    "lock",
    "purge",
    "schema",
]

_TABLE = """-- billcore.inbox, version 1
CREATE TABLE billcore_inbox (
  consumer {text} NOT NULL, account {text} NOT NULL, id {text} NOT NULL, name {text} NOT NULL,
  received_at {time} NOT NULL, body {body}, PRIMARY KEY (consumer, account, id)){options};
CREATE INDEX billcore_inbox_received_at ON billcore_inbox (received_at);
"""
# MariaDB and MySQL compare binary columns byte by byte; other columns, by a collation that may ignore case and spaces.
_MYSQL = {
    "text": "varbinary(800)", "time": "datetime(6)", "body": "longblob", "options": " ENGINE=InnoDB ROW_FORMAT=DYNAMIC",
}  # fmt: skip
_TYPES = {
    "postgresql": {"text": "text", "time": "timestamptz", "body": "text", "options": ""},
    "sqlite": {"text": "text", "time": "text", "body": "text", "options": ""},
    "mysql": _MYSQL,
    "mariadb": _MYSQL,
}
_CLAIM = """INSERT INTO billcore_inbox (consumer, account, id, name, received_at, body)
  VALUES (:consumer, :account, :id, :name, CURRENT_TIMESTAMP, :body)
  ON CONFLICT (consumer, account, id) DO NOTHING"""  # fails if (consumer, account, id) is not a unique key
# FORCE INDEX fails if the table has no primary key. WHERE FALSE reads nothing, so that the transaction's snapshot does
# not begin before a lock that follows the claim.
_CLAIM_MYSQL = """INSERT INTO billcore_inbox (consumer, account, id, name, received_at, body)
  SELECT UNHEX(:consumer), UNHEX(:account), UNHEX(:id), UNHEX(:name), UTC_TIMESTAMP(6), UNHEX(:body) FROM DUAL
  WHERE NOT EXISTS (SELECT 1 FROM billcore_inbox FORCE INDEX (PRIMARY) WHERE FALSE)"""
_PURGE = "DELETE FROM billcore_inbox WHERE received_at < :before"
_LOCK = {
    "postgresql": "SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))",
    # The statement deletes no row, but SQLite locks the database for every statement that can write.
    "sqlite": "DELETE FROM billcore_inbox WHERE :name IS NULL",
    # GET_LOCK() outlives the transaction, so the lock is that of a row. No claim has this row, because the name of a
    # consumer is not empty. The row must change: in a cluster with several writers, the lock of a row does not reach
    # the other servers, but the cluster refuses the second commit that changes the row.
    "mysql": """INSERT INTO billcore_inbox (consumer, account, id, name, received_at)
  VALUES ('', '', UNHEX(:name), '', UTC_TIMESTAMP(6)) ON DUPLICATE KEY UPDATE received_at = UTC_TIMESTAMP(6)""",
}
_LONGEST = 200


def claim(connection: Any, event: Event, *, consumer: str = "default", keep: bool = False) -> bool:
    """Claim an event in the open transaction; returns True if this transaction is the first to claim the event.

    Store the event's effect on the connection of the claim, then commit. If the transaction is rolled back, or its
    process ends, the event can be claimed again. If another open transaction has claimed the event, this call waits
    until that transaction ends. With SQLite, claim before you read anything in the transaction. Threads: any thread
    that may use the connection.

    Args:
        connection: Your connection, with an open transaction: from sqlite3, psycopg 3 or 2, PyMySQL, mysqlclient,
            MariaDB Connector/Python, MySQL Connector/Python, or Django, or an SQLAlchemy Connection or Session.
        event: A verified event. For a test.hook, whose id is always 0, the result is always True.
        consumer: Name of the code that handles the event, up to 200 characters. Each consumer can claim an event once.
        keep: Also store the body, so that webhooks.parse_unverified() can read the event again later.

    Raises:
        InboxBusyError: Another transaction is handling the event, or the database asks to try again: roll back and
            answer 503, so that the sender retries.
        InboxError: No transaction is open, or the table is missing or has another version, or the database is not one
            that the inbox knows, or the driver does not say whether the row was inserted.
        DecodeError: The event has no id or no account, or an id over 200 characters or with a control character (see
            Event.require_claimable): answer 400.

    Service interface: Events.
    """
    row = _row(event, consumer, keep)
    if row is None:
        return True
    driver = blocking(connection)
    return _is_first(driver.execute(*_claim(driver.dialect, row)))


async def aclaim(connection: Any, event: Event, *, consumer: str = "default", keep: bool = False) -> bool:
    """claim() for asyncio: with asyncpg, psycopg's AsyncConnection, aiomysql or asyncmy, or an AsyncConnection or
    AsyncSession of SQLAlchemy.

    Args:
        connection: Your connection, with an open transaction.
        event: See claim().
        consumer: See claim().
        keep: See claim().
    """
    row = _row(event, consumer, keep)
    if row is None:
        return True
    driver = awaited(connection)
    return _is_first(await driver.aexecute(*_claim(driver.dialect, row)))


def lock(connection: Any, name: str) -> None:
    """Wait for a lock with this name, and hold the lock until the transaction ends.

    With SQLite, lock() locks the whole database, as a claim does; so call one of them before you read anything in the
    transaction. With MariaDB and MySQL too, call lock() before you read anything: a transaction that has read before
    goes on to see the data of that time.

    Two events of one object can have the same time, because an event's time is a whole second, so the times do not give
    the order of the events. Lock the object, for example with lock(connection, "subscription:480001"), then fetch its
    state from the service.

    Args:
        connection: See claim().
        name: Any text.

    Raises:
        InboxBusyError: Another transaction did not end in time: roll back.
        InboxError: No transaction is open, or the database is not one that the inbox knows, or, with SQLite, MariaDB
            and MySQL, the table is missing.
    """
    driver = blocking(connection)
    driver.execute(*_lock(driver.dialect, name))


async def alock(connection: Any, name: str) -> None:
    """lock() for asyncio.

    Args:
        connection: See aclaim().
        name: Any text.
    """
    driver = awaited(connection)
    await driver.aexecute(*_lock(driver.dialect, name))


def purge(connection: Any, before: datetime) -> int:
    """Delete the claims made before this time; returns their number. The events of deleted claims can be claimed again.

    With MariaDB and MySQL, this also deletes, and counts, the rows of locks that nobody has taken since this time.

    Args:
        connection: See claim().
        before: An aware datetime. Keep each claim for as long as the service may send its event again.
    """
    driver = blocking(connection)
    return driver.execute(_PURGE, {"before": _time(before, driver.dialect)})


async def apurge(connection: Any, before: datetime) -> int:
    """purge() for asyncio.

    Args:
        connection: See aclaim().
        before: See purge().
    """
    driver = awaited(connection)
    return await driver.aexecute(_PURGE, {"before": _time(before, driver.dialect)})


def schema(dialect: Literal["postgresql", "sqlite", "mysql", "mariadb"]) -> str:
    """The SQL that creates the table, for your migrations. The SQL begins with a comment that has the table's version.

    Args:
        dialect: The kind of database.
    """
    if dialect not in _TYPES:
        raise InvalidArgumentError(f"dialect must be one of {', '.join(map(repr, _TYPES))}")
    return _TABLE.format(**_TYPES[dialect])


def _claim(dialect: str, row: Mapping[str, str | None]) -> tuple[str, Mapping[str, str | None]]:
    if dialect != "mysql":
        return _CLAIM, row
    # Hexadecimal digits are the same bytes whatever the connection's character set and SQL mode are.
    return _CLAIM_MYSQL, {name: value and value.encode().hex() for name, value in row.items()}


def _is_first(rows: int) -> bool:
    if rows not in (0, 1):
        raise InboxError(f"the driver reports {rows} rows for a claim, which inserts one: the event was not claimed")
    return rows == 1


def _lock(dialect: str, name: str) -> tuple[str, Mapping[str, str]]:
    return _LOCK[dialect], {"name": hashlib.sha256(name.encode()).hexdigest() if dialect == "mysql" else name}


def _row(event: Event, consumer: str, keep: bool) -> Mapping[str, str | None] | None:
    if not isinstance(consumer, str) or not 0 < len(consumer) <= _LONGEST or not consumer.isprintable():
        raise InvalidArgumentError(f"consumer must be text of 1 to {_LONGEST} printable characters")
    if event.name == "test.hook":
        return None
    event.require_claimable()
    row = {"account": str(event.account), "id": str(event.id), "name": str(event.name)}
    return row | {"consumer": consumer, "body": event.raw.decode("utf-8") if keep else None}


def _time(before: datetime, dialect: str) -> datetime | str:
    if before.utcoffset() is None:
        raise InvalidArgumentError("before must be aware, such as datetime.now(UTC) - timedelta(days=90)")
    return before if dialect == "postgresql" else before.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S")
