"""The inbox on MariaDB, with each driver: events that are claimed once, and locks that exclude each other."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import aiomysql
import asyncmy
import mariadb
import mysql.connector
import MySQLdb
import pymysql
import pytest
import sqlalchemy
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import Session

import billcore
from billcore import inbox, webhooks
from billcore.journal import Journal, JournalError
from inbox.support import claim_in_django, event
from support.mariadb import MariaDB
from support.waiting import until

from . import shown_mysql

EFFECT = "INSERT INTO effects VALUES ('done')"


class Database:
    """A database for one test, with the inbox's table and a table for effects."""

    def __init__(self, server: MariaDB) -> None:
        self.server = server
        self.name = server.new_database()
        self.given = {"unix_socket": server.socket, "user": "u", "database": self.name}
        for statement in inbox.schema("mysql").split(";\n")[:-1]:
            self.execute(statement)
        self.execute("CREATE TABLE effects (id varchar(80) NOT NULL) ENGINE=InnoDB")

    def connect(self, **options: Any) -> Any:
        return pymysql.connect(**self.given, **options)

    def execute(self, sql: str) -> list[tuple[Any, ...]]:
        return self.server.execute(sql, self.name)

    def url(self, driver: str) -> str:
        return f"{driver}://u@/{self.name}?unix_socket={self.server.socket}"

    def waiting(self) -> int:
        """The number of transactions that wait for a lock."""
        sql = "SELECT count(*) FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'"
        return int(self.execute(sql)[0][0])


@pytest.fixture(scope="session")
def server() -> Iterator[MariaDB]:
    server = MariaDB()
    yield server
    server.close()


@pytest.fixture
def database(server: MariaDB) -> Database:
    return Database(server)


# Opens a transaction on a new connection; commits it at the end, or rolls back if the block raises.
Begin = Callable[[Database], AbstractContextManager[Any]]


def by_driver(driver: Any) -> Begin:
    @contextmanager
    def begin(database: Database) -> Iterator[Any]:
        with contextlib.closing(driver.connect(**database.given)) as connection:
            yield connection
            connection.commit()

    return begin


def by_engine(driver: str, in_session: bool = False) -> Begin:
    @contextmanager
    def begin(database: Database) -> Iterator[Any]:
        engine = sqlalchemy.create_engine(database.url(driver))
        with Session(engine) if in_session else engine.connect() as it, it.begin():
            yield it
        engine.dispose()

    return begin


BLOCKING = {
    "pymysql": by_driver(pymysql),
    "mysqlclient": by_driver(MySQLdb),
    "mariadb": by_driver(mariadb),
    "mysql.connector": by_driver(mysql.connector),
    "mysql+pymysql": by_engine("mysql+pymysql"),
    "mysql+mysqldb": by_engine("mysql+mysqldb"),
    "mariadb+pymysql session": by_engine("mariadb+pymysql", in_session=True),
}
blocking = pytest.mark.parametrize("begin", BLOCKING.values(), ids=BLOCKING)


def run(connection: Any, sql: str) -> list[tuple[Any, ...]]:
    if hasattr(connection, "dialect") or isinstance(connection, Session):
        result = connection.execute(sqlalchemy.text(sql))
        return [tuple(row) for row in result] if result.returns_rows else []
    with contextlib.closing(connection.cursor()) as cursor:
        cursor.execute(sql)
        return list(cursor.fetchall()) if cursor.description else []


@blocking
def test_a_claim_commits_and_rolls_back_with_its_effect(database: Database, begin: Begin) -> None:
    with pytest.raises(ZeroDivisionError), begin(database) as connection:
        assert inbox.claim(connection, event())
        run(connection, EFFECT)
        raise ZeroDivisionError
    assert database.execute("SELECT * FROM effects") == []
    for first in (True, False):
        with begin(database) as connection:
            claims = [inbox.claim(connection, event()), inbox.claim(connection, event())]
            run(connection, EFFECT)  # a refused claim does not end the transaction
        assert claims == [first, False]
    assert len(database.execute("SELECT * FROM effects")) == 2


