"""Starts Sail, or Spark itself if Sail is not installed. Only the engine has the API key in its environment."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import billcore.spark

# Whether the engine is Spark: its environment has no Sail.
SPARK = find_spec("pysail") is None
# A value in spark.executorEnv, to see where Spark shows it.
VISIBLE = "visible_value_of_another_api_key"
_SAIL = """import sys; from pysail.spark import SparkConnectServer
server = SparkConnectServer(); server.start(); print(server.listening_address[1], flush=True); sys.stdin.read()"""


@contextmanager
def sail(environment: Mapping[str, str]) -> Iterator[SparkSession]:
    """A session of a Sail server, which is a child process with these variables."""
    server = subprocess.Popen(
        [sys.executable, "-c", _SAIL],
        env={**os.environ, "RUST_LOG": "error", **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    try:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        session = SparkSession.builder.remote(f"sc://127.0.0.1:{port}").create()
        session.dataSource.register(billcore.spark.Billcore)
        yield session
        session.stop()  # while the server runs: without it, stop() waits for minutes
    finally:
        server.kill()
        server.communicate()


@contextmanager
def spark(environment: Mapping[str, str], events: Path) -> Iterator[SparkSession]:
    """A session of Spark, in a JVM with these variables, which writes its event log to the folder `events`."""
    settings: dict[str, Any] = {
        "spark.ui.enabled": "false",
        "spark.log.level": "FATAL",
        "spark.sql.session.timeZone": "UTC",
        "spark.eventLog.enabled": "true",
        "spark.eventLog.compress": "false",
        "spark.eventLog.dir": events.as_uri(),
        "spark.executorEnv.OTHER_API_KEY": VISIBLE,
    }
    before = dict(os.environ)
    os.environ.update(environment, SPARK_LOCAL_IP="127.0.0.1", PYSPARK_PYTHON=sys.executable)
    try:
        session = SparkSession.builder.master("local[2,4]").config(map=settings).getOrCreate()
    finally:
        os.environ.clear()
        os.environ.update(before)
    session.dataSource.register(billcore.spark.Billcore)
    yield session
    session.stop()
