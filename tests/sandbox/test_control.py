"""The control routes: who may call them, and what they record."""

from __future__ import annotations

import http.client
import json
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest

from billcore.testing import Control, ControlError, Sandbox
from billcore_sandbox.control import routes
from sandbox.support import Service, started
from sandbox.test_schemas import strict
from support.answer import Answer
from support.waiting import GENEROUS, until


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
def test_requests_with_other_host_names_are_refused(sandbox: Sandbox, host: str) -> None:
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


ROUTES = {f"{route.method} {route.path}": route for route in routes.ROUTES}


def answers_of_every_route(sandbox: Sandbox, service: Service) -> dict[str, Any]:
    """Calls each route once; returns the answers by method and path."""
    found: dict[str, Any] = {}

    def call(route: str, fields: Any = None, **ids: Any) -> Any:
        method, path = route.split(" ")
        for name, value in ids.items():
            path = path.replace(f"{{{name}}}", str(value))
        body = None if fields is None else json.dumps(fields).encode()
        status, answer = raw(sandbox, method, f"/{path}", {"Content-Type": "application/json"}, body)
        assert status == 200, (route, answer)
        found[route] = answer
        return answer

    def post(path: str, id: Any = None, **fields: Any) -> Any:
        return call(f"POST {path}", fields, id=id)

    def buy(**fields: Any) -> Any:
        return post("checkout", product_id=service.product("subscription")["id"], **fields)

    assert service.post("/webhooks/endpoints", {"url": "http://127.0.0.1:9/hooks"}).status == 200
    bought = buy(billing="invoice")
    order, subscription = bought["order"]["id"], bought["subscription"]["id"]
    for cause in ("confirm", "await_payment", "await_user", "fail_payment", "pay", "refund"):
        post(f"orders/{{id}}/{cause}", order)
    post("orders/{id}/cancel_payment", buy()["order"]["id"])
    post("subscriptions/{id}/change_billing", subscription, billing="card", declines=False)
    post("subscriptions/{id}/renew", subscription)
    later = buy(starts_in_days=1)
    post("orders/{id}/confirm", later["order"]["id"])
    post("subscriptions/{id}/start", later["subscription"]["id"])
    ending = service.subscription("demo-stays-active")["id"]
    post("subscriptions/{id}/cancel", ending)
    post("subscriptions/{id}/end", ending)
    product = post("products", name="Towel")["product"]["id"]
    group = post("groups", name="Gym", products=[product])["group"]["id"]
    post("groups/{id}/change", group, name="Swimming")
    post("groups/{id}/delete", group)
    endpoint = post("endpoints", url="http://127.0.0.1:9/more")["id"]
    post("endpoints/{id}", endpoint, retry_schedule=[1])
    for cause in ("disable", "enable", "rotate_secret", "delete"):
        post(f"endpoints/{{id}}/{cause}", endpoint)
    post("keys/{id}/revoke", post("keys")["id"])
    post("keys/{id}/rotate", post("keys")["id"])
    post("trigger", name="renewal")
    post("test-hook")
    delivery = sandbox.control.deliveries()[0]["id"]
    for how in ("redeliver", "replay"):
        post(f"deliveries/{{id}}/{how}", delivery)
    post("deliveries/{id}/edit", delivery, changes={"name": "order.lost"})
    account = post("accounts")["account"]
    post("clock", account=account, days=40)
    call("DELETE accounts/{uuid}", uuid=account)
    assert service.get("/products?pgae=2").status == 200
    post("faults", kind="delay", delay=1)
    post("wait", request={"status": 200})
    until(lambda: all(each["attempts"] for each in sandbox.control.deliveries() if each["state"] == "pending"))
    for route in ROUTES:
        if route.startswith("GET "):
            call(route)
    call("DELETE faults/{id}", id=1)
    post("reset")
    return found


def test_every_answer_has_its_type(sandbox: Sandbox, service: Service) -> None:
    answers = answers_of_every_route(sandbox, service)
    assert answers.keys() == ROUTES.keys()
    for effect in answers["GET ledger"]["effects"]:
        for name in effect.keys() - {"id", "at", "account", "kind"}:
            del effect[name]  # remove the members that depend on the effect's kind
    for name, answer in answers.items():
        assert [] not in answer.values(), name
        strict(answer, ROUTES[name].answer)


def index(sandbox: Sandbox) -> Any:
    return raw(sandbox, "GET", "/", {})[1]


def test_the_index_lists_every_route(sandbox: Sandbox) -> None:
    listed = index(sandbox)
    assert [f"{row['method']} {row['path'].removeprefix('/_sandbox/')}" for row in listed["routes"]] == [*ROUTES]
    assert all(row["does"] for row in listed["routes"])
    assert {row["body"] for row in listed["routes"]} - {None} <= listed["schemas"].keys()


@pytest.mark.parametrize("route", ROUTES)
def test_an_unknown_parameter_is_refused(sandbox: Sandbox, route: str) -> None:
    method, path = route.split(" ")
    headers, body = {"Content-Type": "application/json"}, b"{}" if method == "POST" else None
    status, answer = raw(sandbox, method, f"/{path.replace('{', '').replace('}', '')}?acount=x", headers, body)
    assert (status, answer["error"]["code"]) == (422, "validation_error")
    where = "it has account" if method == "GET" else "send it as a field of the body"
    assert answer["error"]["message"].startswith(f"This route has no parameter 'acount': {where}")


