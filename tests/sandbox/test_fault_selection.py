"""Which requests a fault happens to, how faults are listed and deleted, and which faults are refused."""

from __future__ import annotations

from typing import Any

import pytest

from billcore.testing import Control, ControlError, Sandbox
from sandbox.support import Service

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
        ({"query": {"page": "2", "filter[state][]": "paid"}}, [200, 200, 200, 200, 200]),
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


def test_a_fault_comes_before_authentication_and_to_every_path(
    service: Service, other: Service, control: Control
) -> None:
    for path, key, status in (("/nothing/at/all", service.api_key, 404), ("/products", "", 401)):
        control.fault("status", status=500)
        answers = [service.send("GET", path, headers={"X-API-KEY": key}).status for _ in range(2)]
        assert answers == [500, status]
    control.fault("status", account=other.account)
    assert [each.get("/products").status for each in (service, other)] == [200, 503]


def test_the_nth_request_and_the_oldest_fault_that_happens(service: Service, control: Control) -> None:
    first = control.fault("status", status=501, nth=3, times=2)
    second = control.fault("status", status=502, nth=2, times=9)
    assert [service.get("/products").status for _ in range(6)] == [200, 502, 501, 501, 502, 502]
    found = {fault["id"]: (fault["seen"], fault["fired"], fault["left"]) for fault in control.faults()}
    assert found == {first: (4, 2, 0), second: (6, 3, 6)}
    assert [fault["id"] for fault in control.state()["faults"]] == [second]


def test_nth_counts_what_an_older_fault_took(service: Service, control: Control) -> None:
    control.fault("status", status=501)
    control.fault("status", status=502, nth=2)
    control.fault("status", status=504, nth=2, times=2)
    assert [service.get("/products").status for _ in range(5)] == [501, 502, 504, 504, 200]


def test_the_choices_of_a_fault_are_those_of_its_account_alone(process: Sandbox) -> None:
    """A test must not fail or pass because of the tests before it, which made other accounts and faults."""

    def choices(before: int = 0) -> list[int]:
        made = process.new_account(demo=False)
        for _ in range(before):
            made.control.fault("status", operation="orders.get")
        made.control.fault("status", probability=0.5, times=99)
        service = Service(made.accounts[0])
        return [service.get("/products").status for _ in range(40)]

    first = choices()
    assert 5 < first.count(503) < 35
    assert choices() == first != choices(before=1)
    taken = process.control.fault("status", status=501, nth=3, times=9)  # an older fault, of every account
    assert choices() == [*first[:2], *[501] * 9, *first[11:]]
    process.control.delete_fault(taken)


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


STATUS_ROWS: list[tuple[dict[str, Any], str]] = [
    *(({name: 0}, name) for name in ("times", "nth", "probability", "status")),
    ({"probability": 1.5}, "probability"),
    *(({"status": status}, "status") for status in (101, 600)),
    ({"content_type": "text/html"}, "needs a string 'body'"),
    ({"content_type": "text/html", "body": {}}, "needs a string 'body'"),
    *(({"content_type": kind, "body": ""}, "content_type") for kind in ("a\r\nb", "a\n")),
    *(
        ({"headers": pair}, "headers")
        for pair in ({"X": "a\r\nY: b"}, {"X": "a\n"}, {"X\n": "a"}, {"X Y": "a"}, {"X": 1})
    ),
    ({"headers": {"content-length": "5"}}, "must not have content-length: use the kind wrong_length"),
    ({"headers": {"Connection": "close"}}, "must not have Connection"),
    ({"delay": 1.0}, "'delay' is not a field of status: it takes status, retry_after, body"),
    ({"operation": "chrage"}, "'chrage' is not an operation: use one of subscriptions.list,"),
    ({"operation": "list"}, "'list' names several operations: use one of subscr"),
    ({"path": "/subscriptoin/*"}, "No request can match '/subscriptoin/*': the routes are GET"),
    *(
        ({"path": path}, "No request can match")
        for path in ("subscriptions", "/subscription/*/", "/products?page=2", "/subscription//order")
    ),
    ({"path": "/subscription*order"}, "in a path, * does not cross a slash"),
    ({"method": "PATCH"}, "POST /subscription/{id}/order (subscriptions.charge)"),
    ({"operation": "charge", "method": "GET"}, "No request can match 'subscriptions.charge GET'"),
    ({"operation": "products.list", "query": {"paeg": "2"}}, "'paeg': there are page."),
    ({"operation": "charge", "query": {"page": "2"}}, "'page': there are none."),
    ({"account": "nobody"}, "No account has this UUID"),
]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        *(({"kind": "status", **fields}, says) for fields, says in STATUS_ROWS),
        ({"kind": "explode"}, "No fault has the kind 'explode': there are status, delay, drip,"),
        ({"kind": "reset_before", "delay": 1}, "'delay' is not a field of reset_before: it takes account, operation,"),
        *(({"kind": "delay", "delay": delay}, "delay") for delay in (-1, "1")),
        ({"kind": "drip", "delay": 3601}, "at most 3600 seconds"),
        ({"kind": "wrong_length"}, "wrong_length needs the field 'by'"),
        ({"kind": "wrong_length", "by": 0}, "must not be 0"),
        ({"kind": "rows"}, "needs the field 'insert' or 'delete'"),
        ({"kind": "rows", "insert": 1, "operation": "charge"}, "concerns lists only: subscriptions.list,"),
        ({"kind": "beyond_end", "path": "/product/*"}, "concerns lists only"),
    ],
    ids=str,
)
def test_what_no_request_can_meet_is_refused(control: Control, fields: dict[str, Any], says: str) -> None:
    with pytest.raises(ControlError) as caught:
        control._call("POST", "faults", fields)
    assert says in str(caught.value)
    assert caught.value.status == (404 if "account" in fields else 422)
    assert control.faults() == []
