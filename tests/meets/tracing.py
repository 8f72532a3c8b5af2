"""Runs the program `traced.py` under a tracer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from support.postgres import Postgres


def under(tracer: str, postgres: Postgres, folder: Path) -> Any:
    """Returns what the program printed."""
    where = [f"host={postgres.host} port={postgres.port} user=postgres dbname=postgres"]
    where += [f"postgresql://postgres@/postgres?host={postgres.host}&port={postgres.port}"]
    # The tracer has nowhere to send its traces, so it must not try.
    silent = dict.fromkeys(["DD_TRACE_ENABLED", "DD_INSTRUMENTATION_TELEMETRY_ENABLED"], "false")
    environment = {**os.environ, **silent, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-m", "meets.traced", tracer, *where, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
