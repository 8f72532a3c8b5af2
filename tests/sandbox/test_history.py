"""The records of the sandbox: how many it keeps, and the parameters of their lists."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from billcore.testing import Control, ControlError, Sandbox, SandboxAccount
from sandbox.support import CLOSED, Receiver, Service, account
from support.waiting import GENEROUS, until


def test_the_latest_records_are_kept_and_all_pending_deliveries(receiver: Receiver) -> None:
    with Sandbox(keep=5, retry_schedule=[3600], delivery_timeout=GENEROUS) as sandbox:
        control, service = sandbox.control, account(sandbox)
        waiting = control.create_endpoint(CLOSED)["id"]
        for _ in range(8):
            control.test_hook(waiting)
        until(lambda: all(each["attempts"] for each in control.deliveries()))
        control.create_endpoint(receiver.url)
        for number in range(8):
            control.create_product(f"Tea {number}")
        until(lambda: len(receiver.received) == 8 and len(control.deliveries(state="pending")) == 16)
        for _ in range(12):
            service.get("/products")
        state = control.state()["counts"]
        assert [each["id"] for each in control.requests()] == [8, 9, 10, 11, 12]
        assert [each["kind"] for each in control.ledger()] == ["product_create"] * 5
        assert len(control.deliveries(state="pending")) == 16
        delivered = [json.loads(each["body"])["data"]["name"] for each in control.deliveries(state="delivered")]
        assert delivered == [f"Tea {number}" for number in range(3, 8)]
        assert (state["requests"], state["ledger"], state["deliveries"]) == (5, 5, 21)
        assert service.charge().status == 200
        assert [each["id"] for each in control.requests()] == [11, 12, 13, 14, 15]


def test_a_request_has_its_operation(mine: SandboxAccount) -> None:
    service = Service(mine.accounts[0])
    operations = {
        "GET /subscriptions?page=1": "subscriptions.list",
        "HEAD /products": "products.list",
        "GET /subscription/a%2Fb": "subscriptions.get",
        "POST /subscription/1/order": "subscriptions.charge",
        "GET /subscription/1/order": None,
        "GET /products/": None,
        "DELETE /product/x": "products.delete",
    }
    for request in operations:
        service.send(*request.split())
    assert [each["operation"] for each in mine.control.requests()] == [*operations.values()]


def test_the_parameters_of_the_lists(mine: SandboxAccount, receiver: Receiver) -> None:
    control, service = mine.control, Service(mine.accounts[0])
    receiver.script = [500] * 4
    control.create_endpoint(receiver.url)
    control.create_product("Tea")
    control.wait_for_deliveries(failed_ok=True)
    other = control.create_endpoint(CLOSED)["id"]
    control.endpoint(other, "disable")
    service.charge()
    service.charge()
    control.wait_for_deliveries(failed_ok=True)

    def checks(all_of: Callable[..., list[Any]], key: str, name: str, value: str, shown: str) -> None:
        every = all_of()
        chosen = [each for each in every if each[shown] == value]
        assert 0 < len(chosen) < len(every)
        assert all_of(**{name: value}) == chosen
        assert all_of(since=every[1][key]) == every[2:]
        assert all_of(limit=2) == every[:2]
        assert all_of(since=every[0][key], limit=2) == every[1:3]
        assert all_of(**{name: value}, since=chosen[0][key], limit=1) == chosen[1:2]
        assert all_of(since=every[-1][key]) == []

    checks(control.requests, "id", "operation", "subscriptions.charge", "operation")
    checks(control.ledger, "id", "kind", "charge", "kind")
    checks(control.deliveries, "seq", "event", "order.paid", "event")
    assert control.requests("charge") == control.requests("subscriptions.charge")
    assert [each["event"] for each in control.deliveries(state="failed")] == ["product.updated"]
    assert control._call("GET", "deliveries", query={"endpoint_id": other})["deliveries"] == []


@pytest.mark.parametrize(
    ("path", "query", "message"),
    [
        ("requests", {"since": "x"}, r"Expected `int`, got `str` - at `\$.since` \(parameters: .*since, limit\)"),
        ("ledger", {"limit": 0}, ">= 1"),
        ("deliveries", {"event": "order.payed"}, "event must be one of subscription.created, .*order.paid"),
    ],
)
def test_a_wrong_parameter_is_refused(control: Control, path: str, query: dict[str, Any], message: str) -> None:
    with pytest.raises(ControlError, match=f"422 validation_error: .*{message}"):
        control._call("GET", path, query=query)
