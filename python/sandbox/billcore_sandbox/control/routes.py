"""The control routes below /_sandbox/: what happened; what visitors, administrators and time do; faults.

They are not part of the service. They answer only if the Host header names loopback or a name of --allow-host (a web
page whose name was pointed at 127.0.0.1 sends its own name), and a POST must be JSON (a page's form cannot send that).
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from functools import partial, wraps
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from billcore_sandbox import scenarios
from billcore_sandbox.control import accounts, bodies, deliveries, faults, history, objects, waits, webhooks
from billcore_sandbox.control.app import application, refusal_response, to_response
from billcore_sandbox.control.common import named_account
from billcore_sandbox.errors import Refusal, invalid
from billcore_sandbox.openapi import ControlRoute, document
from billcore_sandbox.options import is_loopback
from billcore_sandbox.service.calls import json_object, reply
from billcore_sandbox.world import World

PREFIX = "/_sandbox"

Action = Callable[..., Any]


def build(world: World) -> ASGIApp:
    """The ASGI application of the control routes."""
    routes = [
        Route(f"{PREFIX}/", _getter(world, _index), methods=["GET"]),
        *(Route(f"{PREFIX}/{name}", _getter(world, action), methods=["GET"]) for name, action in GETS),
        *(Route(f"{PREFIX}/{name}", _lister(world, action, page), methods=["GET"]) for name, action, page in LISTS),
        *(Route(f"{PREFIX}/{name}", _poster(world, action, body), methods=["POST"]) for name, action, body in POSTS),
        *(Route(f"{PREFIX}/{name}", _deleter(world, action), methods=["DELETE"]) for name, action in DELETES),
    ]
    inner = application(_merged(routes))
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


def _merged(routes: list[Route]) -> list[Route]:
    """One Route for each path, so that another method is answered with 405."""
    by_path: dict[str, dict[str, Any]] = {}
    for route in routes:
        for method in (route.methods or set()) - {"HEAD"}:
            by_path.setdefault(route.path, {})[method] = route.endpoint

    def one(methods: dict[str, Any]) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            answer: Response = await methods["GET" if request.method == "HEAD" else request.method](request)
            return answer

        return endpoint

    return [Route(path, one(methods), methods=list(methods)) for path, methods in by_path.items()]


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]


def _getter(world: World, action: Action) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        query = dict(request.query_params)
        if unknown := query.keys() - {"account"}:
            raise invalid(f"This route has no parameter {sorted(unknown)[0]!r}: it has account.")
        return to_response(reply(action(world, query)))

    return endpoint


def _lister(world: World, action: Action, page: type[bodies.Page]) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        query = dict(request.query_params)
        names = sorted(page.__struct_fields__)
        if unknown := query.keys() - {*names}:
            raise invalid(f"This route has no parameter {sorted(unknown)[0]!r}: it has {', '.join(names)}.")
        # msgspec reads the text "null" as null.
        if nulls := [name for name, value in query.items() if value.lower() == "null"]:
            raise invalid(f"The parameter {nulls[0]} has no value null: leave it out.")
        try:
            parsed = msgspec.convert(query, page, strict=False)
        except msgspec.ValidationError as error:
            raise invalid(f"{error} (parameters: {', '.join(names)})") from None
        world.history.trim()
        return to_response(reply(action(world, parsed)))

    return endpoint


def _poster(world: World, action: Action, body: type) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        _no_query(request)
        fields = json_object(await request.body(), request.headers.get("content-type", ""))
        parsed = fields
        if issubclass(body, msgspec.Struct):
            try:
                parsed = msgspec.convert(fields, body)
            except msgspec.ValidationError as error:
                names = ", ".join(body.__struct_fields__)
                raise invalid(f"{error} (fields: {names})") from None
        done = action(world, parsed, *request.path_params.values())
        return to_response(reply(await done if inspect.isawaitable(done) else done))

    return endpoint


def _deleter(world: World, action: Action) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        _no_query(request)
        return to_response(reply(action(world, *request.path_params.values())))

    return endpoint


def _no_query(request: Request) -> None:
    """Refuse query parameters: only GET routes have them, the other routes have a body."""
    for name in request.query_params:
        raise invalid(f"This route has no parameter {name!r}: send it as a field of the body.")


def _index(world: World, query: dict[str, str]) -> Any:
    """List the control routes, with the JSON schemas of their bodies."""
    rows = [("GET", *row, None) for row in GETS] + [("GET", *row) for row in LISTS] + [("POST", *row) for row in POSTS]
    rows += [("DELETE", *row, None) for row in DELETES]
    structs = [body for _, _, _, body in rows if body is not None and issubclass(body, msgspec.Struct)]
    _, schemas = msgspec.json.schema_components(structs, ref_template="#/schemas/{name}")
    return {
        "routes": [
            {
                "method": method,
                "path": f"{PREFIX}/{name}",
                "does": _documentation(action),
                "body": body.__name__ if body in structs and method == "POST" else None,
                "parameters": body.__name__ if body in structs and method == "GET" else None,
            }
            for method, name, action, body in rows
        ],
        "schemas": schemas,
    }


def _openapi(world: World, query: dict[str, str]) -> dict[str, Any]:
    """The OpenAPI document of the service and of these routes."""
    account = named_account(world, query.get("account")) or world.store.accounts[0]
    return document(world.options, account.uuid, PREFIX, listed())


def listed() -> list[ControlRoute]:
    """All control routes."""
    return [
        *(ControlRoute("GET", name, action, query=bodies.Nothing) for name, action in GETS),
        *(ControlRoute("GET", name, action, query=page) for name, action, page in LISTS),
        *(ControlRoute("POST", name, action, body=body) for name, action, body in POSTS),
        *(ControlRoute("DELETE", name, action) for name, action in DELETES),
    ]


def _documentation(action: Action) -> str:
    function = action.func if isinstance(action, partial) else action
    return (inspect.getdoc(function) or "").partition("\n")[0]


def _cause(action: Action, cause: str) -> Action:
    @wraps(action)
    def run(world: World, body: Any, number: str) -> Any:
        return action(world, cause, body, number)

    run.__doc__ = f"Let {cause} happen to the object, if its state allows it: see GET states."
    return run


GETS: tuple[tuple[str, Action], ...] = (
    ("state", history.state),
    ("states", history.states),
    ("endpoints", webhooks.endpoints),
    ("keys", accounts.keys),
    ("scenarios", scenarios.listed),
    ("faults", faults.listed),
    ("openapi.json", _openapi),
)
LISTS: tuple[tuple[str, Action, type[bodies.Page]], ...] = (
    ("ledger", history.ledger, bodies.LedgerPage),
    ("requests", history.requests, bodies.RequestPage),
    ("deliveries", deliveries.listed, bodies.DeliveryPage),
)
POSTS: tuple[tuple[str, Action, type], ...] = (
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
