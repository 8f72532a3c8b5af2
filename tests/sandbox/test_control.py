"""The control routes: who may call them, what they refuse, the types of their answers, and what they record."""

from __future__ import annotations

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from billcore.testing import Control, Sandbox
from billcore_sandbox.control import routes
from sandbox.support import CLOSED, Service, strict
from support.answer import Answer
from support.waiting import GENEROUS, until

JSON = {"Content-Type": "application/json"}
ROUTES = {f"{route.method} {route.path}": route for route in routes.ROUTES}


def send(control_url: str, method: str, path: str, body: bytes | None = None, **headers: str) -> Answer:
    parts = urlsplit(control_url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=GENEROUS)
    try:
        connection.request(method, parts.path + path, body, {**JSON, **headers})
        return Answer.read(connection.getresponse())
    finally:
        connection.close()


def post(sandbox: Sandbox, path: str, fields: Any) -> Answer:
    return send(sandbox.control_url, "POST", path, json.dumps(fields).encode())


def index(sandbox: Sandbox) -> Any:
    return send(sandbox.control_url, "GET", "/").json


@pytest.mark.parametrize(
    ("method", "path", "kind", "body", "status"),
    [
        *(
            ("POST", "/reset", kind, b"{}", 415)
            for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "")
        ),
        *(("POST", "/reset", "application/json", body, 400) for body in (b"", b"{")),
        *(("POST", "/reset", "application/json", body, 422) for body in (b"[]", b"null")),
        ("GET", "", "", None, 404),
        ("GET", "/nothing", "", None, 404),
        ("GET", "/state%0A", "", None, 404),
        ("GET", "/reset", "", None, 405),
        ("POST", "/state", "application/json", b"{}", 405),
        *(("POST", f"/orders/{number}/pay", "application/json", b"{}", 404) for number in ("1", "x", "9" * 30)),
    ],
)
def test_requests_that_are_refused(
    sandbox: Sandbox, service: Service, method: str, path: str, kind: str, body: bytes | None, status: int
) -> None:
    service.charge()
    answer = send(sandbox.control_url, method, path, body, **{"Content-Type": kind})
    assert (answer.status, bool(answer.code)) == (status, True)
    assert len(sandbox.control.ledger()) == 1


def answers_of_every_route(sandbox: Sandbox, service: Service) -> dict[str, Any]:
    """Calls each route once; returns the answers by method and path."""
    found: dict[str, Any] = {}

    def call(route: str, fields: Any = None, **ids: Any) -> Any:
        method, path = route.split(" ")
        for name, value in ids.items():
            path = path.replace(f"{{{name}}}", str(value))
        body = None if fields is None else json.dumps(fields).encode()
        answer = send(sandbox.control_url, method, f"/{path}", body)
        assert answer.status == 200, (route, answer)
        found[route] = answer.json
        return answer.json

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
    paused = sandbox.control.create_endpoint("http://127.0.0.1:9/paused", paused=True)["id"]
    sandbox.control.test_hook(paused)
    for how in ("hold", "release"):
        post(f"deliveries/{{id}}/{how}", f"seq:{sandbox.control.deliveries()[-1]['seq']}")
    sandbox.control.endpoint(paused, "delete")
    account = post("accounts")["account"]
    post("clock", account=account, days=40)
    call("DELETE accounts/{uuid}", uuid=account)
    assert service.get("/products?pgae=2").status == 200
    post("faults", kind="delay", delay=1)
    post("wait", request={"status": 200})
    until(lambda: all(each["attempts"] for each in sandbox.control.deliveries() if each["state"] == "pending"))
    for name, route in ROUTES.items():
        if route.method == "GET" and route.media == JSON["Content-Type"]:
            call(name, id=subscription)
    post("requests/{id}/repeat", found["GET requests"]["requests"][-1]["id"])
    call("DELETE faults/{id}", id=1)
    post("history/clear")
    post("reset")
    return found


def test_every_answer_has_its_type(sandbox: Sandbox, service: Service) -> None:
    answers = answers_of_every_route(sandbox, service)
    assert ROUTES.keys() - answers.keys() == {"GET stream"}
    for effect in answers["GET ledger"]["effects"]:
        for name in effect.keys() - {"id", "at", "account", "kind", "request_id"}:
            del effect[name]  # remove the members that depend on the effect's kind
    for name, answer in answers.items():
        empty = [key for key, value in answer.items() if value == []]
        assert empty == (["unanswered"] if name == "POST clock" else []), name
        strict(answer, ROUTES[name].answer)


def test_the_index_lists_every_route(sandbox: Sandbox) -> None:
    listed = index(sandbox)
    assert [f"{row['method']} {row['path'].removeprefix('/_sandbox/')}" for row in listed["routes"]] == [*ROUTES]
    assert all(row["does"] for row in listed["routes"])
    assert {row["body"] for row in listed["routes"]} - {None} <= listed["schemas"].keys()


