"""After a charge of unknown outcome: which orders may be its effect."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

import billcore
from billcore.testing import FaultKind, Sandbox
from conformance.server import Reply, json_reply

from .conftest import Serve
from .support import ORDER


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox() as running:
        yield running


@pytest.mark.parametrize("kind", ["reset_after", "half_body", "status"])
def test_the_charge_is_found(sandbox: Sandbox, kind: FaultKind) -> None:
    with billcore.Client(base_url=sandbox.base_url, api_key=sandbox.api_key) as client:
        (subscription,) = client.subscriptions.list(reference_id="demo-active")
        product = next(product for product in client.products.list() if "one" in product.type)
        now = client.subscriptions.charge(subscription.id, product_id=product.id, amount=100).created_at
        before = {order.id for order in client.subscriptions.orders(subscription.id)}
        sandbox.control.fault(kind, method="POST", path="/subscription/*/order", times=1, status=504)
        with pytest.raises(billcore.BillcoreError) as caught:
            client.subscriptions.charge(subscription.id, product_id=product.id, amount=777)
        error = caught.value
        assert isinstance(error, (billcore.OutcomeUnknownError, billcore.ServerError)) and error.outcome_unknown
        made = [order for order in client.subscriptions.orders(subscription.id) if order.id not in before]
        assert error.attempted_at is not None
        skew = max(timedelta(0), error.attempted_at - now) + timedelta(seconds=5)  # the sandbox has a clock of its own
        found = [order for order in error.find_candidates(skew=skew) if order.id not in before]
        assert found == made and (kind == "status" or [order.total for order in found] == [777])
        again = pickle.loads(pickle.dumps(error))
        with pytest.raises(billcore.InvalidArgumentError, match="client"):
            again.find_candidates()
        assert made == [order for order in again.find_candidates(client, skew=skew) if order.id not in before]


def test_older_orders_are_none(serve: Serve) -> None:
    now = datetime.now(UTC)
    ages = [-60, 30, 200, 400, 100]  # seconds; the last one stands behind an older one
    orders = [{**ORDER, "id": f"o{age}", "created_at": (now - timedelta(seconds=age)).isoformat()} for age in ages]
    page = {"data": orders, "pagination": {"total": 5, "current_page": 1, "total_pages": 1}}
    server, client = serve([Reply(send_only=0, ending="reset"), json_reply(page), json_reply(page), json_reply(page)])
    with pytest.raises(billcore.OutcomeUnknownError) as caught:
        client.subscriptions.charge("a/b c", product_id=1, amount=1)
    assert [order.id for order in caught.value.find_candidates()] == ["o-60", "o30", "o200"]
    assert [order.id for order in caught.value.find_candidates(skew=60)] == ["o-60", "o30"]
    assert [order.id for order in caught.value.find_candidates(client, skew=timedelta())] == ["o-60"]
    assert server.requests[1].target.endswith("/subscription/a%2Fb%20c/orders?page=1")
    assert caught.value.attempts == 1


def test_only_charges_have_candidates(serve: Serve) -> None:
    _, client = serve([Reply(send_only=0, ending="reset"), Reply(status=402)])
    with pytest.raises(billcore.OutcomeUnknownError) as unknown:
        client.subscriptions.cancel("s")
    with pytest.raises(billcore.PaymentError) as refused:
        client.subscriptions.charge("s", product_id=1, amount=1)
    for error in (unknown.value, refused.value):
        with pytest.raises(billcore.InvalidArgumentError, match="charge"):
            error.find_candidates()
