"""Objects that are not the connection that they seem to be, and drivers that report something else than others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import psycopg
import psycopg_pool
import pytest
import sqlalchemy
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import scoped_session, sessionmaker

from billcore import inbox
from journal.support import Database, PostgresDatabase

from .support import event


def test_what_gives_connections_is_refused_as_a_connection(postgresql: PostgresDatabase) -> None:
    engine = sqlalchemy.create_engine(postgresql.url())
    given: dict[Any, str] = {
        engine: "with engine.begin",
        scoped_session(sessionmaker(engine)): "session = sessions",
        psycopg_pool.ConnectionPool(postgresql.conninfo(), open=False): "with pool.connection",
    }
    for each, how in given.items():
        with pytest.raises(TypeError, match=rf"is not a connection: pass the one that it gives, as in `{how}"):
            inbox.claim(each, event())
    with postgresql.connect() as connection, pytest.raises(TypeError, match=r"python/docs/inbox\.md"):
        inbox.claim(connection.cursor(), event())
    with pytest.raises(TypeError, match=r"as in `async with engine\.begin"):
        asyncio.run(inbox.aclaim(create_async_engine(postgresql.url(asynchronous=True)), event()))


def test_a_connection_of_sqlalchemys_pool(database: Database) -> None:
    engine = sqlalchemy.create_engine(database.url())
    for first in (True, False):
        connection = engine.raw_connection()
        assert inbox.claim(connection, event()) is first
        connection.commit()
        connection.close()


CALLS: list[Callable[[Any], Any]] = [
    lambda connection: inbox.claim(connection, event()),
    lambda connection: inbox.lock(connection, "order:1"),
]


@pytest.mark.parametrize("call", CALLS, ids=["claim", "lock"])
def test_a_pipeline_is_refused_because_it_reports_no_rows(
    postgresql: PostgresDatabase, call: Callable[[Any], Any]
) -> None:
    """In a pipeline, psycopg returns before the server has run the statement."""
    with postgresql.connect() as connection, connection.pipeline():
        with pytest.raises(inbox.InboxError, match="reports -1 rows, so nobody can tell"):
            call(connection)
        connection.rollback()


def test_a_count_that_is_not_of_one_row(postgresql: PostgresDatabase) -> None:
    class Cursor(psycopg.Cursor[Any]):
        rowcount = 20

    with postgresql.connect() as connection:
        connection.cursor_factory = Cursor
        with pytest.raises(inbox.InboxError, match="reports 20 rows for a claim"):
            inbox.claim(connection, event())


def test_errors_of_pg8000(postgresql: PostgresDatabase) -> None:
    socket = f"{postgresql.server.host}/.s.PGSQL.{postgresql.server.port}"
    engine = sqlalchemy.create_engine(
        f"postgresql+pg8000://postgres@/{postgresql.name}", connect_args={"unix_sock": socket}
    )
    with postgresql.connect() as first, engine.connect() as other:
        inbox.claim(first, event())
        other.execute(sqlalchemy.text("SET lock_timeout = '10ms'"))
        with pytest.raises(inbox.InboxBusyError, match=r"at work \(canceling statement due to lock timeout\)"):
            inbox.claim(other, event())
        other.rollback()
        first.rollback()
        assert inbox.claim(other, event())
        other.rollback()
        postgresql.execute("DROP TABLE billcore_inbox")
        with pytest.raises(inbox.InboxError, match="missing or of another version"):
            inbox.claim(other, event())
    engine.dispose()
