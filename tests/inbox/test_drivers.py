"""claim() with each driver: the claim commits and rolls back together with the effect, and needs a transaction."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime, timedelta, timezone
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import psycopg
import psycopg2  # type: ignore[import-untyped]
import pytest
import sqlalchemy
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session

import billcore
from billcore import inbox, webhooks
from journal.support import Database, PostgresDatabase, SqliteDatabase

from .support import claim_in_django, event

# Opens a transaction on a new connection; commits it at the end, or rolls back if the block raises.
Begin = Callable[[Database], AbstractContextManager[Any]]
EFFECT = "INSERT INTO effects VALUES ('done')"


@contextmanager
def plain(database: Database) -> Any:
    """A connection of sqlite3 or psycopg with default settings."""
    connection = database.connect()
    try:
        yield connection
        connection.commit()
    finally:
        connection.close()


@contextmanager
def explicit(database: Database) -> Any:
    """A connection in autocommit mode, with a transaction that explicit BEGIN and COMMIT statements delimit."""
    connection = database.connect()
    if isinstance(connection, sqlite3.Connection):
        connection.isolation_level = None
        connection.execute("BEGIN")
    else:
        connection.autocommit = True
        connection.execute("BEGIN")
    try:
        yield connection
        connection.execute("COMMIT")
    finally:
        connection.close()


@contextmanager
def engine(database: Database) -> Any:
    made = sqlalchemy.create_engine(database.url())
    with made.begin() as connection:
        yield connection
    made.dispose()


@contextmanager
def begins_itself(database: Database) -> Any:
    """An engine that sends BEGIN itself, as SQLAlchemy's documentation recommends for savepoints with SQLite."""
    made = sqlalchemy.create_engine(database.url())
    if made.dialect.name == "sqlite":
        sqlalchemy.event.listen(made, "connect", lambda driver, _: setattr(driver, "isolation_level", None))
        sqlalchemy.event.listen(made, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
    with made.begin() as connection:
        yield connection
    made.dispose()


@contextmanager
def session(database: Database) -> Any:
    made = sqlalchemy.create_engine(database.url())
    with Session(made) as session, session.begin():
        yield session
    made.dispose()


def effect(connection: Any) -> None:
    if hasattr(connection, "dialect") or isinstance(connection, Session):
        connection.execute(sqlalchemy.text(EFFECT))
    else:
        connection.execute(EFFECT)


WAYS: list[Begin] = [plain, explicit, engine, begins_itself, session]


@pytest.mark.parametrize("begin", WAYS)
def test_a_claim_commits_and_rolls_back_with_its_effect(database: Database, begin: Begin) -> None:
    with pytest.raises(ZeroDivisionError), begin(database) as connection:
        assert inbox.claim(connection, event())
        effect(connection)
        raise ZeroDivisionError
    assert database.execute("SELECT * FROM effects") == []
    for first in (True, False):
        with begin(database) as connection:
            claimed = inbox.claim(connection, event())
            if claimed:
                effect(connection)
        assert claimed is first
    assert database.execute("SELECT * FROM effects") == [("done",)]


def test_id_type_consumer_and_account_make_another_event(database: Database) -> None:
    with plain(database) as connection:
        claims = [
            inbox.claim(connection, event()),
            inbox.claim(connection, event("41")),  # the same id as text
            inbox.claim(connection, event(), consumer="mail"),
            inbox.claim(connection, event(account=7)),
            inbox.claim(connection, event(10**29 + 1)),
            inbox.claim(connection, event(str(10**29 + 1))),
            inbox.claim(connection, event(name="test.hook", number=0)),
            inbox.claim(connection, event(name="test.hook", number=0)),
        ]
    assert claims == [True, False, True, True, True, False, True, True]


def test_without_a_transaction(database: Database) -> None:
    connection = database.connect()
    if isinstance(connection, sqlite3.Connection):
        connection.isolation_level = None
    else:
        connection.autocommit = True
    made = sqlalchemy.create_engine(database.url(), isolation_level="AUTOCOMMIT")
    with made.connect() as bare:
        for each in (connection, bare):
            with pytest.raises(inbox.InboxError, match="no transaction is open"):
                inbox.claim(each, event())
    connection.close()
    assert database.execute("SELECT * FROM billcore_inbox") == []


WRONG_TABLES = {
    "missing": ["DROP TABLE billcore_inbox"],
    "another version": [
        "DROP TABLE billcore_inbox",
        "CREATE TABLE billcore_inbox (consumer text, account text, id text)",
    ],
    # Without the primary key, the table could store an event twice.
    "half migrated": [
        "ALTER TABLE billcore_inbox RENAME TO whole",
        "CREATE TABLE billcore_inbox AS SELECT * FROM whole",
    ],
}


@pytest.mark.parametrize("wrong", WRONG_TABLES)
def test_a_wrong_table(database: Database, wrong: str) -> None:
    for statement in WRONG_TABLES[wrong]:
        database.execute(statement)
    for begin in WAYS:
        with (
            pytest.raises(inbox.InboxError, match="billcore_inbox is missing or of another version"),
            begin(database) as connection,
        ):
            inbox.claim(connection, event())


def test_a_table_with_more_columns(database: Database) -> None:
    database.execute("ALTER TABLE billcore_inbox ADD COLUMN later text")
    with plain(database) as connection:
        assert [inbox.claim(connection, event()), inbox.claim(connection, event())] == [True, False]


def test_a_kept_body_is_read_again(database: Database) -> None:
    with plain(database) as connection:
        inbox.claim(connection, event(total=77), keep=True)
        inbox.claim(connection, event(42))
    rows = database.execute("SELECT body FROM billcore_inbox ORDER BY id")
    assert rows[1] == (None,)
    again = webhooks.parse_unverified(rows[0][0].encode())
    assert isinstance(again, webhooks.OrderPaid) and again.data.total == 77


def test_purge(database: Database) -> None:
    now = datetime.now(timezone(timedelta(hours=13)))
    with plain(database) as connection:
        inbox.claim(connection, event())
        assert inbox.purge(connection, now - timedelta(hours=1)) == 0
    with plain(database) as connection:
        assert inbox.purge(connection, now + timedelta(hours=1)) == 1
        assert inbox.claim(connection, event())
        with pytest.raises(billcore.InvalidArgumentError, match="aware"):
            inbox.purge(connection, datetime(2026, 1, 1))


@pytest.mark.parametrize("consumer", ["", "x" * 201, "x" * 10_240, "a\0b", None])
def test_a_consumer_without_a_proper_name(sqlite: Database, consumer: Any) -> None:
    with pytest.raises(billcore.InvalidArgumentError, match="consumer"), plain(sqlite) as connection:
        inbox.claim(connection, event(), consumer=consumer)


@pytest.mark.parametrize("fields", [{"number": "a\0b"}, {"number": ""}, {"number": "9" * 201}])
def test_an_event_whose_key_cannot_be_stored(database: Database, fields: dict[str, Any]) -> None:
    message = "^id is not 1 to 200 characters without control characters: answer 400$"
    with pytest.raises(billcore.DecodeError, match=message), plain(database) as connection:
        inbox.claim(connection, event(**fields))


def test_django(database: Database) -> None:
    if isinstance(database, PostgresDatabase):
        given = {"ENGINE": "django.db.backends.postgresql", "NAME": database.name, "USER": "postgres"}
        given |= {"HOST": database.server.host, "PORT": str(database.server.port)}
    else:
        assert isinstance(database, SqliteDatabase)
        given = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(database.file)}
    claim_in_django(given)


