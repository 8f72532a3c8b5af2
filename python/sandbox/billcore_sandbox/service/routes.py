"""The service's routes: authentication first, then one operation."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import unquote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from billcore_sandbox.errors import Refusal, not_found
from billcore_sandbox.service import endpoints, orders, products, subscriptions
from billcore_sandbox.service.calls import Call, Reply, parse_query, reply
from billcore_sandbox.store import Account
from billcore_sandbox.world import World

_log = logging.getLogger("billcore_sandbox")

Operation = Callable[[Call], Reply]

# Method, path below the base URL, operation: every row of "Endpoints" in the service interface.
ROUTES: tuple[tuple[str, str, Operation], ...] = (
    ("GET", "/subscriptions", subscriptions.index),
    ("GET", "/subscription/{id}", subscriptions.get),
    ("POST", "/subscription/{id}/cancel", subscriptions.cancel),
    ("POST", "/subscription/{id}/product", subscriptions.change_product),
    ("GET", "/subscription/{id}/orders", subscriptions.order_list),
    ("POST", "/subscription/{id}/order", subscriptions.charge),
    ("GET", "/products", products.index),
    ("GET", "/product/{id}", products.get),
    ("POST", "/product/{id}", products.update),
    ("DELETE", "/product/{id}", products.delete),
    ("GET", "/order/{id}", orders.get),
    ("POST", "/webhooks/endpoints", endpoints.create),
)


class Unauthorized(Exception):
    """The API key is missing or invalid: 401, with the body `null` instead of an error object."""


def authenticate(world: World, keys: list[str], account_uuid: str) -> Account:
    """The account of the URL, if the key belongs to it. Another account's key gets the 404 of a missing resource."""
    owner = world.store.account_by_key(keys[0]) if len(keys) == 1 else None
    if owner is None:
        raise Unauthorized
    if owner.uuid != account_uuid:
        raise not_found()
    return owner


def split_path(raw_path: str) -> tuple[str, str]:
    """(account segment, path below the base URL) of a raw path."""
    account, _, rest = raw_path.removeprefix("/").partition("/")
    return account, f"/{rest}"


def to_response(answer: Reply) -> Response:
    headers = dict(answer.headers)
    return Response(answer.body, answer.status, headers, media_type=answer.content_type if answer.body else None)


def refusal_response(error: Refusal) -> Response:
    return to_response(reply(error.body(), error.status))


def starlette_app(routes: list[Route]) -> Starlette:
    """An application whose every error answer is an error object."""
    app = Starlette(
        routes=routes,
        exception_handlers={
            HTTPException: _http_error,
            Refusal: _refused,
            sqlite3.Error: _not_stored,
            Exception: _failed,
        },
    )
    # "/products/" is another path than "/products". A redirect would make clients send the key again.
    app.router.redirect_slashes = False
    return app


def build(world: World) -> ASGIApp:
    """The ASGI application of the service paths."""
    inner = starlette_app(_routes(world))

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        account_uuid, path = split_path(scope["raw_path"].decode("ascii"))
        keys = [value.decode("latin-1") for name, value in scope["headers"] if name == b"x-api-key"]
        try:
            account = authenticate(world, keys, account_uuid)
        except Unauthorized:
            await to_response(reply(None, 401))(scope, receive, send)
        except Refusal as error:
            await refusal_response(error)(scope, receive, send)
        else:
            # The path is routed in its encoded form, so that an id with an encoded slash stays one segment.
            await inner({**scope, "path": path, "root_path": "", "billcore.account": account}, receive, send)

    return app


def _routes(world: World) -> list[Route]:
    """One Route per path. It has all methods of the path, so that another method is answered with 405."""
    by_path: dict[str, dict[str, Operation]] = {}
    for method, path, operation in ROUTES:
        by_path.setdefault(path, {})[method] = operation
    return [Route(path, _endpoint(world, methods), methods=list(methods)) for path, methods in by_path.items()]


def _endpoint(world: World, methods: dict[str, Operation]) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        scope = request.scope
        host = request.headers.get("host", "")
        call = Call(
            world=world,
            account=scope["billcore.account"],
            id=unquote(request.path_params.get("id", "")),
            address=f"http://{host}{scope['raw_path'].decode('ascii')}",
            query=parse_query(scope["query_string"]),
            body=await request.body(),
            content_type=request.headers.get("content-type", ""),
        )
        return to_response(methods["GET" if request.method == "HEAD" else request.method](call))

    return endpoint


async def _refused(request: Request, error: Any) -> Response:
    return refusal_response(error)


async def _http_error(request: Request, error: Any) -> Response:
    if error.status_code == 404:
        return refusal_response(not_found())
    answer = refusal_response(Refusal(error.status_code, "method_not_allowed", "This path does not take this method."))
    answer.headers.update(error.headers or {})
    return answer


async def _not_stored(request: Request, error: Any) -> Response:
    return refusal_response(not_stored(error))


async def _failed(request: Request, error: Any) -> Response:
    # Starlette raises the error again after this answer, and the caller of the application logs it.
    return refusal_response(internal_error())


def not_stored(error: sqlite3.Error) -> Refusal:
    """The answer when the database cannot be written, such as on a full disk; it is logged in one line."""
    _log.error("the database cannot be written: %s", error)
    return Refusal(500, "storage", f"The sandbox cannot write its database: {error}.")


def internal_error() -> Refusal:
    """The answer to an error in the sandbox itself."""
    return Refusal(500, "internal", "The sandbox itself failed: see its stderr.")