def test_an_unknown_field_is_refused_with_the_fields_that_there_are(sandbox: Sandbox) -> None:
    listed = index(sandbox)
    asked = 0
    for row in listed["routes"]:
        if row["method"] != "POST":
            continue
        path = row["path"].removeprefix("/_sandbox").replace("{id}", "1")
        # Give all required fields, so that the error is about the misspelt field and not about a missing one.
        schema = listed["schemas"][row["body"]]
        given: dict[str, Any] = {"products": [1], "product_id": 1, "kind": "delay"}
        fields = {name: given.get(name, "x") for name in schema.get("required", [])} | {"acount": 1}
        body = json.dumps(fields).encode()
        status, answer = raw(sandbox, "POST", path, {"Content-Type": "application/json"}, body)
        assert (status, answer["error"]["code"]) == (422, "validation_error"), path
        assert "acount" in answer["error"]["message"], path
        assert all(name in answer["error"]["message"] for name in schema["properties"]), path
        asked += 1
    assert asked > 25
    assert sandbox.control.ledger() == []


@pytest.mark.parametrize("value", [2**63, -(2**70), 1.5, "\x00ü", [2**70], {"a": 2**70}], ids=repr)
def test_no_value_of_a_field_is_a_failure_of_the_sandbox(sandbox: Sandbox, service: Service, value: Any) -> None:
    listed = index(sandbox)
    given: dict[str, Any] = {"product_id": 101, "products": [101], "url": "http://127.0.0.1:9/hook", "name": "renewal"}
    given["kind"] = "status"
    ids = {"orders": "9100001", "subscriptions": service.subscription("demo-active")["id"], "groups": "11"}
    for row in listed["routes"]:
        schema = listed["schemas"].get(row["body"])
        if schema is None or row["path"].endswith("/reset"):
            continue
        path = row["path"].removeprefix("/_sandbox")
        path = path.replace("{id}", ids.get(path.split("/")[1], "1"))
        for name in schema["properties"].keys() - {"account"}:
            fields = {name: given[name] for name in schema.get("required", [])}
            if "cycles" in schema["properties"]:
                fields["type"] = "fixed_cycle"
            body = json.dumps({**fields, name: value}).encode()
            status, answer = raw(sandbox, "POST", path, {"Content-Type": "application/json"}, body)
            assert status < 500, (path, name, answer)
    assert "Traceback" not in sandbox.stderr()


def test_a_further_host_may_call_when_it_is_allowed() -> None:
    with started("--allow-host", "Billing.example", "--allow-host", "sandbox") as (_, ready):
        for host, status in (
            ("billing.example", 200),
            ("SANDBOX:8080", 200),
            ("127.0.0.1", 200),
            ("billing.example.evil.example", 403),
            ("example", 403),
        ):
            parts = urlsplit(ready["control_url"])
            connection = http.client.HTTPConnection(parts.netloc, timeout=GENEROUS)
            connection.request("GET", f"{parts.path}/scenarios", headers={"Host": host})
            assert connection.getresponse().status == status, host
            connection.close()


@pytest.mark.parametrize("host", ["127.0.0.1", "billing.example"])
def test_plain_text_says_what_it_is_and_that_it_is_ready(service: Service, host: str) -> None:
    service.root = ""
    found = service.send("GET", "/", headers={"X-API-KEY": "", "Host": host})
    assert (found.status, found.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    assert all(name in found.text for name in ("billcore sandbox", "/healthz", "/_sandbox/", "X-API-KEY"))
    health = service.send("GET", "/healthz", headers={"X-API-KEY": "", "Host": host})
    assert (health.status, health.text) == (200, "ok\n")
    assert service.get("/healthz/x").status in (401, 404)


@pytest.mark.parametrize(
    "request_line",
    ["GET /{account}/subscription/ü HTTP/1.1", "GET /_sandbox/ü HTTP/1.1", "GET / products HTTP/1.1", "hello"],
)
def test_what_is_not_http_gets_an_error_object(service: Service, control: Control, request_line: str) -> None:
    line = request_line.replace("{account}", service.account)
    with socket.create_connection((service.host, service.port or 80), timeout=GENEROUS) as wire:
        wire.sendall(f"{line}\r\nHost: 127.0.0.1\r\n\r\n".encode())
        response = http.client.HTTPResponse(wire)
        response.begin()
        answer = Answer.read(response)
    assert (answer.status, answer.code) == (400, "invalid_request")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["connection"] == "close"
    assert control.requests() == []


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


def without_times(state: Any) -> Any:
    return {**state, "now": None, "accounts": [{**account, "now": None} for account in state["accounts"]]}


def test_reset_brings_back_the_seeded_state(service: Service, control: Control) -> None:
    before = control.state()
    products = service.products()
    subscription = service.subscription("demo-active")
    service.post("/webhooks/endpoints", {"url": "https://shop.example/"})
    order = service.charge().data
    service.post(f"/subscription/{subscription['id']}/cancel")
    service.send("DELETE", f"/product/{products[0]['id']}")
    control.checkout(products[1]["id"])
    control.fault("delay", path="/order/*")
    control.freeze()
    control.create_account()
    jobs = before["counts"]["jobs"]
    counts = control.state()["counts"]
    # The six subscriptions of the new account have jobs; the job of the cancelled subscription was deleted.
    assert counts.pop("jobs") == jobs - 1 + 6
    assert counts == {"endpoints": 1, "deliveries": 5, "ledger": 5, "requests": 10}
    control.reset()
    after = control.state()
    assert without_times(after) == without_times(before)
    assert after["counts"] == {"endpoints": 0, "deliveries": 0, "ledger": 0, "requests": 0, "jobs": jobs}
    assert not any(account["frozen"] for account in after["accounts"])
    assert service.products() == products
    assert service.subscription("demo-active") == subscription
    assert service.get(f"/order/{order['id']}").status == 404
    assert int(service.charge().data["id"]) > int(order["id"])


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
