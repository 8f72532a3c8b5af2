"""The records of the sandbox: what they have, how many are kept, the parameters of their lists, and their routes."""

from __future__ import annotations

import base64
import http.client
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

import pytest

from billcore.testing import Control, ControlError, Records, Sandbox, SandboxAccount
from sandbox.support import CLOSED, Receiver, Service, account, attempted, ended, make
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
        requests = control.requests()
        assert [each["id"] for each in requests] == [11, 12, 13, 14, 15]
        assert (requests.total, requests.forgotten) == (5, 10)
        until(lambda: control.deliveries(state="delivered").forgotten == 5)  # when the charge's two have arrived
        with pytest.raises(ControlError, match=r"422 .*count is more than the 5 records that are kept: raise --keep"):
            control.wait(request={}, count=6)


def test_the_history_is_bounded_by_bytes_and_says_what_is_gone(receiver: Receiver) -> None:
    limit = 4 << 20
    with Sandbox(keep_bytes=limit, retry_schedule=[3600], delivery_timeout=GENEROUS) as sandbox:
        control, service, other = sandbox.control, account(sandbox), sandbox.new_account()
        waiting = control.create_endpoint(CLOSED)["id"]
        control.test_hook(waiting)
        Service(other.accounts[0]).get("/products")
        for _ in range(40):
            assert service.post("/webhooks/endpoints", {"url": "x" * 300_000}).status == 422
        state, requests = control.state()["history"], control.requests()
        assert limit // 2 < state["bytes"] <= limit == state["keep_bytes"]
        assert requests.total + requests.forgotten == 41 and 5 < len(requests) < 15
        assert [each["id"] for each in requests] == [*range(42 - len(requests), 42)]
        assert state["forgotten"]["requests"] == requests.forgotten
        assert state["forgotten"]["ledger"] == control.ledger().forgotten == 1  # the endpoint
        assert (other.control.requests().forgotten, control.requests(limit=1).forgotten) == (1, requests.forgotten)
        assert [each["endpoint_id"] for each in control.deliveries(state="pending")] == [waiting]
        last = requests[0]["id"] - 1
        for what in ({"request": {"status": 422}, "count": 2}, {"request": {"operation": "charge"}}):
            wait = {**what, "timeout": GENEROUS}
            with pytest.raises(ControlError, match=rf"409 forgotten: .*requests were deleted .* since: {last} or more"):
                control._call("POST", "wait", wait)
            assert control._call("POST", "wait", {"request": {}, "since": last})["requests"] == requests
        control.clear_history()
        assert (control.requests().forgotten, control.state()["history"]["forgotten"]["ledger"]) == (0, 0)


def test_a_record_has_the_bytes_of_the_request_and_of_the_answer(mine: SandboxAccount) -> None:
    service, control = Service(mine.accounts[0]), mine.control
    service.send("POST", "/webhooks/endpoints", raw=b'{"url": "\xff"}', headers={"Authorization": "Bearer token-9"})
    control.fault("half_body", path="/products")
    with pytest.raises(http.client.IncompleteRead):
        service.get("/products")
    control.fault("reset_after", path="/products")
    with pytest.raises(ConnectionError):
        service.get("/products")
    refused, half, none = control.requests()
    assert base64.b64decode(refused["body"]) == b'{"url": "\xff"}' and refused["encoding"] == "base64"
    assert {name: value for name, value in refused["headers"]}["X-API-KEY"] == "***"
    assert "token-9" not in str(refused) and service.api_key not in str([*control.requests(), *control.ledger()])
    assert ["Content-Type", "application/json"] in (refused["answer_headers"] or [])
    assert json.loads(refused["answer_body"] or "")["error"]["code"] == "invalid_json"
    assert (half["status"], half["encoding"], half["answer_encoding"]) == (None, "utf-8", "utf-8")
    length = dict(half["answer_headers"] or [])["Content-Length"]
    assert half["answer_body"] is not None and len(half["answer_body"]) == int(length) // 2
    assert (none["status"], none["answer_headers"], none["answer_body"], none["answer_encoding"]) == (None,) * 4
    assert all((each["duration_ms"] or 0) > 0 for each in (refused, half, none))


