"""Spark itself, as BILLCORE_SPARK=1 tests/run.sh bulk runs it: a task that is retried, and what Spark shows."""

from __future__ import annotations

import os
import signal
import threading
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from billcore.testing import Sandbox

from . import engines
from .conftest import Load, stored

pytestmark = pytest.mark.skipif(not engines.SPARK, reason="the engine is Sail")


def python_workers(jvm: int) -> list[int]:
    """The processes that read partitions: the children of pyspark's daemon, which is a child of the JVM."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
        except OSError:  # the process has ended
            continue
    return [process for process, parent in parents.items() if parents.get(parent) == jvm]


def test_a_killed_worker_is_retried_without_a_duplicate(
    session: SparkSession, load: Load, sandbox: Sandbox, tmp_path: Path
) -> None:
    lists = stored(sandbox, "subscriptions")
    frame = load("orders", "id string", partitions=4, lists_at_once=2)
    slow = sandbox.control.fault("delay", delay=0.1, operation="subscriptions.orders", times=10**6)
    begin = max((each["id"] for each in sandbox.control.requests()), default=0)
    writing = threading.Thread(target=frame.write.parquet, args=[str(tmp_path / "orders")])
    writing.start()
    while len(sandbox.control.requests("subscriptions.orders", since=begin)) < lists // 4:
        assert writing.is_alive()
    killed = python_workers(session.sparkContext._jvm.java.lang.ProcessHandle.current().pid())
    for worker in killed:
        os.kill(worker, signal.SIGKILL)
    sandbox.control.delete_fault(slow)
    writing.join()
    requests = Counter(each["target"] for each in sandbox.control.requests("subscriptions.orders", since=begin))
    assert killed and max(requests.values()) > 1  # a list was read again
    written = session.read.parquet(str(tmp_path / "orders"))
    assert written.count() == written.distinct().count() == stored(sandbox, "orders")


def test_spark_shows_no_key(session: SparkSession, load: Load, sandbox: Sandbox, folder: Path) -> None:
    """Spark does show what is in spark.executorEnv, so the documentation advises against it."""
    frame = load("orders", "id string")
    frame.collect()
    plan = frame._jdf.queryExecution().toString()
    settings = str(session.sql("SET -v").collect())
    events = "".join(log.read_text() for log in folder.glob("eventlog*/events*"))
    assert "billcore" in plan and "billcore" in events and "spark.sql." in settings
    for shown in (plan, settings, events):
        assert sandbox.api_key not in shown
    assert engines.VISIBLE in events
