"""Tests of a shop, which test_xdist.py runs in two workers. python/docs/with/testing.md shows the test."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import billcore
from billcore.testing import SandboxAccount


@pytest.mark.parametrize("cents", range(1500, 1508))
def test_charge(billcore_sandbox: SandboxAccount, cents: int) -> None:
    active, product = billcore_sandbox.ids["subscriptions"]["demo-active"], billcore_sandbox.ids["products"]["one_time"]
    with billcore.Client(base_url=billcore_sandbox.base_url, api_key=billcore_sandbox.api_key) as client:
        client.subscriptions.charge(active, product_id=product, amount=cents)
    assert [charge["amount"] for charge in billcore_sandbox.control.ledger("charge")] == [cents]
    # end
    seen = Path(os.environ["SEEN"]) / str(cents)
    seen.write_text(f"{os.environ['PYTEST_XDIST_WORKER']} {billcore_sandbox.base_url}")
