"""Connections that a tracer watches: the inbox and the journal take them for what they are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.postgres import Postgres


@pytest.mark.parametrize("tracer", ["ddtrace", "opentelemetry"])
def test_traced_connections_work(postgres: Postgres, tmp_path: Path, tracer: str) -> None:
    where = [f"host={postgres.host} port={postgres.port} user=postgres dbname=postgres"]
    where += [f"postgresql://postgres@/postgres?host={postgres.host}&port={postgres.port}"]
    # The tracer has nowhere to send its traces, so it must not try.
    silent = dict.fromkeys(["DD_TRACE_ENABLED", "DD_INSTRUMENTATION_TELEMETRY_ENABLED"], "false")
    environment = {**os.environ, **silent, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "meets.traced", tracer, *where, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "sqlite3": [tracer, True, False, "charged once"],
        "psycopg": [tracer, True, False, "charged once"],
        "psycopg2": [tracer, True, False],
        "asyncpg": [True, False],
        "asyncpg in wrapt": [True, False],
        "psycopg async": [True, False],
        "engine": [True, False],
    }