@blocking
def test_a_lock_lets_a_function_look_first(database: Database, begin: Begin) -> None:
    """Three transactions, which also read after their claim, as in python/docs/reconcile.md."""
    together = threading.Barrier(3)

    def handle(number: int) -> None:
        with begin(database) as connection:
            inbox.claim(connection, event(number))
            together.wait(60)
            inbox.lock(connection, "order:é7")
            if run(connection, "SELECT * FROM effects") == []:
                until(lambda: database.waiting() == 2)
                run(connection, EFFECT)

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(handle, range(3)))
    assert len(database.execute("SELECT * FROM effects")) == 1
    with begin(database) as one, begin(database) as other:
        inbox.lock(one, "order:1")
        inbox.lock(other, "order:2")


@pytest.mark.parametrize("driver", [pymysql, MySQLdb, mariadb, mysql.connector], ids=lambda driver: driver.__name__)
def test_without_a_transaction(database: Database, driver: Any) -> None:
    with contextlib.closing(driver.connect(**database.given)) as connection:
        if callable(connection.autocommit):
            connection.autocommit(True)
        else:
            connection.autocommit = True
        with pytest.raises(inbox.InboxError, match="no transaction is open"):
            inbox.claim(connection, event())
        if driver is not MySQLdb:  # mysqlclient does not tell whether a transaction is open
            run(connection, "BEGIN")
            assert inbox.claim(connection, event())
    engine = sqlalchemy.create_engine(database.url("mysql+pymysql"), isolation_level="AUTOCOMMIT")
    with engine.connect() as bare, pytest.raises(inbox.InboxError, match="no transaction is open"):
        inbox.claim(bare, event())
    assert database.execute("SELECT * FROM billcore_inbox") == []


@asynccontextmanager
async def with_aiomysql(database: Database) -> AsyncIterator[Any]:
    given = {**database.given, "db": database.name}
    connection = await aiomysql.connect(**{name: given[name] for name in ("unix_socket", "user", "db")})
    yield connection
    await connection.commit()
    connection.close()


@asynccontextmanager
async def with_asyncmy(database: Database) -> AsyncIterator[Any]:
    async with asyncmy.connect(**database.given) as connection:
        yield connection
        await connection.commit()


def with_async_engine(driver: str, in_session: bool = False) -> Any:
    @asynccontextmanager
    async def begin(database: Database) -> AsyncIterator[Any]:
        engine = create_async_engine(database.url(driver))
        async with AsyncSession(engine) if in_session else engine.connect() as it, it.begin():
            yield it
        await engine.dispose()

    return begin


ASYNC = {
    "aiomysql": with_aiomysql,
    "asyncmy": with_asyncmy,
    "mysql+aiomysql": with_async_engine("mysql+aiomysql"),
    "mysql+asyncmy session": with_async_engine("mysql+asyncmy", in_session=True),
}


@pytest.mark.parametrize("begin", ASYNC.values(), ids=ASYNC)
def test_asyncio(database: Database, begin: Any) -> None:
    async def handle() -> bool:
        async with begin(database) as connection:
            await inbox.alock(connection, "order:1")
            return await inbox.aclaim(connection, event())

    async def both() -> list[bool]:
        return list(await asyncio.gather(handle(), handle()))

    assert sorted(asyncio.run(both())) == [False, True]


def test_the_shown_receiver(database: Database) -> None:
    engine = sqlalchemy.create_engine(database.url("mysql+pymysql"))
    assert [shown_mysql.handle(engine, event()) for _ in range(2)] == [True, False]
    assert len(database.execute("SELECT * FROM effects")) == 1


def test_django(database: Database) -> None:
    given = {"ENGINE": "django.db.backends.mysql", "NAME": database.name, "USER": "u", "HOST": database.server.socket}
    claim_in_django(given)


