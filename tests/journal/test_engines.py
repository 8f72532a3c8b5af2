"""Journals with every kind of connection function and engine; a fork; what is refused as a database."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import multiprocessing
import sqlite3
from collections.abc import Callable, Coroutine
from typing import Any

import psycopg
import pytest
import sqlalchemy
from psycopg.rows import dict_row
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import scoped_session, sessionmaker

import billcore
from billcore.journal import ChargeInProgressError, ChargePendingError, Journal, JournalError
from support.waiting import GENEROUS

from .support import CHARGE, Database, Scene, SqliteDatabase, on_sqlite, opened

Source = Callable[[Database], Any]


def by_function(**options: Any) -> Source:
    """Returns a function that makes, for a database, a connection function with these options of connect()."""

    def source(database: Database) -> Any:
        if isinstance(database, SqliteDatabase):
            return lambda: sqlite3.connect(database.where(), timeout=30, **options)
        return lambda: psycopg.connect(database.where(), **options)

    return source


def with_rows(row_factory: Any, text_factory: Any = str) -> Source:
    def source(database: Database) -> Any:
        def connect() -> sqlite3.Connection:
            connection = sqlite3.connect(database.where())
            connection.row_factory, connection.text_factory = row_factory, text_factory
            return connection

        return connect

    return source


def by_engine(begins: bool = False, **options: Any) -> Source:
    """Returns a function that makes an engine for a database.

    begins: the engine sends BEGIN itself, as SQLAlchemy recommends for SQLite.
    """

    def source(database: Database) -> Any:
        engine = sqlalchemy.create_engine(database.url(), **options)
        if begins:
            sqlalchemy.event.listen(engine, "connect", lambda raw, _: setattr(raw, "isolation_level", None))
            sqlalchemy.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN"))
        return engine

    return source


class Connection(sqlite3.Connection):
    """A subclass of sqlite3's connection, such as profilers use."""


def to_dict(cursor: sqlite3.Cursor, row: tuple[Any, ...]) -> dict[str, Any]:
    return {name[0]: value for name, value in zip(cursor.description, row, strict=True)}


SQLITE: dict[str, Source] = {
    "function": by_function(),
    "isolation_level=None": by_function(isolation_level=None),
    "subclass": by_function(factory=Connection),
    "Row": with_rows(sqlite3.Row),
    "dict": with_rows(to_dict),
    "bytes": with_rows(None, bytes),
    "engine": by_engine(),
    "engine that begins": by_engine(begins=True),
    "AUTOCOMMIT": by_engine(isolation_level="AUTOCOMMIT"),
    "StaticPool": by_engine(poolclass=sqlalchemy.StaticPool),
}
POSTGRES: dict[str, Source] = {
    "function": by_function(),
    "autocommit": by_function(autocommit=True),
    "dict_row": by_function(row_factory=dict_row),
    "client cursor": by_function(cursor_factory=psycopg.ClientCursor),
    "engine": by_engine(),
    "AUTOCOMMIT": by_engine(isolation_level="AUTOCOMMIT"),
    "SERIALIZABLE": by_engine(isolation_level="SERIALIZABLE"),
}
ASYNC: dict[str, Source] = {
    "asyncpg": lambda database: create_async_engine(database.url(asynchronous=True)),
    "asyncpg AUTOCOMMIT": lambda database: create_async_engine(
        database.url(asynchronous=True), isolation_level="AUTOCOMMIT"
    ),
    "psycopg": lambda database: create_async_engine(database.url()),
}


def forms(database: str, sources: dict[str, Source]) -> list[Any]:
    return [pytest.param(database, source, id=f"{database} {name}") for name, source in sources.items()]


BLOCKING = [*forms("sqlite", SQLITE), *forms("postgresql", POSTGRES)]
each_form = pytest.mark.parametrize(("database", "source"), BLOCKING, indirect=["database"])
# An AsyncJournal runs the statements of a blocking source in threads, as a Journal runs them.
THREADS = {name: SQLITE[name] for name in ("function", "engine")}
each_async_form = pytest.mark.parametrize(
    ("database", "source"), [*forms("sqlite", THREADS), *forms("postgresql", ASYNC)], indirect=["database"]
)


async def life(scene: Scene, call: Callable[..., Coroutine[Any, Any, Any]]) -> None:
    """Uses all methods of a journal. call: calls the journal's method with the given name."""
    given: dict[str, Any] = {"product_id": scene.product, "amount": 1500}
    subscription = scene.subscription

    def fault(kind: Any, **options: Any) -> None:
        scene.control.fault(kind, method="POST", path=CHARGE, **options)

    order = await call("charge", "plain", subscription, **given)
    assert await call("charge", "plain", subscription, **given) == order and order.total == 1500
    fault("status", status=422)
    with pytest.raises(billcore.ValidationError):
        await call("charge", "refused", subscription, **given)
    fault("reset_after")
    with pytest.raises(ChargePendingError):
        await call("charge", "lost", subscription, **given)
    for key in ("new", "refused"):  # the unique index refuses an INSERT and an UPDATE
        with pytest.raises(ChargeInProgressError, match="'lost'") as blocked:
            await call("charge", key, subscription, **given)
        assert blocked.value.other == "lost"
    assert await call("get", "new") is None
    assert [each.key for each in await call("open")] == ["lost"]
    assert str((await call("charge", "lost", subscription, **given)).id) == scene.charges()[1]["order_id"]
    fault("reset_before")
    with pytest.raises(ChargePendingError):
        await call("charge", "asserted", subscription, description="größer 😀 :now % %s", **given)
    scene.database.age(1000)
    await call("resolve", "asserted", None)
    assert (await call("get", "asserted")).state == "not_sent" and await call("get", "none") is None
    await call("accept_total_rule", field="total", per="amount_times_quantity")
    await call("charge", "asserted", subscription, description="größer 😀 :now % %s", **given)
    with pytest.raises(billcore.PaymentError):
        await call("charge", "declined", scene.declining, **given)
    with pytest.raises(billcore.PaymentError):
        await call("charge", "declined", scene.declining, **given)
    assert len(scene.charges()) == 3 and await call("open") == []


