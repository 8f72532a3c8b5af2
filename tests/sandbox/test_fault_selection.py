"""Which requests a fault happens to, how faults are listed and deleted, and which faults are refused."""

from __future__ import annotations

from typing import Any

import pytest

from billcore.testing import Account, Control, ControlError, Sandbox, SandboxAccount
from sandbox.support import Service, account, started

SELECTORS = dict.fromkeys(("account", "operation", "method", "path", "query", "event", "endpoint_id"))
WHEN = {"nth": 1, "times": 1, "probability": 1.0, "optional": False}


def test_times_method_and_path_choose_the_requests(service: Service, control: Control) -> None:
    number = service.subscription("demo-active")["id"]
    control.fault("status", method="get", path="/subscription/*", times=2)
    control.fault("status", status=500, path=f"/subscription/{number}")
    assert service.get("/products").status == 200
    assert service.get("/subscriptions").status == 200
    assert service.get(f"/subscription/{number}/orders").status == 200, "a star crosses no slash"
    assert service.send("POST", f"/subscription/{number}/cancel").status == 200
    assert [service.get(f"/subscription/{number}").status for _ in range(4)] == [503, 503, 500, 200]
    assert control.state()["faults"] == []


@pytest.mark.parametrize(
    ("selectors", "statuses"),
    [
        ({"operation": "subscriptions.orders"}, [200, 503, 503, 503, 200]),
        ({"operation": "orders"}, [200, 503, 503, 503, 200]),
        ({"operation": "orders", "query": {"page": "2"}}, [200, 200, 503, 200, 200]),
        ({"path": "/subscription/{id}/orders"}, [200, 503, 503, 503, 200]),
        ({"path": "/subscription/*/ord*"}, [200, 503, 503, 503, 200]),
        ({"query": {"filter[state][]": "paid"}}, [200, 200, 200, 503, 200]),
        ({"method": "HEAD"}, [200, 200, 200, 200, 503]),
        ({"operation": "subscriptions.get"}, [503, 200, 200, 200, 503]),
    ],
    ids=str,
)
def test_each_selector_limits_a_fault(
    service: Service, control: Control, selectors: dict[str, Any], statuses: list[int]
) -> None:
    path = f"/subscription/{service.subscription('demo-many-orders')['id']}"
    control.fault("status", times=9, **selectors)
    targets = [path, f"{path}/orders", f"{path}/orders?page=2", f"{path}/orders?page=3&filter[state][]=paid"]
    answers = [service.get(target) for target in targets] + [service.send("HEAD", path)]
    assert [answer.status for answer in answers] == statuses


def test_an_unknown_path_meets_a_fault_without_selectors(service: Service, control: Control) -> None:
    control.fault("status", status=500)
    assert [service.get("/nothing/at/all").status for _ in range(2)] == [500, 404]


def test_the_account_is_chosen(service: Service, other: Service, control: Control) -> None:
    control.fault("status", account=other.account)
    assert [each.get("/products").status for each in (service, other)] == [200, 503]


def test_the_nth_request_and_the_oldest_fault_that_happens(service: Service, control: Control) -> None:
    first = control.fault("status", status=501, nth=3, times=2)
    second = control.fault("status", status=502, nth=2, times=9)
    assert [service.get("/products").status for _ in range(6)] == [200, 502, 501, 501, 502, 502]
    found = {fault["id"]: (fault["seen"], fault["fired"], fault["left"]) for fault in control.faults()}
    assert found == {first: (4, 2, 0), second: (4, 3, 6)}
    assert [fault["id"] for fault in control.state()["faults"]] == [second]


def test_a_probability_is_the_same_under_the_same_seed() -> None:
    drawn: list[list[int]] = []
    for seed in ("7", "7", "8"):
        with started("--seed", seed) as (_, ready):
            Control(ready["control_url"]).fault("status", probability=0.5, times=99)
            service = Service(Account(ready["base_url"], ready["api_key"]))
            drawn.append([service.get("/products").status for _ in range(40)])
    assert drawn[0] == drawn[1] != drawn[2]
    assert 5 < drawn[0].count(503) < 35


def test_faults_come_before_authentication(service: Service, control: Control) -> None:
    control.fault("status", status=500)
    assert service.send("GET", "/products", headers={"X-API-KEY": ""}).status == 500
    assert service.send("GET", "/products", headers={"X-API-KEY": ""}).status == 401


def test_faults_are_listed_deleted_and_reset(service: Service, control: Control) -> None:
    number = control.fault("delay", delay=0, operation="products.list", query={"page": 2}, times=5, optional=True)
    plain = control.fault("status")
    assert service.get("/products").status == 503
    shown: dict[str, Any] = {"id": number, "kind": "delay", **SELECTORS, **WHEN, "seen": 0, "fired": 0, "left": 5}
    shown |= {"operation": "products.list", "query": {"page": "2"}, "times": 5, "optional": True}
    used = {"id": plain, "kind": "status", **SELECTORS, **WHEN, "seen": 1, "fired": 1, "left": 0}
    assert (control.faults(), control.state()["faults"]) == ([shown, used], [shown])
    control.delete_fault(number)
    assert control.faults() == [used]
    with pytest.raises(ControlError, match="404 not_found"):
        control.delete_fault(number)
    control.delete_fault(plain)
    control.fault("delay")
    control.reset()
    assert control.faults() == control.state()["faults"] == []


