"""Each event name has its own class, which determines the type of the data."""

from __future__ import annotations

import copy
import json
import pickle
from typing import Any

import pytest

import billcore
from billcore import webhooks

from .model_support import NAMES
from .support import ORDER, event

CLASSES: dict[str, type[webhooks.Event]] = {
    "subscription.created": webhooks.SubscriptionCreated,
    "subscription.updated": webhooks.SubscriptionUpdated,
    "subscription.renewed": webhooks.SubscriptionRenewed,
    "subscription.cancelled": webhooks.SubscriptionCancelled,
    "order.confirmed": webhooks.OrderConfirmed,
    "order.paid": webhooks.OrderPaid,
    "product.updated": webhooks.ProductUpdated,
    "product.deleted": webhooks.ProductDeleted,
    "product-group.updated": webhooks.ProductGroupUpdated,
    "product-group.deleted": webhooks.ProductGroupDeleted,
    "test.hook": webhooks.TestHook,
    "from.the.future": webhooks.UnknownEvent,
}
PROMISING = [name for name, (kind, _) in NAMES.items() if kind is not billcore.Resource]
NO_OBJECTS: list[Any] = [None, "text", 5, 1.5, True, [], [{}]]


def test_each_event_has_its_class() -> None:
    assert list(CLASSES) == list(NAMES)
    for name, kind in CLASSES.items():
        made = event(NAMES[name][1], name)
        assert type(made) is kind and isinstance(made, webhooks.Event) and type(made.data) is NAMES[name][0]
        assert webhooks.parse_unverified(made.raw) == made and type(webhooks.parse_unverified(made.raw)) is kind


def test_every_class_is_public_and_has_a_docstring() -> None:
    public = {value for name in webhooks.__all__ if isinstance(value := getattr(webhooks, name), type)}
    assert set(webhooks.Event.__subclasses__()) == set(CLASSES.values()) <= public
    for kind in CLASSES.values():
        assert kind.__module__ == "billcore.webhooks" and getattr(webhooks, kind.__name__) is kind and kind.__doc__
        with pytest.raises(TypeError):
            type("Mine", (kind,), {})
        with pytest.raises(billcore.ConfigError, match="cannot be made by hand"):
            kind()
    assert webhooks.OrderPaid.__doc__ == "order.paid; its data is an Order. Service interface: Events."


@pytest.mark.parametrize("name", PROMISING)
@pytest.mark.parametrize("value", NO_OBJECTS)
def test_a_name_whose_data_is_no_object_is_unknown(name: str, value: Any) -> None:
    made = event(value, name)
    assert type(made) is webhooks.UnknownEvent and made.name == name and made.data == value
    absent = webhooks.parse_unverified(json.dumps({"name": name}).encode())
    assert type(absent) is webhooks.UnknownEvent and absent.name == name and absent.data is None


@pytest.mark.parametrize("value", NO_OBJECTS)
def test_a_test_hook_may_hold_anything(value: Any) -> None:
    made = event(value, "test.hook")
    assert type(made) is webhooks.TestHook and made.data == value
    assert type(webhooks.parse_unverified(b'{"name":"test.hook"}')) is webhooks.TestHook


@pytest.mark.parametrize("name", ["order.paid ", "Order.paid", "", None, 5, ["order.paid"], {"order.paid": 1}])
def test_other_names_are_unknown(name: Any) -> None:
    made = event(ORDER, name)
    assert type(made) is webhooks.UnknownEvent and type(made.data) is billcore.Resource


def test_of_two_equal_members_the_last_one_counts() -> None:
    body = b'{"name":"order.paid","data":%s,"data":%s}'
    assert type(webhooks.parse_unverified(body % (b"5", b'{"total":1}'))) is webhooks.OrderPaid
    assert type(webhooks.parse_unverified(body % (b'{"total":1}', b"5"))) is webhooks.UnknownEvent


def test_patterns_narrow() -> None:
    def seen(made: webhooks.Event) -> str:
        match made:
            case webhooks.OrderPaid(data=order) | webhooks.OrderConfirmed(data=order):
                return f"order {order.total}"
            case webhooks.SubscriptionCancelled(data=billcore.Subscription(status="cancelled", ends_at=None)):
                return "ended"
            case webhooks.SubscriptionCancelled():
                return "ends"
            case webhooks.TestHook():
                return "test"
            case webhooks.UnknownEvent(name=name):
                return f"unknown {name}"
            case _:
                return "other"

    assert seen(event({"total": 5}, "order.paid")) == seen(event({"total": 5}, "order.confirmed")) == "order 5"
    assert seen(event({"status": "cancelled", "ends_at": None}, "subscription.cancelled")) == "ended"
    assert seen(event({"status": "active"}, "subscription.cancelled")) == "ends"
    assert seen(event(None, "test.hook")) == "test"
    assert seen(event({}, "later")) == "unknown later" and seen(event(5, "order.paid")) == "unknown order.paid"
    assert seen(event({}, "product.updated")) == "other"


def test_copies_and_pickles_keep_the_class() -> None:
    for name, kind in CLASSES.items():
        made = event(NAMES[name][1], name)
        assert type(pickle.loads(pickle.dumps(made))) is kind and copy.copy(made) is made
    assert pickle.loads(pickle.dumps(webhooks.OrderPaid)) is webhooks.OrderPaid


def test_pytest_does_not_take_the_test_hook_for_a_test() -> None:
    assert webhooks.TestHook.__test__ is False
