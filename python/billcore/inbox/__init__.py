"""An event is handled once: claim it in the transaction of its effect.

    with engine.begin() as connection:
        if inbox.claim(connection, event):
            ...                                  # the effect, on the same connection

Deliveries are at least once, so duplicates and two workers at once are normal. The claim is one row, and commits or
rolls back together with the effect. python/inbox.md has the table of what happens when two claim at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

from .._errors import DecodeError, InvalidArgumentError
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
  ON CONFLICT (consumer, account, id) DO NOTHING"""  # refused without this key, which another version may not have
_PURGE = "DELETE FROM billcore_inbox WHERE received_at < :before"
_LOCK = {"postgresql": "SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))"}
_LONGEST = 200


def claim(connection: Any, event: Event, *, consumer: str = "default", keep: bool = False) -> bool:
    """Claim an event in the open transaction: True if this transaction is the first to handle it.

    Make the effect on the same connection, then commit. If the transaction is rolled back, or its process dies, the
    event can be claimed again. While another transaction holds the claim, this call waits for its end. With SQLite,
    claim before you read anything in the transaction. Threads: those of the connection.

    Args:
        connection: Your connection, in a transaction: of sqlite3, psycopg 3 or 2, or Django, or an SQLAlchemy
            Connection or Session.
        event: A verified event. A test.hook, whose id is always 0, is never refused.
        consumer: Who handles the event, up to 200 characters. Each consumer handles an event once.
        keep: Also store the body, so that webhooks.parse_unverified() can read the event again later.

    Raises:
        InboxBusyError: Nobody knows yet: roll back and answer 503, so that the sender tries again.
        InboxError: No transaction is open, or the table is missing or of another version.
        DecodeError: The event has no id or no account, or an id over 200 characters: answer 400.

    Service interface: Events.
    """
    row = _row(event, consumer, keep)
    return row is None or blocking(connection).execute(_CLAIM, row) == 1


async def aclaim(connection: Any, event: Event, *, consumer: str = "default", keep: bool = False) -> bool:
    """claim(), awaited: for asyncpg, psycopg's AsyncConnection, and SQLAlchemy's AsyncConnection and AsyncSession.

    Args:
        connection: Your connection, in a transaction.
        event: See claim().
        consumer: See claim().
        keep: See claim().
    """
    row = _row(event, consumer, keep)
    return row is None or await awaited(connection).aexecute(_CLAIM, row) == 1


def lock(connection: Any, name: str) -> None:
    """Wait for a lock of this name, and hold it until the transaction ends; with SQLite, a claim has locked already.

    Lock the object of an event before you fetch it again, because times in events are whole seconds:
    lock(connection, "subscription:480001").

    Args:
        connection: See claim().
        name: Any text.
    """
    driver = blocking(connection)
    if (text := _LOCK.get(driver.dialect)) is not None:
        driver.execute(text, {"name": name})


async def alock(connection: Any, name: str) -> None:
    """lock(), awaited.

    Args:
        connection: See aclaim().
        name: Any text.
    """
    driver = awaited(connection)
    if (text := _LOCK.get(driver.dialect)) is not None:
        await driver.aexecute(text, {"name": name})


def purge(connection: Any, before: datetime) -> int:
    """Delete the claims made before this time (aware); returns their number. Such an event can be claimed again.

    Args:
        connection: See claim().
        before: Keep at least as long as the service sends an event again.
    """
    driver = blocking(connection)
    return driver.execute(_PURGE, {"before": _time(before, driver.dialect)})


async def apurge(connection: Any, before: datetime) -> int:
    """purge(), awaited.

    Args:
        connection: See aclaim().
        before: See purge().
    """
    driver = awaited(connection)
    return await driver.aexecute(_PURGE, {"before": _time(before, driver.dialect)})


def schema(dialect: Literal["postgresql", "sqlite"]) -> str:
    """The SQL that creates the table, for your migrations. Its first line is a comment with the table's version.

    Args:
        dialect: The kind of database.
    """
    return _TABLE.format(time={"postgresql": "timestamptz", "sqlite": "text"}[dialect])


def _row(event: Event, consumer: str, keep: bool) -> Mapping[str, str | None] | None:
    if not isinstance(consumer, str) or not 0 < len(consumer) <= _LONGEST or not consumer.isprintable():
        raise InvalidArgumentError(f"consumer must be text of 1 to {_LONGEST} printable characters")
    if event.name == "test.hook":
        return None
    row: dict[str, str | None] = {"account": str(event.account), "id": str(event.id), "name": str(event.name)}
    for name, value in row.items():
        if not value or len(value) > _LONGEST or not value.isprintable():
            raise DecodeError(f"{name} of the event is not 1 to {_LONGEST} printable characters: answer 400", path=name)
    return row | {"consumer": consumer, "body": event.raw.decode("utf-8") if keep else None}


def _time(before: datetime, dialect: str) -> datetime | str:
    if before.utcoffset() is None:
        raise InvalidArgumentError("before must be aware, such as datetime.now(UTC) - timedelta(days=90)")
    return before.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S") if dialect == "sqlite" else before