def test_every_route_refuses_parameters_and_fields_that_it_does_not_have(sandbox: Sandbox) -> None:
    listed = index(sandbox)
    for row in listed["routes"]:
        path = row["path"].removeprefix("/_sandbox").replace("{id}", "1").replace("{uuid}", "x")
        answer = send(sandbox.control_url, row["method"], f"{path}?acount=x", b"{}" if row["body"] else None)
        assert (answer.status, answer.code) == (422, "validation_error"), path
        where = "it has account" if row["method"] == "GET" else "send it as a field of the body"
        assert f"This route has no parameter 'acount': {where}" in answer.text, path
        if row["body"] is not None:
            # Give all required fields, so that the error is about the misspelt field and not about a missing one.
            schema = listed["schemas"][row["body"]]
            given: dict[str, Any] = {"products": [1], "product_id": 1, "kind": "delay"}
            fields = {name: given.get(name, "x") for name in schema.get("required", [])}
            answer = post(sandbox, path, {**fields, "acount": 1})
            assert (answer.status, answer.code) == (422, "validation_error"), path
            assert all(name in answer.text for name in ("acount", *schema["properties"])), path
    assert sandbox.control.ledger() == []


@pytest.mark.parametrize("value", [2**63, -(2**70), 1.5, "\x00ü", [2**70], {"a": 2**70}], ids=repr)
def test_no_value_of_a_field_is_a_failure_of_the_sandbox(sandbox: Sandbox, service: Service, value: Any) -> None:
    listed = index(sandbox)
    given: dict[str, Any] = {"product_id": 101, "products": [101], "url": CLOSED, "name": "renewal", "kind": "status"}
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
            answer = post(sandbox, path, {**fields, name: value})
            assert answer.status < 500, (path, name, answer)
    assert "Traceback" not in sandbox.stderr()


def test_plain_text_says_what_it_is_and_that_it_is_ready(service: Service) -> None:
    service.root = ""
    found = service.send("GET", "/", headers={"X-API-KEY": ""})
    assert (found.status, found.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    assert all(name in found.text for name in ("billcore sandbox", "/healthz", "/_sandbox/", "X-API-KEY"))
    assert service.send("GET", "/healthz", headers={"X-API-KEY": ""}).told == (200, "ok\n")


def test_requests_are_recorded_as_received(service: Service, control: Control) -> None:
    target = "/subscriptions?filter[reference_id]=a%2Fb&x=%C3%A6"
    headers = {"x-aPi-kEy": service.api_key, "X-API-KEY": "", "X-Odd": "  two  "}
    answers = [service.send("GET", target, headers=headers)]
    answers.append(service.send("POST", "/webhooks/endpoints", raw='{"url": "æ"}'.encode()))
    account, service.root = service.account, "/unknown"
    answers.append(service.get("/products"))
    first, second, third = control.requests()
    assert first["target"] == f"/{account}{target}"
    assert (first["method"], first["status"], first["fault"], first["body"]) == ("GET", 200, None, "")
    assert (first["account"], first["headers"][0][0]) == (account, "Host")
    assert ["x-aPi-kEy", "***"] in first["headers"] and service.api_key not in str(control.requests())
    assert (second["status"], second["body"]) == (422, '{"url": "æ"}')
    assert (third["account"], third["status"]) == (None, 404)
    assert [request["id"] for request in control.requests()] == [1, 2, 3]
    assert [answer.headers["x-request-id"] for answer in answers] == ["req_1", "req_2", "req_3"]


def without_times(state: Any) -> Any:
    return {
        **state,
        "now": None,
        "history": {**state["history"], "cursor": None},
        "accounts": [{**account, "now": None} for account in state["accounts"]],
    }


def test_reset_brings_back_the_seeded_state(service: Service, control: Control) -> None:
    before = control.state()
    assert (before["seed"], len(before["accounts"])) == (20250425, 2)
    products, subscription = service.products(), service.subscription("demo-active")
    service.post("/webhooks/endpoints", {"url": "https://shop.example/"})
    order = service.charge().data
    service.post(f"/subscription/{subscription['id']}/cancel")
    service.send("DELETE", f"/product/{products[0]['id']}")
    control.checkout(products[1]["id"])
    control.fault("delay", path="/order/*")
    control.freeze()
    control.create_account()
    jobs, counts = before["counts"]["jobs"], control.state()["counts"]
    # The six subscriptions of the new account have jobs; the job of the cancelled subscription was deleted.
    assert counts == {"endpoints": 1, "deliveries": 5, "ledger": 5, "requests": 10, "jobs": jobs - 1 + 6}
    control.reset()
    after = control.state()
    assert without_times(after) == without_times(before)
    assert after["counts"] == {"endpoints": 0, "deliveries": 0, "ledger": 0, "requests": 0, "jobs": jobs}
    assert not any(account["frozen"] for account in after["accounts"])
    assert (service.products(), service.subscription("demo-active")) == (products, subscription)
    assert service.get(f"/order/{order['id']}").status == 404
    assert int(service.charge().data["id"]) > int(order["id"])