@pytest.mark.parametrize("setting", ["", "SET sql_mode = 'NO_BACKSLASH_ESCAPES'", "SET NAMES latin1"])
def test_ids_are_compared_byte_by_byte(database: Database, setting: str) -> None:
    """Also without the strict SQL mode, which shortens a text that is too long."""
    ids = ["a", "A", "a ", "á", "a\u0301", "'", "\\'", '"', "%s", "\U0001f600" * 199 + "a", "\U0001f600" * 200]
    for options in ({}, {"charset": "latin1"}):
        with database.connect(**options) as connection:
            if setting:
                run(connection, setting)
            claims = [inbox.claim(connection, event(each, reference_name="'\\\"é"), keep=True) for each in ids]
            connection.commit()
        assert claims == [not options] * len(ids)
    for (body,) in database.execute("SELECT body FROM billcore_inbox"):
        assert webhooks.parse_unverified(body).account


@pytest.mark.parametrize("end", ["commit", "rollback", "close"])
def test_a_claim_waits_for_the_first(database: Database, end: str) -> None:
    first, other = database.connect(), database.connect()
    assert inbox.claim(first, event())
    with ThreadPoolExecutor(1) as threads:
        second = threads.submit(inbox.claim, other, event())
        until(database.waiting)
        getattr(first, end)()
        assert second.result(60) is (end != "commit")
    other.commit()
    other.close()


def test_a_busy_database(database: Database) -> None:
    first, other = database.connect(), database.connect()
    inbox.claim(first, event(1))
    run(other, "SET innodb_lock_wait_timeout = 0")
    with pytest.raises(inbox.InboxBusyError, match="Lock wait timeout exceeded"):
        inbox.claim(other, event(1))
    other.rollback()
    run(other, "SET innodb_lock_wait_timeout = 50")
    inbox.lock(other, "order:1")
    run(first, "INSERT INTO effects VALUES ('a'), ('b')")  # the deadlock ends the smaller transaction
    with ThreadPoolExecutor(1) as threads:
        crossed = threads.submit(inbox.lock, first, "order:1")
        until(database.waiting)
        with pytest.raises(inbox.InboxBusyError, match="Deadlock"):
            inbox.claim(other, event(1))
        crossed.result(60)
    first.commit()
    other.rollback()
    run(other, "SET innodb_snapshot_isolation = ON")  # the default of newer releases
    run(other, "SELECT * FROM billcore_inbox")
    inbox.claim(first, event(2))
    first.commit()
    with pytest.raises(inbox.InboxBusyError, match="Record has changed"):
        inbox.claim(other, event(2))
    first.close()
    other.close()


def test_a_table_of_another_version(database: Database) -> None:
    database.execute("ALTER TABLE billcore_inbox DROP PRIMARY KEY")
    for change in ("ADD COLUMN later int", "DROP COLUMN body", "RENAME TO other"):
        for begin in BLOCKING.values():
            with pytest.raises(inbox.InboxError, match="missing or of another version"), begin(database) as connection:
                inbox.claim(connection, event())
        database.execute(f"ALTER TABLE billcore_inbox {change}")


def test_another_unique_index(database: Database) -> None:
    """A row that a program's own index refuses is not a duplicate of the event."""
    database.execute("ALTER TABLE billcore_inbox ADD UNIQUE INDEX own (name)")
    with database.connect() as connection:
        inbox.claim(connection, event(1))
        with pytest.raises(pymysql.IntegrityError, match="'own'"):
            inbox.claim(connection, event(2))


def test_purge(database: Database) -> None:
    with database.connect(init_command="SET time_zone = '+13:00'") as connection:
        inbox.claim(connection, event())
        assert inbox.purge(connection, datetime.now(UTC) - timedelta(minutes=1)) == 0
        assert inbox.purge(connection, datetime.now(UTC) + timedelta(minutes=1)) == 1
        assert inbox.claim(connection, event())


def test_the_journal_refuses_it(database: Database) -> None:
    engine: Any = sqlalchemy.create_engine(database.url("mysql+pymysql"))
    with billcore.Client(base_url="http://localhost:9/account", api_key="key") as client:
        for source in (engine, database.connect):
            with pytest.raises(JournalError, match=r"not with mysql|not a Connection"):
                Journal(source, client, settle=60).open()