@each_form
def test_a_journal_charges_once_on_each_kind_of_connection(scene: Scene, source: Source) -> None:
    journal = Journal(source(scene.database), scene.client, settle=60)

    async def call(name: str, *args: Any, **kwargs: Any) -> Any:
        return getattr(journal, name)(*args, **kwargs)

    asyncio.run(life(scene, call))


@each_async_form
def test_an_async_journal(scene: Scene, source: Source) -> None:
    async def main() -> None:
        async with opened(scene, source(scene.database)) as journal:
            await life(scene, lambda name, *args, **kwargs: getattr(journal, name)(*args, **kwargs))

    asyncio.run(main())


def test_every_commit_is_durable(scene: Scene) -> None:
    """The journal's commits wait for the disk, even if the database's default setting does not."""
    if isinstance(scene.database, SqliteDatabase):
        said: list[str] = []

        def connect() -> Any:
            connection = scene.database.connect()
            connection.execute("PRAGMA synchronous = OFF")
            connection.set_trace_callback(said.append)
            return connection

        scene.charge(Journal(connect, scene.client), "function")
        scene.charge(Journal(sqlalchemy.create_engine("sqlite://", creator=connect), scene.client), "engine")
        writes = [each for each in said if not each.startswith(("SELECT", "COMMIT", "ROLLBACK"))]
        for before, write in itertools.pairwise(writes):
            if write.startswith("BEGIN"):
                assert before == "PRAGMA synchronous = FULL"
        assert sum(each.startswith("BEGIN") for each in writes) >= 4
        return
    scene.journal().open()
    scene.database.execute("CREATE TABLE seen (setting text)")
    scene.database.execute(
        "CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
        " INSERT INTO seen VALUES (current_setting('synchronous_commit')); RETURN NEW; END $$"
    )
    scene.database.execute(
        "CREATE TRIGGER note BEFORE INSERT OR UPDATE ON billcore_charges FOR EACH ROW EXECUTE FUNCTION note()"
    )
    scene.database.execute(f"ALTER DATABASE {scene.database.name} SET synchronous_commit = off")
    for name, source in (POSTGRES | {"engine": by_engine()}).items():
        scene.charge(Journal(source(scene.database), scene.client), name)
    assert scene.database.execute("SELECT setting, count(*) FROM seen GROUP BY 1") == [("on", 2 * len(POSTGRES))]


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_forked_child_and_its_parent(scene: Scene) -> None:
    engine = sqlalchemy.create_engine(scene.database.url())
    journal = Journal(engine, scene.client, settle=60)
    scene.charge(journal, "before")

    def child() -> None:
        engine.dispose(close=False)
        assert scene.charge(journal, "before").total == 1500
        scene.charge(journal, "child")

    process = multiprocessing.get_context("fork").Process(target=child)
    process.start()
    process.join(GENEROUS)
    assert process.exitcode == 0
    for key in ("child", "parent"):
        scene.charge(journal, key)
    assert len(scene.charges()) == 3


def test_a_text_or_a_connection_is_refused_as_a_database(scene: Scene) -> None:
    engine = create_async_engine("postgresql+asyncpg://localhost/none")
    sessions = sessionmaker(sqlalchemy.create_engine("sqlite://"))
    with contextlib.closing(scene.database.connect()) as connection:
        for wrong in ("charges.db", None, connection, sessions, scoped_session(sessions)):
            with pytest.raises(TypeError, match="function that returns a new connection"):
                Journal(wrong, scene.client)
        with pytest.raises(TypeError, match="AsyncJournal"):
            Journal(engine, scene.client)
        with pytest.raises(JournalError, match="not a str: use an SQLAlchemy engine"):
            Journal(lambda: "connection", scene.client).open()
        connection.execute("CREATE TABLE own (n int)")
        connection.execute("INSERT INTO own VALUES (1)")
        with pytest.raises(JournalError, match="a function that returns a new connection each time"):
            Journal(lambda: connection, scene.client).open()
        connection.rollback()
    with contextlib.closing(scene.database.connect()) as connection:
        shared = Journal(lambda: connection, scene.client)
        with pytest.raises(JournalError, match="a function that returns a new connection each time"):
            scene.charge(shared)
    assert scene.sent() == 0


@on_sqlite
def test_a_pool_that_shares_the_callers_transaction(scene: Scene) -> None:
    engine = sqlalchemy.create_engine(scene.database.url(), poolclass=sqlalchemy.StaticPool)
    with engine.connect() as connection:
        connection.execute(sqlalchemy.text("CREATE TABLE own (n int)"))
        connection.execute(sqlalchemy.text("INSERT INTO own VALUES (1)"))
        with pytest.raises(JournalError, match="use another pool"):
            scene.charge(Journal(engine, scene.client))
        connection.rollback()
    assert scene.database.execute("SELECT * FROM own") == [] and scene.sent() == 0
    engine.dispose()
