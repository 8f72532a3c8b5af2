"""Fixtures: databases for the journal, and an account of a sandbox for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import billcore
from billcore.testing import SandboxAccount
from support.accounts import account, sandbox
from support.postgres import Postgres

from .support import Database, PostgresDatabase, Scene, SqliteDatabase

__all__ = ["account", "sandbox"]


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    server = Postgres()
    yield server
    server.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    if request.param == "sqlite":
        made: Database = SqliteDatabase(tmp_path / "charges.db")
    else:
        made = PostgresDatabase(request.getfixturevalue("postgres"))
    made.migrate()
    yield made
    made.close()


@pytest.fixture
def scene(database: Database, account: SandboxAccount) -> Iterator[Scene]:
    with billcore.Client(base_url=account.base_url, api_key=account.api_key, max_retries=0) as client:
        yield Scene(database, account, client)
