"""A write that fails: what it leaves is not a copy, although the engine can read it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow
import pytest
from pyarrow import parquet
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from billcore import Client, PossiblyMissedError, bulk
from billcore.testing import Sandbox
from support.waiting import until

from . import engines
from .conftest import Load


def test_a_copy_is_verified(load: Load, sandbox: Sandbox, tmp_path: Path) -> None:
    path = str(tmp_path / "both")
    load("orders_and_reads").write.parquet(path)
    assert bulk.verify(path) == []
    fault = sandbox.control.fault("status", operation="subscriptions.orders", status=403)
    load("orders_and_reads").write.mode("overwrite").parquet(path)
    sandbox.control.delete_fault(fault)
    (read,) = bulk.verify(path)
    assert read.verdict == "failed"


def is_whole(file: Path) -> bool:
    try:
        return parquet.read_metadata(file).num_rows > 0
    except pyarrow.ArrowInvalid:
        return False


@pytest.mark.skipif(engines.SPARK, reason="Spark leaves no files in the folder")
def test_a_failed_write_is_no_copy(
    session: SparkSession, load: Load, client: Client, sandbox: Sandbox, tmp_path: Path
) -> None:
    """Sail leaves the files of the tasks that have ended, and they can be read."""
    path = tmp_path / "both"
    many = client.subscriptions.list(reference_id="demo-many-orders").first()
    assert many is not None
    orders = {"path": f"/subscription/{many.id}/orders", "times": 10**6}
    busy = sandbox.control.fault("status", status=429, **orders)
    with ThreadPoolExecutor(1) as pool:
        writing = pool.submit(load("orders_and_reads", partitions=4).write.parquet, str(path))
        until(lambda: len([*filter(is_whole, path.glob("*.parquet"))]) == 3)
        revoked = sandbox.control.fault("status", status=401, **orders)
        sandbox.control.delete_fault(busy)
        with pytest.raises(PySparkException):
            writing.result()
    sandbox.control.delete_fault(revoked)
    left = session.read.parquet(str(path))
    assert left.count() > 0 and left.where("read_verdict <> 'complete'").count() == 0, "it looks like a whole copy"
    with pytest.raises(PossiblyMissedError, match="the write has not ended"):
        bulk.verify(path)
