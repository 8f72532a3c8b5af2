"""Fixtures: databases with the inbox's table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from billcore import inbox
from journal.support import Database, PostgresDatabase, SqliteDatabase
from support.postgres import Postgres


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Postgres]:
    server = Postgres(tmp_path_factory.mktemp("pg"))
    yield server
    server.close()


@pytest.fixture
def sqlite(tmp_path: Path) -> Database:
    made = SqliteDatabase(tmp_path / "events.db")
    prepare(made, "sqlite")
    return made


@pytest.fixture
def postgresql(postgres: Postgres) -> Database:
    made = PostgresDatabase(postgres)
    prepare(made, "postgresql")
    return made


def prepare(database: Database, dialect: str) -> None:
    for statement in inbox.schema(dialect).split(";\n"):  # type: ignore[arg-type]
        if statement.strip():
            database.execute(statement)
    database.execute("CREATE TABLE effects (id text NOT NULL)")