def test_an_account_sees_its_own_faults(mine: SandboxAccount, process: Sandbox) -> None:
    service = Service(mine.accounts[0])
    number = mine.control.fault("status", operation="products.list")
    assert account(process).get("/products").status == 200
    assert service.get("/products").status == 503
    assert [fault["id"] for fault in mine.control.faults() if fault["account"]] == [number]
    made = process.new_account()
    made.control.fault("status")
    process.control.delete_account(made.base_url.rpartition("/")[2])
    assert all(fault["account"] in (None, service.account) for fault in process.control.faults())


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({}, "kind"),
        ({"kind": "explode"}, "No fault has the kind 'explode': there are status, delay, drip,"),
        ({"kind": 5}, "kind"),
        ({"kind": "delay", "dealy": 1}, "dealy"),
        ({"kind": "reset_before", "delay": 1}, "'delay' is not a field of reset_before: it takes account, operation,"),
        ({"kind": "delay", "body": None}, "'body' is not a field of delay: it takes delay, account"),
        ({"kind": "status", "delay": 1.0}, "'delay' is not a field of status: it takes status, retry_after, body"),
        ({"kind": "delay", "delay": -1}, "delay"),
        ({"kind": "delay", "delay": "1"}, "delay"),
        ({"kind": "delay", "delay": 3601}, "at most 3600 seconds"),
        ({"kind": "late", "delay": 1e9}, "delay"),
        ({"kind": "status", "times": 0}, "times"),
        ({"kind": "status", "times": True}, "times"),
        ({"kind": "status", "nth": 0}, "nth"),
        ({"kind": "status", "probability": 0}, "probability"),
        ({"kind": "status", "probability": 1.5}, "probability"),
        ({"kind": "status", "status": 99}, "status"),
        ({"kind": "status", "status": 101}, "status"),
        ({"kind": "status", "status": 600}, "status"),
        ({"kind": "status", "retry_after": -1}, "retry_after"),
        ({"kind": "status", "content_type": "text/html"}, "needs a string 'body'"),
        ({"kind": "status", "content_type": "text/html", "body": {}}, "needs a string 'body'"),
        ({"kind": "status", "content_type": "a\r\nb", "body": ""}, "content_type"),
        ({"kind": "status", "content_type": "a\n", "body": ""}, "content_type"),
        ({"kind": "status", "headers": {"X": "a\r\nY: b"}}, "headers"),
        ({"kind": "status", "headers": {"X": "a\n"}}, "headers"),
        ({"kind": "status", "headers": {"X\n": "a"}}, "headers"),
        ({"kind": "status", "headers": {"X Y": "a"}}, "headers"),
        ({"kind": "status", "headers": {"X": 1}}, "headers"),
        ({"kind": "status", "headers": {"content-length": "5"}}, "must not have content-length: use the kind wrong_le"),
        ({"kind": "status", "headers": {"Transfer-Encoding": "chunked"}}, "must not have Transfer-Encoding"),
        ({"kind": "status", "headers": {"Connection": "close"}}, "must not have Connection"),
        ({"kind": "status", "effect": 1}, "effect"),
        ({"kind": "status", "operation": "chrage"}, "'chrage' is not an operation: use one of subscriptions.list,"),
        (
            {"kind": "status", "operation": "list"},
            "'list' names several operations: use one of subscr",
        ),
        (
            {"kind": "status", "path": "/subscriptoin/*"},
            "No request can match '/subscriptoin/*': the routes are GET",
        ),
        ({"kind": "status", "path": "subscriptions"}, "No request can match 'subscriptions'"),
        ({"kind": "status", "path": "/subscription/*/"}, "No request can match"),
        ({"kind": "status", "path": "/subscription*order"}, "in a path, * does not cross a slash"),
        ({"kind": "status", "path": "/products?page=2"}, "No request can match"),
        ({"kind": "status", "path": "/subscription//order"}, "No request can match"),
        ({"kind": "status", "method": "PATCH"}, "POST /subscription/{id}/order (subscriptions.charge)"),
        ({"kind": "status", "method": "DELETE", "path": "/order/5"}, "No request can match 'DELETE /order/5'"),
        ({"kind": "status", "operation": "charge", "method": "GET"}, "No request can match 'subscriptions.charge GET'"),
        ({"kind": "status", "operation": "products.list", "query": {"paeg": "2"}}, "'paeg': there are page."),
        ({"kind": "status", "operation": "charge", "query": {"page": "2"}}, "'page': there are none."),
        ({"kind": "status", "query": {"page": 2}}, "query"),
        ({"kind": "wrong_length"}, "wrong_length needs the field 'by'"),
        ({"kind": "wrong_length", "by": 0}, "must not be 0"),
        ({"kind": "rows"}, "needs the field 'insert' or 'delete'"),
        ({"kind": "rows", "insert": 101}, "insert"),
        ({"kind": "rows", "insert": 1, "operation": "charge"}, "concerns lists only: subscriptions.list,"),
        ({"kind": "beyond_end", "path": "/product/*"}, "concerns lists only"),
        ({"kind": "beyond_end", "answer": "nothing"}, "answer"),
        ({"kind": "status", "account": "nobody"}, "No account has this UUID"),
    ],
    ids=str,
)
def test_what_no_request_can_meet_is_refused(control: Control, fields: dict[str, Any], says: str) -> None:
    with pytest.raises(ControlError) as caught:
        control._call("POST", "faults", fields)
    assert says in str(caught.value)
    assert caught.value.status == (404 if "account" in fields else 422)
    assert control.faults() == []
