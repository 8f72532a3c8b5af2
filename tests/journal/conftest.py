"""Fixtures: databases for the journal, and an account of a sandbox for each test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import billcore
from billcore.testing import Sandbox
from support.postgres import Postgres

from .support import Database, PostgresDatabase, Scene, SqliteDatabase


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    server = Postgres()
    yield server
    server.close()


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as sandbox:
        yield sandbox


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    if request.param == "sqlite":
        made: Database = SqliteDatabase(tmp_path / "charges.db")
    else:
        made = PostgresDatabase(request.getfixturevalue("postgres"))
    yield made
    made.close()


@pytest.fixture
def scene(database: Database, sandbox: Sandbox) -> Iterator[Scene]:
    account = sandbox.new_account()
    with billcore.Client(base_url=account.base_url, api_key=account.api_key, max_retries=0) as client:
        yield Scene(database, account, client)
    sandbox.control.delete_account(account.base_url.rpartition("/")[2])
