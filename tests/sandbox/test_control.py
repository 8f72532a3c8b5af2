"""The control routes: who may call them, and what they record."""

from __future__ import annotations

import http.client
import json
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

import billcore.testing
from billcore.testing import Control, ControlError, Sandbox
from sandbox.support import Service


def raw(
    sandbox: Sandbox, method: str, path: str, headers: dict[str, str], body: bytes | None = None
) -> tuple[int, Any]:
    parts = urlsplit(sandbox.control_url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    try:
        connection.request(method, parts.path + path, body, headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


@pytest.mark.parametrize("host", ["localhost", "localhost:80", "127.0.0.1", "127.9.9.9:1", "[::1]:5", "LOCALHOST"])
def test_loopback_names_may_call(sandbox: Sandbox, host: str) -> None:
    assert raw(sandbox, "GET", "/state", {"Host": host})[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "10.0.0.1", "localhost.evil.example", ""])
def test_other_names_may_not(sandbox: Sandbox, host: str) -> None:
    for method, path, body in (("GET", "/endpoints", None), ("POST", "/reset", b"{}")):
        status, answer = raw(sandbox, method, path, {"Host": host, "Content-Type": "application/json"}, body)
        assert (status, answer["error"]["code"]) == (403, "host")


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_a_post_must_be_json(sandbox: Sandbox, service: Service, kind: str) -> None:
    service.charge()
    status, answer = raw(sandbox, "POST", "/reset", {"Content-Type": kind}, b"{}")
    assert (status, answer["error"]["code"]) == (415, "unsupported_media_type")
    assert len(sandbox.control.ledger()) == 1


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null"])
def test_a_post_must_be_an_object(sandbox: Sandbox, body: bytes) -> None:
    status, answer = raw(sandbox, "POST", "/reset", {"Content-Type": "application/json"}, body)
    assert status in (400, 422)
    assert sorted(answer) == ["error"]


README = Path(billcore.testing.__file__).parent.with_name("sandbox") / "README.md"
SHAPES: dict[str, Any] = json.loads(README.read_text("utf-8").partition("```json\n")[2].partition("```")[0])


def has_shape(value: Any, shape: Any) -> bool:
    """Whether an answer has the shape shown in README, where null means any value and {} an object with any names."""
    if isinstance(shape, dict) and shape:
        # A ledger effect has further members that depend on its kind; only the members shown in README are checked.
        members = value.keys() & shape.keys() if shape.keys() == SHAPES["GET ledger"]["effects"][0].keys() else value
        return set(members) == shape.keys() and all(has_shape(value[name], shape[name]) for name in shape)
    if isinstance(shape, list):
        return isinstance(value, list) and len(value) > 0 and all(has_shape(item, shape[0]) for item in value)
    return shape is None or value is None or type(value) is type(shape)


def test_the_answers_are_as_the_readme_says(sandbox: Sandbox, service: Service) -> None:
    json_type = {"Content-Type": "application/json"}

    def call(route: str, body: Any = None) -> Any:
        method, path = route.split(" ")
        status, answer = raw(
            sandbox, method, f"/{path}", json_type, None if body is None else json.dumps(body).encode()
        )
        assert status == 200, answer
        return answer

    assert service.post("/webhooks/endpoints", {"url": "http://127.0.0.1:9/hooks"}).status in (200, 201)
    bought = call("POST checkout", {"product_id": service.product("subscription")["id"], "billing": "invoice"})
    order, subscription = bought["order"]["id"], bought["subscription"]["id"]
    answers = {"POST checkout": bought}
    answers["POST orders/{id}/confirm"] = call(f"POST orders/{order}/confirm", {})
    answers["POST orders/{id}/pay"] = call(f"POST orders/{order}/pay", {})
    answers["POST subscriptions/{id}/renew"] = call(f"POST subscriptions/{subscription}/renew", {})
    answers["POST test-hook"] = call("POST test-hook", {})
    answers["POST faults"] = call("POST faults", {"kind": "delay", "delay": 1})
    delivery = call("GET deliveries")["deliveries"][0]["id"]
    answers["POST deliveries/{id}/replay"] = call(f"POST deliveries/{delivery}/replay", {})
    deadline = time.monotonic() + 60
    while not all(each["attempts"] for each in sandbox.control.deliveries()):
        assert time.monotonic() < deadline, "not every delivery was attempted"
        time.sleep(0.02)
    answers |= {route: call(route) for route in SHAPES if route.startswith("GET ")}
    answers["POST reset"] = call("POST reset", {})
    assert answers.keys() == SHAPES.keys()
    assert [route for route, answer in answers.items() if not has_shape(answer, SHAPES[route])] == []
    listed = call("GET ")["routes"]
    assert [f"{row['method']} {row['path'].removeprefix('/_sandbox/')}" for row in listed] == list(SHAPES)
    assert all(row["does"] for row in listed)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [("GET", "", 404), ("GET", "/nothing", 404), ("GET", "/reset", 405), ("POST", "/state", 405)],
)
def test_unknown_routes(sandbox: Sandbox, method: str, path: str, status: int) -> None:
    headers = {"Content-Type": "application/json"}
    answer = raw(sandbox, method, path, headers, b"{}" if method == "POST" else None)
    assert answer[0] == status
    assert sorted(answer[1]["error"]) == ["code", "message"]


