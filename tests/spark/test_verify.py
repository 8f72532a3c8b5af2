"""What an engine has written is checked as a copy: the rows of both relations in one folder."""

from __future__ import annotations

from pathlib import Path

from billcore import bulk
from billcore.testing import Sandbox

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