async def _asyncpg(database: PostgresDatabase) -> list[bool]:
    claims = []
    for _ in range(2):
        connection = await asyncpg.connect(database.url(asynchronous=True).replace("+asyncpg", ""))
        with pytest.raises(inbox.InboxError, match="no transaction"):
            await inbox.aclaim(connection, event())
        async with connection.transaction():
            claims.append(await inbox.aclaim(connection, event()))
            await inbox.alock(connection, "subscription:1")
        await connection.close()
    return claims


async def _psycopg(database: PostgresDatabase) -> list[bool]:
    claims = []
    for _ in range(2):
        async with await psycopg.AsyncConnection.connect(database.conninfo()) as connection:
            claims.append(await inbox.aclaim(connection, event()))
            await inbox.alock(connection, "subscription:1")
    return claims


async def _alchemy(database: Database) -> list[bool]:
    engine = create_async_engine(database.url(asynchronous=True))
    async with engine.begin() as connection:
        claims = [await inbox.aclaim(connection, event())]
        await inbox.alock(connection, "subscription:1")
    async with AsyncSession(engine) as session, session.begin():
        claims.append(await inbox.aclaim(session, event()))
    async with engine.connect() as bare:
        bare = await bare.execution_options(isolation_level="AUTOCOMMIT")
        with pytest.raises(inbox.InboxError, match="no transaction"):
            await inbox.aclaim(bare, event(99))
    await engine.dispose()
    return claims


@pytest.mark.parametrize(
    ("name", "way"),
    [("postgresql", _asyncpg), ("postgresql", _psycopg), ("postgresql", _alchemy), ("sqlite", _alchemy)],
)
def test_aclaim_claims_an_event_once_with_each_async_driver(
    request: pytest.FixtureRequest, name: str, way: Any
) -> None:
    assert asyncio.run(way(request.getfixturevalue(name))) == [True, False]


def test_psycopg2(postgresql: PostgresDatabase) -> None:
    first, other = (psycopg2.connect(postgresql.conninfo()) for _ in range(2))
    other.cursor().execute("SET lock_timeout = '10ms'")
    assert inbox.claim(first, event()) and not inbox.claim(first, event())
    inbox.lock(first, "subscription:1")
    with pytest.raises(inbox.InboxBusyError):
        inbox.claim(other, event())
    other.rollback()
    first.rollback()
    assert inbox.claim(first, event())
    first.commit()
    other.autocommit = True
    with pytest.raises(inbox.InboxError, match="no transaction"):
        inbox.claim(other, event(99))
    first.close()
    other.close()


def test_claim_and_aclaim_name_each_other(postgresql: PostgresDatabase) -> None:
    async def wrong() -> None:
        async with await psycopg.AsyncConnection.connect(postgresql.conninfo()) as connection:
            with pytest.raises(TypeError, match="use aclaim"):
                inbox.claim(connection, event())
        with plain(postgresql) as connection, pytest.raises(TypeError, match="use claim"):
            await inbox.aclaim(connection, event())

    asyncio.run(wrong())