def test_unknown_ids(control: Control) -> None:
    for call in (control.confirm, control.pay, control.renew):
        for number in ("1", "x", "a/b", "9" * 30):
            with pytest.raises(ControlError, match="404 not_found"):
                call(number)


def test_requests_are_recorded_as_received(service: Service, control: Control) -> None:
    service.send(
        "GET",
        "/subscriptions?filter[reference_id]=a%2Fb&x=%C3%A6",
        headers={"x-aPi-kEy": service.api_key, "X-API-KEY": "", "X-Odd": "  two  "},
    )
    service.send("POST", "/webhooks/endpoints", raw='{"url": "æ"}'.encode())
    service.root = "/unknown"
    service.get("/products")
    first, second, third = control.requests()
    assert first["target"] == f"/{service.account}/subscriptions?filter[reference_id]=a%2Fb&x=%C3%A6"
    assert (first["method"], first["status"], first["fault"], first["body"]) == ("GET", 200, None, "")
    assert first["account"] == service.account
    assert ["x-aPi-kEy", service.api_key] in first["headers"]
    assert first["headers"][0][0] == "Host"
    assert (second["status"], second["body"]) == (422, '{"url": "æ"}')
    assert (third["account"], third["status"]) == (None, 404)
    assert [request["id"] for request in control.requests()] == [1, 2, 3]


def test_control_calls_are_not_recorded(control: Control) -> None:
    control.state()
    assert control.requests() == []


def test_every_answer_names_its_request(service: Service, control: Control) -> None:
    ids = [service.get("/products").headers["x-request-id"], service.get("/nothing").headers["x-request-id"]]
    assert ids == [f"req_{request['id']}" for request in control.requests()]


def test_reset_brings_back_the_seeded_state(service: Service, control: Control) -> None:
    before = control.state()
    products = service.products()
    subscription = service.subscription("demo-active")
    service.post("/webhooks/endpoints", {"url": "https://shop.example/"})
    order = service.charge().data
    service.post(f"/subscription/{subscription['id']}/cancel")
    service.send("DELETE", f"/product/{products[0]['id']}")
    control.checkout(products[1]["id"])
    control.fault("delay", path="/nothing")
    assert control.state()["counts"] == {"endpoints": 1, "deliveries": 5, "ledger": 5, "requests": 10}
    control.reset()
    after = control.state()
    assert {**after, "now": None} == {**before, "now": None}
    assert after["counts"] == {"endpoints": 0, "deliveries": 0, "ledger": 0, "requests": 0}
    assert service.products() == products
    assert service.subscription("demo-active") == subscription
    assert service.get(f"/order/{order['id']}").status == 404
    assert service.charge().data["id"] == order["id"]


def test_state_counts_every_status(control: Control) -> None:
    first, second = control.state()["accounts"]
    assert sum(first["subscriptions"].values()) > 300
    assert sum(first["products"].values()) > 250
    assert min(first["subscriptions"].values()) > 20
    assert len(first["subscriptions"]) == len(first["orders"]) == len(second["subscriptions"]) == 8
    assert control.state()["seed"] == 20250425


def test_the_ledger_of_every_kind_of_effect(service: Service, control: Control) -> None:
    subscription = service.subscription("demo-active")["id"]
    service.post("/webhooks/endpoints", {"url": "https://shop.example/"})
    service.charge()
    control.replay(control.deliveries()[0]["id"])
    service.post(f"/subscription/{subscription}/product", {"product_id": service.product("subscription")["id"]})
    control.renew(subscription)
    control.renew(service.subscription("demo-declined")["id"])
    service.post(f"/subscription/{subscription}/cancel")
    service.post(f"/product/{service.product()['id']}", {"price": 1})
    order = control.checkout(service.product("subscription")["id"], billing="invoice")["order"]["id"]
    control.confirm(order)
    control.pay(order)
    service.send("DELETE", f"/product/{service.product()['id']}")
    kinds = [effect["kind"] for effect in control.ledger()]
    assert kinds == [
        "webhook_endpoint_create",
        "charge",
        "replay",
        "change_product",
        "renew",
        "renew_failed",
        "cancel",
        "product_update",
        "checkout",
        "confirm",
        "pay",
        "product_delete",
    ]
    assert [effect["id"] for effect in control.ledger()] == list(range(1, 13))
