"""Handles each event once: a program claims the event in the same transaction that stores the event's effect.

    with engine.begin() as connection:
        if inbox.claim(connection, event):
            ...                                  # the effect, on the same connection

The service delivers an event at least once, so duplicates are normal, even in two workers at the same time. A claim is
one row, which is committed or rolled back together with the effect. python/inbox.md has a table of what happens when
two workers claim the same event.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from .._errors import InvalidArgumentError
from ..webhooks import Event
from ._drivers import awaited, blocking
from ._errors import InboxBusyError, InboxError

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
  consumer text NOT NULL, account text NOT NULL, id text NOT NULL, name text NOT NULL,
  received_at {time} NOT NULL, body text, PRIMARY KEY (consumer, account, id));
CREATE INDEX billcore_inbox_received_at ON billcore_inbox (received_at);
"""
_CLAIM = """INSERT INTO billcore_inbox (consumer, account, id, name, received_at, body)
  VALUES (:consumer, :account, :id, :name, CURRENT_TIMESTAMP, :body)
  ON CONFLICT (consumer, account, id) DO NOTHING"""  # fails if (consumer, account, id) is not a unique key
_PURGE = "DELETE FROM billcore_inbox WHERE received_at < :before"
_LOCK = {
    "postgresql": "SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))",
    # The statement deletes no row, but SQLite locks the database for every statement that can write.
    "sqlite": "DELETE FROM billcore_inbox WHERE :name IS NULL",
}
_LONGEST = 200


def claim(connection: Any, event: Event, *, consumer: str = "default", keep: bool = False) -> bool:
    """Claim an event in the open transaction; returns True if this transaction is the first to claim the event.

    Store the event's effect on the connection of the claim, then commit. If the transaction is rolled back, or its
    process ends, the event can be claimed again. If another open transaction has claimed the event, this call waits
    until that transaction ends. With SQLite, claim before you read anything in the transaction. Threads: any thread
    that may use the connection.

    Args:
        connection: Your connection, with an open transaction: from sqlite3, psycopg 3 or 2, or Django, or an SQLAlchemy
            Connection or Session.
        event: A verified event. For a test.hook, whose id is always 0, the result is always True.
        consumer: Name of the code that handles the event, up to 200 characters. Each consumer can claim an event once.
        keep: Also store the body, so that webhooks.parse_unverified() can read the event again later.

    Raises:
        InboxBusyError: Another transaction is handling the event, or the database asks to try again: roll back and
            answer 503, so that the sender retries.
        InboxError: No transaction is open, or the table is missing or has another version.
        DecodeError: The event has no id or no account, or an id over 200 characters or with a control character (see
            Event.require_claimable): answer 400.

    Service interface: Events.
    """
    row = _row(event, consumer, keep)
    return row is None or blocking(connection).execute(_CLAIM, row) == 1


async def aclaim(connection: Any, event: Event, *, consumer: str = "default", keep: bool = False) -> bool:
    """claim() for asyncio: with asyncpg, or an AsyncConnection or AsyncSession of psycopg or SQLAlchemy.

    Args:
        connection: Your connection, with an open transaction.
        event: See claim().
        consumer: See claim().
        keep: See claim().
    """
    row = _row(event, consumer, keep)
    return row is None or await awaited(connection).aexecute(_CLAIM, row) == 1


def lock(connection: Any, name: str) -> None:
    """Wait for a lock with this name, and hold the lock until the transaction ends.

    With SQLite, lock() locks the whole database, as a claim does; so call one of them before you read anything in the
    transaction. Two events of one object can have the same time, because an event's time is a whole second, so the
    times do not give the order of the events. Lock the object, for example with lock(connection,
    "subscription:480001"), then fetch its state from the service.

    Args:
        connection: See claim().
        name: Any text.

    Raises:
        InboxBusyError: Another transaction did not end in time: roll back.
        InboxError: No transaction is open, or with SQLite the table is missing.
    """
    driver = blocking(connection)
    if (text := _LOCK.get(driver.dialect)) is not None:
        driver.execute(text, {"name": name})


async def alock(connection: Any, name: str) -> None:
    """lock() for asyncio.

    Args:
        connection: See aclaim().
        name: Any text.
    """
    driver = awaited(connection)
    if (text := _LOCK.get(driver.dialect)) is not None:
        await driver.aexecute(text, {"name": name})


def purge(connection: Any, before: datetime) -> int:
    """Delete the claims made before this time; returns their number. The events of deleted claims can be claimed again.

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


def schema(dialect: Literal["postgresql", "sqlite"]) -> str:
    """The SQL that creates the table, for your migrations. The SQL begins with a comment that has the table's version.

    Args:
        dialect: The kind of database.
    """
    return _TABLE.format(time={"postgresql": "timestamptz", "sqlite": "text"}[dialect])


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
    return before.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S") if dialect == "sqlite" else before
