"""The recipe for dlt in python/docs/bulk_engines.md. The area install runs the recipes of the other packages."""

from __future__ import annotations

import os
import re
from pathlib import Path

import duckdb
import pytest

from .support import Scene, child

PAGE = Path(__file__).parents[2] / "python/docs/bulk_engines.md"
PYTHON = os.environ.get("BILLCORE_DLT", "")
pytestmark = pytest.mark.skipif(not PYTHON, reason="BILLCORE_DLT is not set: tests/run.sh bulk installs dlt")


def run_recipe(scene: Scene, folder: Path) -> tuple[int, str]:
    """Runs the recipe in a folder, which then has billing.duckdb; returns the status and stderr."""
    (code,) = re.findall(r"^```py\n(import dlt\n.*?)^```$", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    process = child(
        f"import os, billcore\nfrom billcore import bulk\nos.chdir({str(folder)!r})\n{code}",
        python=PYTHON,
        BILLCORE_BASE_URL=scene.account.base_url,
        BILLCORE_API_KEY=scene.account.api_key,
        DLT_DATA_DIR=str(folder),
        RUNTIME__DLTHUB_TELEMETRY="false",
    )
    _, err = process.communicate(timeout=120)
    return process.returncode, err


def test_dlt(scene: Scene, tmp_path: Path) -> None:
    status, err = run_recipe(scene, tmp_path)
    assert status == 0, err
    with duckdb.connect(str(tmp_path / "billing.duckdb")) as db:
        orders = db.sql("select subscription_id, id from raw.orders").fetchall()
        verdicts = db.sql("select verdict, count(*) from raw.reads group by all").fetchall()
    assert sorted(orders) == sorted((id, order) for id, orders in scene.stored().items() for order in orders)
    assert verdicts == [("complete", len(scene.subscriptions()) + 1)]


def test_dlt_loads_nothing_after_an_error(scene: Scene, tmp_path: Path) -> None:
    scene.control.fault("status", operation="orders", nth=4, status=401, times=100)
    status, err = run_recipe(scene, tmp_path)
    assert status == 1 and "AuthenticationError" in err
    with duckdb.connect(str(tmp_path / "billing.duckdb")) as db:
        assert "orders" not in [name for (name,) in db.sql("select table_name from duckdb_tables()").fetchall()]
