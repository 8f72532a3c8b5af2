"""Connections that ddtrace watches: the inbox and the journal take them for what they are."""

from __future__ import annotations

from pathlib import Path

from support.postgres import Postgres

from .tracing import under


def test_connections_traced_by_ddtrace_work(postgres: Postgres, tmp_path: Path) -> None:
    assert under("ddtrace", postgres, tmp_path) == {
        "sqlite3": ["ddtrace", True, False, "charged once"],
        "psycopg": ["ddtrace", True, False, "charged once"],
        "psycopg2": ["ddtrace", True, False],
        "asyncpg": [True, False],
        "asyncpg in wrapt": [True, False],
        "psycopg async": [True, False],
        "engine": [True, False],
    }
