"""What an engine has written is checked as a copy: the rows of both relations in one folder."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

import billcore
from billcore import Client, bulk
from billcore.testing import Sandbox
from support.waiting import LONG, until

from . import engines
from .conftest import Load, stored


def test_a_copy_is_verified(load: Load, sandbox: Sandbox, tmp_path: Path) -> None:
    path = str(tmp_path / "both")
    load("orders_and_reads").write.parquet(path)
    assert bulk.verify(path) == []
    fault = sandbox.control.fault("status", operation="subscriptions.orders", status=403)
    load("orders_and_reads").write.mode("overwrite").parquet(path)
    sandbox.control.delete_fault(fault)
    (read,) = bulk.verify(path)
    assert read.verdict == "failed"


@pytest.mark.skipif(engines.SPARK, reason="Spark leaves no file that can be read")
def test_a_failed_write_is_no_copy(
    session: SparkSession, load: Load, client: Client, sandbox: Sandbox, tmp_path: Path
) -> None:
    """The key is revoked when a single list is unread: only the number of the lists tells."""
    path, unread = str(tmp_path / "both"), [each.id for each in client.subscriptions.list()][-1]
    target = f"/subscription/{unread}/orders"
    waits = sandbox.control.fault("status", path=target, status=503, times=10**6)
    begin = max(each["id"] for each in sandbox.control.requests())

    def answers() -> Counter[int | None]:
        return Counter(each["status"] for each in sandbox.control.requests("subscriptions.orders", since=begin))

    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(load("orders_and_reads", patience=100).write.parquet, path)
        until(lambda: answers()[200] >= stored(sandbox, "subscriptions") - 1, LONG)
        asked = answers()[503]
        until(lambda: answers()[503] > asked + 2, LONG)  # Sail has got the rows of the other tasks meanwhile
        sandbox.control.fault("status", path=target, status=401)
        sandbox.control.delete_fault(waits)
        with pytest.raises(PySparkException, match="401"):
            writing.result()
    assert {row.read_verdict for row in session.read.parquet(path).collect()} == {None, "complete"}
    with pytest.raises(
        billcore.PossiblyMissedError, match=r"lists of the plan are there|list of subscriptions is missing"
    ):
        bulk.verify(path)