def test_a_pending_delivery_has_the_time_of_its_next_attempt(mine: SandboxAccount, receiver: Receiver) -> None:
    receiver.script = [503]
    mine.control.freeze()
    mine.control.create_endpoint(receiver.url, retry_schedule=[60])
    now = datetime.fromisoformat(mine.control.freeze()["now"])
    make(mine.control, "Tea")
    attempted(mine.control, 1)
    (delivery,) = mine.control.deliveries()
    due = (now + timedelta(seconds=60)).isoformat(timespec="microseconds")
    assert delivery["next_attempt"] == due
    jobs = mine.control._call("GET", "upcoming", query={"limit": 1})
    assert jobs["jobs"] == [
        {
            "due": due,
            "account": delivery["account"],
            "object": "delivery",
            "id": str(delivery["seq"]),
            "cause": "deliver",
        }
    ]
    assert jobs["total"] == mine.control.state()["counts"]["jobs"] == 7
    mine.control.advance(seconds=60)
    assert ended(mine.control)[0]["next_attempt"] is None


def test_what_the_service_does_not_show_of_a_subscription(mine: SandboxAccount) -> None:
    declined = mine.ids["subscriptions"]["demo-declined"]
    mine.control.freeze()
    mine.control.renew(declined)
    shown = mine.control._call("GET", f"subscriptions/{declined}")
    assert shown["subscription"] == Service(mine.accounts[0]).get(f"/subscription/{declined}").data
    hidden, job = shown["hidden"], shown["next"]
    assert (shown["state"], hidden["declines"], hidden["cancelled"]) == (shown["subscription"]["status"], True, False)
    assert hidden["failures"] == len(mine.control.ledger("renew_failed", search=f'"{declined}"')) > 0
    assert (job["object"], job["id"], job["cause"]) == ("subscription", declined, "renew")
    assert datetime.fromisoformat(job["due"]) == datetime.fromisoformat(hidden["retry_at"])
    assert "renew" in shown["causes"] and [each["cause"] for each in shown["changes"]] == ["renew"] * hidden["failures"]
    mine.control.subscription(declined, "cancel")
    shown = mine.control._call("GET", f"subscriptions/{declined}")
    assert (shown["next"], shown["changes"][-1]["to"], shown["causes"]) == (None, "cancelled", ["change_product"])


def test_a_request_is_repeated_as_it_was(process: Sandbox, mine: SandboxAccount) -> None:
    service, control = Service(mine.accounts[0]), mine.control
    service.charge(description="æ")
    (first,) = control.requests("charge")
    again = control.repeat(first["id"])
    assert (again["repeats"], again["status"], again["id"]) == (first["id"], 200, first["id"] + 1)
    for name in ("method", "target", "headers", "body", "operation", "account"):
        assert again[name] == first[name]
    assert [each["request_id"] for each in control.ledger("charge")] == [first["id"], again["id"]]
    control.fault("status", status=503, operation="charge")
    broken = control.repeat(again["id"])
    assert (broken["status"], broken["fault"], broken["repeats"]) == (503, "status", again["id"])
    control.fault("reset_after", operation="charge")
    lost = control.repeat(first["id"])
    assert (lost["status"], lost["answer_body"]) == (None, None) and len(control.ledger("charge")) == 3
    control.revoke_key(control.keys()[0]["id"])
    assert control.repeat(first["id"])["status"] == 401
    with pytest.raises(ControlError, match="404 not_found: No request has the id"):
        process.new_account().control.repeat(first["id"])


