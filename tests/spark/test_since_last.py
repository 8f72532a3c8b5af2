"""The current view of `billcore export --since-last`, as the page defines it for Spark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from billcore import Client
from billcore.cli import main
from billcore.testing import Sandbox

PAGE = Path(__file__).resolve().parents[2] / "python/docs/export.md"


def test_the_orders_as_they_are_now(
    session: SparkSession, sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    account = sandbox.new_account()
    monkeypatch.setenv("BILLCORE_BASE_URL", account.base_url)
    monkeypatch.setenv("BILLCORE_API_KEY", account.api_key)
    arguments = ["export", "orders", "-o", str(tmp_path / "lake"), "--format", "parquet", "--since-last"]
    made = account.control.checkout(account.ids["products"]["subscription"], billing="invoice")
    account.control.confirm(made["order"]["id"])
    assert main(arguments) == 0
    account.control.pay(made["order"]["id"])
    id = str(account.ids["subscriptions"]["demo-many-orders"])
    account.control.fault("rows", path=f"/subscription/{id}/orders", delete=2, insert=1)
    with Client(base_url=account.base_url, api_key=account.api_key) as client:
        client.subscriptions.orders(id).first()
        assert main([*arguments, "--full"]) == 0
        wanted = {
            (str(subscription.id), str(order.id), str(order.state), order.created_at)
            for subscription in client.subscriptions.list()
            for order in client.subscriptions.orders(subscription.id, per_page=200)
        }
    [text] = re.findall(r"^In Spark and Sail:\n+```sql\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    for statement in text.replace("'lake/", f"'{tmp_path}/lake/").split(";")[:-1]:
        session.sql(statement)
    found = session.sql("SELECT subscription_id, id, state, created_at FROM orders").toArrow().to_pylist()
    assert len(found) == len(wanted) and {tuple(row.values()) for row in found} == wanted
