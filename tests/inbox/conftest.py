"""Fixtures: databases with the inbox's table."""

from __future__ import annotations

from pathlib import Path

import pytest

from journal.conftest import postgres
from journal.support import Database, PostgresDatabase, SqliteDatabase
from support.postgres import Postgres

from .support import prepare

__all__ = ["postgres"]


@pytest.fixture
def sqlite(tmp_path: Path) -> Database:
    made = SqliteDatabase(tmp_path / "events.db")
    prepare(made)
    return made


@pytest.fixture
def postgresql(postgres: Postgres) -> Database:
    made = PostgresDatabase(postgres)
    prepare(made)
    return made


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest) -> Database:
    made: Database = request.getfixturevalue(request.param)
    return made