def test_a_cleared_history_begins_anew_and_leaves_the_objects(process: Sandbox, mine: SandboxAccount) -> None:
    service, control, other = Service(mine.accounts[0]), mine.control, process.new_account()
    control.create_endpoint(CLOSED, retry_schedule=[3600])
    Service(other.accounts[0]).get("/products")
    order = service.charge().data["id"]
    attempted(control, 1, 1)
    control.create_endpoint("http://192.0.2.1/")
    control.test_hook()
    before = other.control.requests()
    with ThreadPoolExecutor(1) as pool:
        # What a wait has counted before counts no more.
        control.wait(request={"operation": "charge"}, timeout=GENEROUS)
        waiting = pool.submit(lambda: control.wait(request={"operation": "charge"}, count=2, timeout=GENEROUS))
        with pytest.raises(TimeoutError):
            waiting.result(0.2)
        control.clear_history()
        assert control.requests() == control.ledger() == []
        service.charge()
        with pytest.raises(TimeoutError):
            waiting.result(0.2)
        service.charge()
        assert waiting.result(GENEROUS) == control.requests("charge")
    assert {each["state"] for each in control.deliveries(since=0)} == {"pending", "held_back"}
    assert len(control.deliveries("test.hook")) == 1 and other.control.requests() == before
    assert service.get(f"/order/{order}").status == 200


def test_the_latest_first_in_pages_with_totals_and_a_text(mine: SandboxAccount, receiver: Receiver) -> None:
    control, service = mine.control, Service(mine.accounts[0])
    control.create_endpoint(receiver.url)
    control.create_endpoint(receiver.url + "&second")
    for name in ("Grün 50%", "Tea_1", "TeaX1", "a/b"):
        product = control.create_product(name)["id"]
        service.get(f"/product/{product}")
        service.post(f"/product/{product}", {"name": name})
    ended(control)

    def checks(all_of: Callable[..., Records[Any]], key: str, count: int) -> None:
        every = all_of()
        assert every.total == len(every) == count and every.forgotten == 0
        first = all_of(order="desc", limit=3)
        second = all_of(order="desc", limit=3, before=first[-1][key])
        assert [*first, *second] == every[::-1][:6] and first.total == second.total == count
        assert all_of(since=every[2][key], before=every[5][key]) == every[3:5]
        after = {"after": every[2][key], "limit": 1}
        assert control._call("GET", all_of.__name__, query=after) | {"cursor": ""} == {
            {"ledger": "effects"}.get(all_of.__name__, all_of.__name__): every[3:4],
            "total": count,
            "forgotten": 0,
            "cursor": "",
        }

    checks(control.requests, "id", 8)
    checks(control.ledger, "id", 10)
    checks(control.deliveries, "seq", 16)
    for text, count in {"Grün": 4, "GRün 50%": 4, "Grün 5%": 0, "Tea_1": 4, "a/b": 4, "product.": 16}.items():
        assert len(control.deliveries(search=text)) == control.deliveries(search=text, limit=1).total == count, text
    assert [len(control.requests(search=text)) for text in ("Grün", "a/b", '"name": "a/b"', "%")] == [2, 2, 1, 2]
    assert len(control.ledger("product_update", search="a/b")) == 1
    assert (
        len(control.requests(method="POST")) == len(control.requests(status=200, search='"name"', method="POST")) == 4
    )
    assert [each.total for each in (control.requests(status=404), control.requests(method="GET", status=200))] == [0, 4]


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
        ("requests", {"since": "x"}, r"Expected `int`, got `str` - at `\$.since` \(parameters: .*since, .*limit"),
        ("ledger", {"limit": 0}, ">= 1"),
        ("deliveries", {"event": "order.payed"}, "event must be one of subscription.created, .*order.paid"),
    ],
)
def test_a_wrong_parameter_is_refused(control: Control, path: str, query: dict[str, Any], message: str) -> None:
    with pytest.raises(ControlError, match=f"422 validation_error: .*{message}"):
        control._call("GET", path, query=query)
