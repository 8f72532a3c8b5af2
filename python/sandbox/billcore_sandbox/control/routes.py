"""The control routes below /_sandbox/: history, faults, and actions of visitors, administrators and time.

The control routes are not part of the service, and web pages cannot call them: the Host header must name loopback or a
host of --allow-host, and a page whose DNS name points to 127.0.0.1 sends that DNS name as Host. A POST must be JSON,
which an HTML form cannot send.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from billcore_sandbox import scenarios
from billcore_sandbox.control import accounts, bodies, deliveries, faults, history, objects, waits, webhooks
from billcore_sandbox.control.app import application, refusal_response, to_response
from billcore_sandbox.control.common import account_or_first
from billcore_sandbox.control.mistakes import mistake
from billcore_sandbox.errors import Refusal, invalid
from billcore_sandbox.openapi import ControlRoute, document
from billcore_sandbox.options import is_loopback
from billcore_sandbox.service.calls import json_object, reply
from billcore_sandbox.world import World

PREFIX = "/_sandbox"

Action = Callable[..., Any]
Endpoint = Callable[[Request], Awaitable[Response]]


def build(world: World) -> ASGIApp:
    """The ASGI application of the control routes."""
    # Give Starlette one route for each path, so that it answers a method that the path does not have with 405.
    by_path: dict[str, dict[str, Endpoint]] = {}
    for route in (ControlRoute("GET", "", _index, query=bodies.Nothing), *ROUTES):
        by_path.setdefault(f"{PREFIX}/{route.path}", {})[route.method] = _endpoint(world, route)
    inner = application([Route(path, _of_method(methods), methods=list(methods)) for path, methods in by_path.items()])
    allowed = {name.lower() for name in world.options.allow_host}

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        name = _without_port(hosts[0]) if len(hosts) == 1 else ""
        if not is_loopback(name) and name.lower() not in allowed:
            message = "Control routes answer to loopback names only: use 127.0.0.1 or localhost, or add --allow-host."
            await refusal_response(Refusal(403, "host", message))(scope, receive, send)
            return
        await inner(scope, receive, send)

    return app


def _of_method(methods: dict[str, Endpoint]) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        return await methods["GET" if request.method == "HEAD" else request.method](request)

    return endpoint


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]


def _endpoint(world: World, route: ControlRoute) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        given: list[Any] = []
        if route.query is None:
            _no_query(request)
        else:
            given.append(_parameters(request, route.query))
            world.history.trim()
        if route.body is not None:
            given.append(await _body(request, route.body))
        done = route.action(world, *given, *request.path_params.values())
        return to_response(reply(await done if inspect.isawaitable(done) else done))

    return endpoint


def _parameters(request: Request, query: type[msgspec.Struct]) -> msgspec.Struct:
    given = dict(request.query_params)
    names = sorted(query.__struct_fields__)
    if unknown := given.keys() - {*names}:
        raise invalid(f"This route has no parameter {sorted(unknown)[0]!r}: it has {', '.join(names)}.")
    # Refuse the text "null" here, because msgspec would convert it to None.
    if nulls := [name for name, value in given.items() if value.lower() == "null"]:
        raise invalid(f"The parameter {nulls[0]} has no value null: leave it out.")
    try:
        return msgspec.convert(given, query, strict=False)
    except msgspec.ValidationError as error:
        raise mistake(error, query, "parameters") from None


async def _body(request: Request, body: type[msgspec.Struct]) -> msgspec.Struct:
    fields = json_object(await request.body(), request.headers.get("content-type", ""))
    try:
        return msgspec.convert(fields, body)
    except msgspec.ValidationError as error:
        raise mistake(error, body, "fields") from None


def _no_query(request: Request) -> None:
    """Refuse query parameters on routes with a body: only GET routes take query parameters."""
    for name in request.query_params:
        raise invalid(f"This route has no parameter {name!r}: send it as a field of the body.")


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
    return document(world.options, account_or_first(world, query).uuid, PREFIX, ROUTES)


def _cause(action: Action, cause: str) -> Action:
    @wraps(action)
    def run(world: World, body: Any, number: str) -> Any:
        return action(world, cause, body, number)

    run.__doc__ = f"Apply the cause {cause} to the object, if its state allows it: see GET states."
    return run


GETS: tuple[tuple[str, Action, type[msgspec.Struct]], ...] = (
    ("state", history.state, bodies.Nothing),
    ("states", history.states, bodies.Nothing),
    ("endpoints", webhooks.endpoints, bodies.Nothing),
    ("keys", accounts.keys, bodies.Nothing),
    ("scenarios", scenarios.listed, bodies.Nothing),
    ("faults", faults.listed, bodies.Nothing),
    ("openapi.json", _openapi, bodies.Nothing),
    ("ledger", history.ledger, bodies.LedgerPage),
    ("requests", history.requests, bodies.RequestPage),
    ("deliveries", deliveries.listed, bodies.DeliveryPage),
)
POSTS: tuple[tuple[str, Action, type[msgspec.Struct]], ...] = (
    ("accounts", accounts.create, bodies.NewAccount),
    ("clock", accounts.change_clock, bodies.ClockChange),
    ("trigger", scenarios.trigger, bodies.Trigger),
    ("checkout", objects.checkout, bodies.Checkout),
    ("orders/{id}/confirm", objects.confirm, bodies.Nothing),
    ("orders/{id}/pay", objects.pay, bodies.Nothing),
    *(
        (f"orders/{{id}}/{cause}", _cause(objects.order_cause, cause), bodies.Nothing)
        for cause in ("await_payment", "await_user", "fail_payment", "cancel_payment", "refund")
    ),
    *(
        (f"subscriptions/{{id}}/{cause}", _cause(objects.subscription_cause, cause), bodies.Nothing)
        for cause in ("renew", "start", "end", "cancel")
    ),
    ("subscriptions/{id}/change_billing", objects.change_billing, bodies.BillingMethod),
    ("products", objects.create_product, bodies.NewProduct),
    ("groups", objects.create_group, bodies.NewGroup),
    ("groups/{id}/change", objects.change_group, bodies.Group),
    ("groups/{id}/delete", objects.delete_group, bodies.Nothing),
    ("endpoints", webhooks.create_endpoint, bodies.NewEndpoint),
    ("endpoints/{id}", webhooks.change_endpoint, bodies.Settings),
    *(
        (f"endpoints/{{id}}/{cause}", _cause(webhooks.endpoint_cause, cause), bodies.Nothing)
        for cause in ("enable", "disable", "delete")
    ),
    ("endpoints/{id}/rotate_secret", webhooks.rotate_secret, bodies.Rotation),
    ("keys", accounts.issue_key, bodies.Nothing),
    *((f"keys/{{id}}/{cause}", _cause(accounts.key_cause, cause), bodies.Nothing) for cause in ("revoke", "rotate")),
    ("deliveries/{id}/redeliver", deliveries.redeliver, bodies.Later),
    ("deliveries/{id}/replay", deliveries.replay, bodies.Later),
    ("deliveries/{id}/edit", deliveries.edit, bodies.Edit),
    ("test-hook", deliveries.test_hook, bodies.TestHook),
    ("faults", faults.create, bodies.Fault),
    ("wait", waits.wait, bodies.Wait),
    ("reset", history.reset, bodies.Nothing),
)
DELETES: tuple[tuple[str, Action], ...] = (
    ("accounts/{uuid}", accounts.delete),
    ("faults/{id}", faults.delete),
)
ROUTES = (
    *(ControlRoute("GET", name, action, query=query) for name, action, query in GETS),
    *(ControlRoute("POST", name, action, body=body) for name, action, body in POSTS),
    *(ControlRoute("DELETE", name, action) for name, action in DELETES),
)
