"""Connections that OpenTelemetry watches: the inbox and the journal take them for what they are."""

from __future__ import annotations

from pathlib import Path

from support.postgres import Postgres

from .tracing import under


def test_connections_traced_by_opentelemetry_work(postgres: Postgres, tmp_path: Path) -> None:
    assert under("opentelemetry", postgres, tmp_path) == {
        "sqlite3": ["opentelemetry", True, False, "charged once"],
        "psycopg": ["opentelemetry", True, False, "charged once"],
        "psycopg2": ["opentelemetry", True, False],
        "asyncpg": [True, False],
        "asyncpg in wrapt": [True, False],
        "psycopg async": [True, False],
        "engine": [True, False],
    }
