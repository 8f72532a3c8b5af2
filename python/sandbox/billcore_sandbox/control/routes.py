"""The table of control routes below /_sandbox/: history, faults, and actions of visitors, administrators and time."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import msgspec

from billcore_sandbox import scenarios
from billcore_sandbox.control import (
    accounts,
    bodies,
    deliveries,
    faults,
    history,
    objects,
    stream,
    upcoming,
    waits,
    webhooks,
)
from billcore_sandbox.control.common import account_or_first
from billcore_sandbox.openapi import JSON, ControlRoute, document
from billcore_sandbox.world import World

PREFIX = "/_sandbox"

Action = Callable[..., Any]


def _index(world: World, query: bodies.Nothing) -> Any:
    """List the control routes, with the JSON schemas of their bodies and parameters."""
    structs = [type_ for route in ROUTES for type_ in (route.body, route.query) if type_ is not None]
    _, schemas = msgspec.json.schema_components(structs, ref_template="#/schemas/{name}")
    return {
        "routes": [
            {
                "method": route.method,
                "path": f"{PREFIX}/{route.path}",
                "does": (inspect.getdoc(route.action) or "").partition("\n")[0],
                "body": None if route.body is None else route.body.__name__,
                "parameters": None if route.query is None else route.query.__name__,
            }
            for route in ROUTES
        ],
        "schemas": schemas,
    }


def _openapi(world: World, query: bodies.Nothing) -> dict[str, Any]:
    """Return the OpenAPI document of the service and the control routes."""
    account = account_or_first(world, query.account)
    return document(account.options, account.uuid, PREFIX, ROUTES)


def _cause(action: Action, cause: str) -> Action:
    @wraps(action)
    def run(world: World, body: Any, number: str) -> Any:
        return action(world, cause, body, number)

    run.__doc__ = f"Apply the cause {cause} to the object, if its state allows it: see GET states."
    return run


def _get(path: str, action: Action, query: type[msgspec.Struct] = bodies.Nothing, media: str = JSON) -> ControlRoute:
    return ControlRoute("GET", path, action, query=query, media=media)


def _post(path: str, action: Action, body: type[msgspec.Struct] = bodies.Nothing) -> ControlRoute:
    return ControlRoute("POST", path, action, body=body)


def _causes(objects: str, action: Action, *causes: str) -> list[ControlRoute]:
    return [_post(f"{objects}/{{id}}/{cause}", _cause(action, cause)) for cause in causes]


ROUTES = (
    _get("state", history.state),
    _get("states", history.states),
    _get("endpoints", webhooks.endpoints),
    _get("keys", accounts.keys),
    _get("scenarios", scenarios.listed),
    _get("faults", faults.listed),
    _get("openapi.json", _openapi),
    _get("ledger", history.ledger, bodies.LedgerPage),
    _get("requests", history.requests, bodies.RequestPage),
    _get("deliveries", deliveries.listed, bodies.DeliveryPage),
    _get("stream", stream.stream, bodies.StreamQuery, "text/event-stream"),
    _get("upcoming", upcoming.upcoming, bodies.Soonest),
    _get("subscriptions/{id}", upcoming.subscription),
    _post("accounts", accounts.create, bodies.NewAccount),
    _post("clock", accounts.change_clock, bodies.ClockChange),
    _post("trigger", scenarios.trigger, bodies.Trigger),
    _post("checkout", objects.checkout, bodies.Checkout),
    _post("orders/{id}/confirm", objects.confirm),
    _post("orders/{id}/pay", objects.pay),
    *_causes("orders", objects.order_cause, "await_payment", "await_user", "fail_payment", "cancel_payment", "refund"),
    *_causes("subscriptions", objects.subscription_cause, "renew", "start", "end", "cancel"),
    _post("subscriptions/{id}/change_billing", objects.change_billing, bodies.BillingMethod),
    _post("products", objects.create_product, bodies.NewProduct),
    _post("groups", objects.create_group, bodies.NewGroup),
    _post("groups/{id}/change", objects.change_group, bodies.Group),
    _post("groups/{id}/delete", objects.delete_group),
    _post("endpoints", webhooks.create_endpoint, bodies.NewEndpoint),
    _post("endpoints/{id}", webhooks.change_endpoint, bodies.Settings),
    *_causes("endpoints", webhooks.endpoint_cause, "enable", "disable", "delete"),
    _post("endpoints/{id}/rotate_secret", webhooks.rotate_secret, bodies.Rotation),
    _post("keys", accounts.issue_key),
    *_causes("keys", accounts.key_cause, "revoke", "rotate"),
    _post("deliveries/{id}/redeliver", deliveries.redeliver, bodies.Later),
    _post("deliveries/{id}/replay", deliveries.replay, bodies.Later),
    _post("deliveries/{id}/edit", deliveries.edit, bodies.Edit),
    _post("deliveries/{id}/hold", deliveries.hold),
    _post("deliveries/{id}/release", deliveries.release),
    _post("test-hook", deliveries.test_hook, bodies.TestHook),
    _post("faults", faults.create, bodies.Fault),
    _post("wait", waits.wait, bodies.Wait),
    _post("requests/{id}/repeat", history.repeat),
    _post("history/clear", history.clear),
    _post("reset", history.reset),
    ControlRoute("DELETE", "accounts/{uuid}", accounts.delete),
    ControlRoute("DELETE", "faults/{id}", faults.delete),
)
ALL = (_get("", _index), *ROUTES)
