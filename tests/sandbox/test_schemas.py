"""The types of the OpenAPI document: the events of the sandbox fit them, and they agree with those of the clients."""

from __future__ import annotations

import inspect
import json
import tomllib
from pathlib import Path
from typing import get_args

import msgspec

from billcore import testing
from billcore.testing import SandboxAccount
from billcore_sandbox import events, faults, resources
from billcore_sandbox.control import answers, bodies, records
from billcore_sandbox.scenarios import SCENARIOS
from billcore_sandbox.service import schemas
from billcore_sandbox.service.event_schemas import EVENTS
from sandbox.support import strict

INTERFACE = Path(__file__).resolve().parents[2] / "core" / "interface"


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
    assert testing.Delivery.__annotations__.keys() == records.DeliveryRecord.__annotations__.keys()
    both = {**vars(answers), **vars(records)}
    for name in ("FaultRecord", "RequestRecord", "Endpoint", "LateWork", "StateChange"):
        assert getattr(testing, name).__annotations__.keys() == both[name].__annotations__.keys(), name
