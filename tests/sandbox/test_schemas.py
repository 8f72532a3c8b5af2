"""The answers and events of the sandbox, converted strictly to the types that the OpenAPI document shows."""

from __future__ import annotations

import inspect
import json
import tomllib
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from billcore import testing
from billcore.testing import Account, Sandbox, SandboxAccount
from billcore_sandbox import events, faults, resources
from billcore_sandbox.control import answers, bodies
from billcore_sandbox.scenarios import SCENARIOS
from billcore_sandbox.service import schemas
from billcore_sandbox.service.event_schemas import EVENTS
from billcore_sandbox.service.routes import OPERATIONS, find
from sandbox.support import Service
from support.answer import Answer

INTERFACE = Path(__file__).resolve().parents[2] / "core" / "interface"


def strict(value: Any, type_: Any) -> None:
    """Fails unless the value has the type, with all fields and no others."""
    shown = msgspec.to_builtins(msgspec.convert(value, type_), builtin_types=[datetime])
    assert _with_texts(shown) == value


def _with_texts(value: Any) -> Any:
    """The value with its times as text, in the sandbox's format."""
    if isinstance(value, dict):
        return {name: _with_texts(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_with_texts(each) for each in value]
    return value.isoformat() if isinstance(value, datetime) else value


class Strict(Service):
    """Converts each answer."""

    def __init__(self, account: Account) -> None:
        super().__init__(account)
        self.seen: set[tuple[str, int]] = set()

    def send(self, method: str, path: str, *args: Any, **options: Any) -> Answer:
        answer = super().send(method, path, *args, **options)
        operation, _ = find(method, path.partition("?")[0])
        self.seen.add((operation.name, answer.status))
        strict(answer.json, {200: operation.answer, 401: None}.get(answer.status, schemas.Error))
        return answer

    def all(self, path: str) -> list[dict[str, Any]]:
        """Every item of a list."""
        first = self.get(path).json
        rest = range(2, first["pagination"]["total_pages"] + 1)
        return [*first["data"], *(item for page in rest for item in self.get(f"{path}?page={page}").data)]


def test_answers_fit_their_schemas(sandbox: Sandbox) -> None:
    strict = Strict(sandbox.accounts[0])
    found = strict.all("/subscriptions")
    assert {each["status"] for each in found} == {*resources.SUBSCRIPTION_STATUSES}
    orders = [order for each in found[:40] for order in strict.all(f"/subscription/{each['id']}/orders")]
    assert {each["state"] for each in orders} == {*resources.ORDER_STATES}
    assert {each["delivery"] is None for each in orders} == {True, False}
    for product in strict.all("/products"):
        strict.get(f"/product/{product['id']}")
    strict.get(f"/order/{orders[0]['id']}")
    active = f"/subscription/{strict.subscription('demo-active')['id']}"
    strict.get(active)
    for reference_id, status in {"demo-active": 200, "demo-invoice": 200, "demo-declined": 402}.items():
        assert strict.charge(reference_id, description="Towel").status == status
    strict.charge(amount=0)
    strict.post(f"{active}/product", {"product_id": strict.product("subscription")["id"]})
    strict.post(f"{active}/product", {"product_id": 1})
    strict.post(f"{active}/cancel")
    strict.post(f"/subscription/{next(each['id'] for each in found if each['status'] == 'expired')}/cancel")
    towel = f"/product/{strict.product()['id']}"
    strict.post(towel, {"vat_rate": 12.5, "interval": None})
    strict.send("DELETE", towel)
    strict.get(towel)
    strict.send("POST", f"{active}/order", raw=b"{")
    strict.post("/webhooks/endpoints", {"url": "https://shop.example/hooks"})
    strict.post("/webhooks/endpoints", {"url": "https://shop.example/hooks"})
    strict.send("GET", "/products", headers={"X-API-KEY": ""})
    strict.get("/products?page=0")
    refused = {(name, status) for name, status in strict.seen if status != 200}
    assert {name for name, status in strict.seen if status == 200} == {each.name for each in OPERATIONS}
    assert {status for _, status in refused} == {400, 401, 402, 404, 422}


def test_events(mine: SandboxAccount) -> None:
    mine.control.create_endpoint("https://receiver.example/")  # not loopback, so deliveries are only recorded
    product = mine.control.create_product("Tea")["id"]
    mine.control.delete_group(mine.control.create_group("Drinks", [product])["id"])
    mine.control.test_hook()
    for name in SCENARIOS:
        mine.control.trigger(name)
    names = set()
    for delivery in mine.control.deliveries():
        event = json.loads(delivery["body"])
        names.add(event["name"])
        strict(event, EVENTS[event["name"]])
    assert names == {*EVENTS} == {*events.NAMES}


@pytest.mark.parametrize(
    "change", [{"price": "1"}, {"price": True}, {"status": "gone"}, {"created_at": "now"}, {"x": 1}]
)
def test_a_wrong_answer_is_noticed(service: Service, change: dict[str, Any]) -> None:
    right = service.subscription("demo-active")
    strict(right, schemas.Subscription)
    with pytest.raises((msgspec.ValidationError, AssertionError)):
        strict({**right, **change}, schemas.Subscription)
    with pytest.raises(msgspec.ValidationError):
        strict({name: value for name, value in right.items() if name != "metadata"}, schemas.Subscription)


def test_the_types_agree_with_the_interface_of_the_clients() -> None:
    """core/interface describes the same service interface independently, for the clients."""
    read = {name: tomllib.loads((INTERFACE / f"{name}.toml").read_text("utf-8")) for name in ("resources", "events")}
    for resource in read["resources"]["resource"]:
        ours = getattr(schemas, {"ProductImage": "Image"}.get(resource["name"], resource["name"]))
        nullable = {field.name: type(None) in get_args(field.type) for field in msgspec.structs.fields(ours)}
        assert nullable == {field["name"]: field.get("nullable", False) for field in resource["fields"]}
    assert [each["name"] for each in read["events"]["event"]] == [*EVENTS]
    values = {each["name"]: tuple(each["values"]) for each in read["resources"]["enumeration"]}
    assert values == {
        "SubscriptionStatus": resources.SUBSCRIPTION_STATUSES,
        "OrderState": resources.ORDER_STATES,
    }


def test_billcore_testing_agrees_with_the_control_routes() -> None:
    """billcore.testing repeats the names of the control routes' fields, because it does not import the sandbox."""
    assert get_args(testing.FaultKind) == (*faults.KINDS,)
    fields = {field.name for field in msgspec.structs.fields(bodies.Fault)}
    assert {"self", *fields} == inspect.signature(testing.Control.fault).parameters.keys()
    assert testing.FaultRecord.__annotations__.keys() == faults.Fault(1, "delay").public().keys()
    assert testing.Delivery.__annotations__.keys() == answers.DeliveryRecord.__annotations__.keys()
    for name in ("FaultRecord", "RequestRecord", "Endpoint", "LateWork"):
        assert getattr(testing, name).__annotations__.keys() == getattr(answers, name).__annotations__.keys(), name
