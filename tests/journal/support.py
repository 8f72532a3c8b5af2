"""Shared by the tests of the journal: databases, and helpers for a journal that charges in a sandbox."""

from __future__ import annotations

import contextlib
import itertools
import shutil
import sqlite3
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest

import billcore
from billcore.journal import AsyncJournal, Journal, schema
from billcore.testing import SandboxAccount
from support.postgres import Postgres

CHARGE = "/subscription/*/order"
PAST = 1000.0  # seconds; longer than every deadline plus settle in the tests
on_sqlite = pytest.mark.parametrize("database", ["sqlite"], indirect=True)
_numbers = itertools.count(1)


class Database(ABC):
    """A separate database for one test. The method `connect` is the connection function for a Journal."""

    file: Path  # SQLite
    name: str  # PostgreSQL

    @abstractmethod
    def connect(self) -> Any: ...

    @abstractmethod
    def where(self) -> str:
        """The argument for the driver's connect()."""

    @abstractmethod
    def url(self, asynchronous: bool = False) -> str:
        """The URL for SQLAlchemy. asynchronous: for the drivers asyncpg and aiosqlite."""

    def execute(self, sql: str) -> list[tuple[Any, ...]]:
        """Runs a statement; returns its rows."""
        with contextlib.closing(self.connect()) as connection:
            cursor = connection.execute(sql)
            rows = cursor.fetchall() if cursor.description else []
            connection.commit()
        return [tuple(row) for row in rows]

    @abstractmethod
    def backup(self) -> Database:
        """A copy of this database."""

    def migrate(self) -> None:
        """Makes the journal's tables, as a program's migration does."""
        for statement in schema("sqlite" if isinstance(self, SqliteDatabase) else "postgresql").split(";\n")[:-1]:
            self.execute(statement)

    def age(self, seconds: float) -> None:
        """Moves all times in the journal's table into the past, as if `seconds` had passed."""
        columns = ("created", "deadline", "uncertain", "late", "changed")
        self.execute(f"UPDATE billcore_charges SET {', '.join(f'{each} = {each} - {seconds}' for each in columns)}")

    @abstractmethod
    def goes_down(self) -> None:
        """Makes the database unusable until comes_up()."""

    @abstractmethod
    def comes_up(self) -> None: ...

    def state(self, key: str) -> str:
        rows = self.execute(f"SELECT state FROM billcore_charges WHERE key = '{key}'")
        return str(rows[0][0]) if rows else "none"

    def close(self) -> None:
        return


class SqliteDatabase(Database):
    def __init__(self, file: Path) -> None:
        self.file = file

    def connect(self) -> Any:
        return sqlite3.connect(self.where(), timeout=30)

    def where(self) -> str:
        return str(self.file)

    def url(self, asynchronous: bool = False) -> str:
        return f"sqlite{'+aiosqlite' if asynchronous else ''}:///{self.file}"

    def backup(self) -> Database:
        return SqliteDatabase(Path(shutil.copy(self.file, self.file.with_suffix(".backup"))))

    def goes_down(self) -> None:
        self._lock = sqlite3.connect(self.file)
        self._lock.execute("BEGIN EXCLUSIVE")

    def comes_up(self) -> None:
        self._lock.close()


class PostgresDatabase(Database):
    def __init__(self, server: Postgres, template: str = "template1") -> None:
        self.server = server
        self.name = f"journal_{next(_numbers)}"
        with psycopg.connect(self.conninfo("postgres"), autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {self.name} TEMPLATE {template}")

    def backup(self) -> Database:
        return PostgresDatabase(self.server, self.name)

    def conninfo(self, name: str | None = None) -> str:
        return f"host={self.server.host} port={self.server.port} user=postgres dbname={name or self.name}"

    def where(self) -> str:
        return self.conninfo()

    def connect(self) -> Any:
        return psycopg.connect(self.where())

    def url(self, asynchronous: bool = False) -> str:
        driver = "asyncpg" if asynchronous else "psycopg"
        return f"postgresql+{driver}://postgres@/{self.name}?host={self.server.host}&port={self.server.port}"

    def goes_down(self) -> None:
        self._allow("false")

    def comes_up(self) -> None:
        self._allow("true")

    def _allow(self, allowed: str) -> None:
        with psycopg.connect(self.conninfo("postgres"), autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {self.name} ALLOW_CONNECTIONS {allowed}")


class Scene:
    """A database for journals, and the account of a sandbox in which they charge."""

    def __init__(self, database: Database, account: SandboxAccount, client: billcore.Client) -> None:
        self.database, self.account, self.client = database, account, client
        self.control = account.control
        self.product: int = account.ids["products"]["one_time"]
        self.subscription: str = str(account.ids["subscriptions"]["demo-active"])
        self.declining: str = str(account.ids["subscriptions"]["demo-declined"])

    def journal(self, connect: Any = None, **options: Any) -> Journal:
        return Journal(connect or self.database.connect, self.client, **{"settle": 60.0, **options})

    def charge(self, journal: Journal, key: str = "k", **changes: Any) -> billcore.Order:
        given = {"subscription": self.subscription, "product_id": self.product, "amount": 1500, **changes}
        return journal.charge(key, given.pop("subscription"), **given)

    def charges(self) -> list[dict[str, Any]]:
        """The charges that the service made."""
        return self.control.ledger("charge")

    def sent(self) -> int:
        """The number of charge requests that the service received."""
        return sum(each["method"] == "POST" for each in self.control.requests())


@contextlib.asynccontextmanager
async def opened(scene: Scene, source: Any) -> AsyncIterator[AsyncJournal]:
    """An AsyncJournal; closes its engine at the end."""
    account = scene.account
    async with billcore.AsyncClient(base_url=account.base_url, api_key=account.api_key, max_retries=0) as client:
        yield AsyncJournal(source, client, settle=60)
    if hasattr(source, "sync_engine"):
        await source.dispose()


def once(scene: Scene, method: str, act: Callable[[], object]) -> None:
    """Makes the client call `act` before its next request with this method."""
    acts = [act]

    class Hooks:
        def on_request(self, attempt: billcore.Attempt) -> None:
            if attempt.method == method and acts:
                acts.pop()()

    account = scene.account
    scene.client = billcore.Client(
        base_url=account.base_url, api_key=account.api_key, max_retries=0, hooks=Hooks(), concurrency=1
    )


def settled(scene: Scene, key: str = "k", **changes: Any) -> billcore.Order:
    """Repairs the client, lets enough time pass, and charges again; returns the order, which must be the only one."""
    scene.client = billcore.Client(base_url=scene.account.base_url, api_key=scene.account.api_key, max_retries=0)
    scene.journal().open()
    scene.database.age(PAST)
    order = scene.charge(scene.journal(), key, **changes)
    assert [each["order_id"] for each in scene.charges()] == [str(order.id)]
    return order


def is_one_sentence(error: BaseException) -> bool:
    return 0 < len(str(error)) < 400 and "\n" not in str(error)
