"""Spark loses an executor after a shuffle, and the lists grew meanwhile: it reads them again, with other rows."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pyspark
import pytest

import billcore
from billcore import Client
from billcore.spark import Billcore
from billcore.testing import Sandbox
from support.waiting import until

from . import engines
from .conftest import all_orders

PROGRAM = """
import sys, time
from pathlib import Path
from pyspark import TaskContext
from pyspark.sql import SparkSession
import billcore.spark
folder = Path(sys.argv[1])
def wait(batches):
    number = TaskContext.get().partitionId()
    if number >= 2:
        (folder / f"waits-{number}").touch()
        while not (folder / "go").exists():
            time.sleep(0.01)
    yield from batches
settings = {"spark.ui.enabled": "false", "spark.log.level": "FATAL"}
spark = SparkSession.builder.master("local-cluster[2,1,1024]").config(map=settings).getOrCreate()
spark.dataSource.register(billcore.spark.Billcore)
orders = spark.read.format("billcore").options(resource="orders", partitions=4).schema("id string").load()
orders.repartition(8).mapInArrow(wait, "id string").write.parquet(str(folder / "orders"))
print(sorted(row.id for row in spark.read.parquet(str(folder / "orders")).collect()))
"""


def executors(folder: Path) -> dict[str, int]:
    """The processes of the program's executors, by their number."""
    found = {}
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = file.read_bytes().decode().split("\0")
            if "--executor-id" in words and str(folder).encode() in (file.parent / "environ").read_bytes():
                found[words[words.index("--executor-id") + 1]] = int(file.parent.name)
        except OSError:  # the process has ended
            continue
    return found


@pytest.mark.skipif(not engines.SPARK, reason="the engine is Sail")
def test_no_order_is_lost_or_duplicated(client: Client, sandbox: Sandbox, tmp_path: Path) -> None:
    """Spark repeats all tasks, or the write fails."""
    before = {id for id, _, _ in all_orders(client)}
    variables = {name: value for name, value in os.environ.items() if "SPARK" not in name}
    variables |= {"BILLCORE_API_KEY": sandbox.api_key, "BILLCORE_BASE_URL": sandbox.base_url, "TRIAL": str(tmp_path)}
    variables |= {"SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    # The processes of the executors start from these.
    variables |= {"SPARK_HOME": str(Path(pyspark.__file__).parent), "SPARK_SCALA_VERSION": "2.13"}
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, tmp_path],
        env=variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        until(lambda: program.poll() is not None or len([*tmp_path.glob("waits-*")]) == 2, 300)
        assert program.poll() is None
        grows = sandbox.control.fault("rows", operation="subscriptions.orders", insert=3, times=10**5)
        for subscription in client.subscriptions.list():
            client.subscriptions.orders(subscription.id).first()  # the list grows after this answer
        sandbox.control.delete_fault(grows)
        begin = max(each["id"] for each in sandbox.control.requests())
        found = executors(tmp_path)
        assert len(found) == 2
        os.kill(min(found.values()), signal.SIGKILL)
        (tmp_path / "go").touch()
        out, errors = program.communicate(timeout=300)
    finally:
        program.kill()
        program.communicate()
    assert sandbox.control.requests("subscriptions.orders", since=begin), "no list was read again"
    if program.returncode != 0:
        assert "indeterminate" in errors
    else:
        orders = out.strip().strip("[]").replace("'", "").split(", ")
        assert len(orders) == len({*orders}), "an order is there twice"
        assert before <= {*orders}, "an order is lost"


@pytest.mark.parametrize(
    ("version", "refused"), [("4.0.5", True), ("4.2.1", True), ("4.3.0", False), ("4.10.0", False)]
)
def test_older_versions_of_spark_are_refused(monkeypatch: pytest.MonkeyPatch, version: str, refused: bool) -> None:
    """Spark 4.0 fails the test above: it repeats the lost tasks alone."""
    monkeypatch.setattr("pyspark.__version__", version)
    monkeypatch.setattr("billcore.spark.find_spec", lambda name: None)
    says = rf"Spark {version} may lose and duplicate .*: use Spark 4\.3 or newer"
    with pytest.raises(billcore.ConfigError, match=says) if refused else nullcontext():
        Billcore({"resource": "orders"})
