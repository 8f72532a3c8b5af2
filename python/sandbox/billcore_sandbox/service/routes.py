"""The service's operations by method and path, and the processing of a request: authentication, then the operation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar
from urllib.parse import unquote

from msgspec import Struct

from billcore_sandbox.errors import Refusal, not_found
from billcore_sandbox.options import Options
from billcore_sandbox.service import endpoints, limits, orders, products, schemas, subscriptions
from billcore_sandbox.service.calls import Call, Reply, Request, parse_query, refused, reply
from billcore_sandbox.store import Account
from billcore_sandbox.world import World


@dataclass(frozen=True, slots=True)
class Operation:
    """A row of the table "Endpoints" in the service interface.

    path: below the base URL, with {id}. answer: the type of the answer with status 200. query, body: their types; None
    if the operation has no query or body. refuses: the error codes for requests that fit these types.
    """

    name: str
    method: str
    path: str
    run: Callable[[Call], Reply]
    answer: Any
    query: type[Struct] | None = None
    body: type[Struct] | None = None
    refuses: tuple[str, ...] = ()

    def errors(self, options: Options) -> dict[str, int]:
        """The codes of the operation's errors with their statuses, before --errors changes them."""
        own = {"charge_declined": 402, "donation_subscription": options.donation_status}
        return {
            "not_found": 404,
            **({"invalid_json": 400, "unsupported_media_type": 415} if self.body is not None else {}),
            **({"validation_error": 422} if self.body is not None or self.query is not None else {}),
            **{code: own.get(code, 422) for code in self.refuses},
            limits.CODE: 429,
        }


OPERATIONS = (
    Operation(
        "subscriptions.list",
        "GET",
        "/subscriptions",
        subscriptions.index,
        schemas.SubscriptionList,
        query=schemas.SubscriptionsQuery,
    ),
    Operation("subscriptions.get", "GET", "/subscription/{id}", subscriptions.get, schemas.OneSubscription),
    Operation(
        "subscriptions.cancel",
        "POST",
        "/subscription/{id}/cancel",
        subscriptions.cancel,
        schemas.OneSubscription,
        refuses=("not_cancellable", "already_cancelled"),
    ),
    Operation(
        "subscriptions.change_product",
        "POST",
        "/subscription/{id}/product",
        subscriptions.change_product,
        schemas.OneSubscription,
        body=schemas.ProductChange,
        refuses=("invalid_product",),
    ),
    Operation(
        "subscriptions.orders",
        "GET",
        "/subscription/{id}/orders",
        subscriptions.order_list,
        schemas.OrderList,
        query=schemas.OrdersQuery,
    ),
    Operation(
        "subscriptions.charge",
        "POST",
        "/subscription/{id}/order",
        subscriptions.charge,
        schemas.OneOrder,
        body=schemas.Charge,
        refuses=("charge_declined", "donation_subscription", "invalid_product", "total_too_large"),
    ),
    Operation("products.list", "GET", "/products", products.index, schemas.ProductList, query=schemas.ProductsQuery),
    Operation("products.get", "GET", "/product/{id}", products.get, schemas.OneProduct),
    Operation(
        "products.update", "POST", "/product/{id}", products.update, schemas.OneProduct, body=schemas.ProductWrite
    ),
    Operation("products.delete", "DELETE", "/product/{id}", products.delete, Any),
    Operation("orders.get", "GET", "/order/{id}", orders.get, schemas.OneOrder),
    Operation(
        "webhook_endpoints.create",
        "POST",
        "/webhooks/endpoints",
        endpoints.create,
        Any,
        body=schemas.WebhookEndpointCreate,
        refuses=("invalid_url", "url_taken"),
    ),
)


def split_path(raw_path: str) -> tuple[str, str]:
    """Split an encoded path into the account and the path below the base URL."""
    account, _, rest = raw_path.removeprefix("/").partition("/")
    return account, f"/{rest}"


class Route(Protocol):
    """An operation, or a control route."""

    @property
    def method(self) -> str: ...

    @property
    def path(self) -> str: ...


R = TypeVar("R", bound=Route)


def find(routes: Iterable[R], method: str, path: str) -> tuple[R, str]:
    """The route of a path, and the encoded id in the path ("" if the route has none). Raises Refusal 404 or 405.

    The path is matched in its encoded form, so that an id with an encoded slash stays one segment. HEAD counts as GET.
    """
    fitting = [(each, found) for each in routes if (found := _id_of(each.path, path)) is not None]
    if not fitting:
        raise not_found()
    for route, found in fitting:
        if route.method == ("GET" if method == "HEAD" else method):
            return route, found
    allowed = ", ".join(sorted({route.method for route, _ in fitting}))
    message = "This path does not take this method."
    raise Refusal(405, "method_not_allowed", message, [("Allow", allowed)])


def _id_of(route: str, path: str) -> str | None:
    """The encoded id in a path of this route; "" if the route has no id; None if the path does not match."""
    start, marker, rest = route.partition("{")
    if not marker:
        return "" if path == route else None
    if not path.startswith(start):
        return None
    end = rest.partition("}")[2]
    found = path[len(start) : len(path) - len(end)]
    return found if path == f"{start}{found}{end}" and re.fullmatch("[^/]+", found) else None


@dataclass(frozen=True, slots=True)
class Routed:
    """A request and its operation. account: the UUID in its path. id: the encoded id in its path.

    refusal: why there is no operation.
    """

    request: Request
    account: str
    path: str
    operation: Operation | None = None
    id: str = ""
    refusal: Refusal | None = None

    @property
    def name(self) -> str | None:
        """The name of the operation."""
        return None if self.operation is None else self.operation.name


def route(request: Request) -> Routed:
    account, path = split_path(request.path)
    try:
        operation, found = find(OPERATIONS, request.method, path)
    except Refusal as refusal:
        return Routed(request, account, path, refusal=refusal)
    return Routed(request, account, path, operation, found)


def perform(world: World, routed: Routed) -> Reply:
    """Perform a request as the service does, and return the answer. Raises only on errors of the sandbox itself."""
    request = routed.request
    keys = [value for name, value in request.headers if name == "x-api-key"]
    account = world.store.account_by_key(keys[0]) if len(keys) == 1 else None
    if account is None:
        return reply(None, 401)
    try:
        if account.uuid != routed.account:  # the key of another account
            raise not_found()
        if routed.operation is None:
            raise routed.refusal or not_found()
        call = Call(
            world=world,
            account=account,
            id=unquote(routed.id),
            address=f"http://{request.header('host')}{request.path}",
            query=parse_query(request.query),
            body=request.body,
            content_type=request.header("content-type"),
        )
        return routed.operation.run(call)
    except Refusal as error:
        return refused(as_chosen(account, routed, error))


def as_chosen(account: Account, routed: Routed, refusal: Refusal) -> Refusal:
    """The refusal with the status and the code that the account's options give it."""
    if routed.name is None:
        return refusal
    status, code = account.options.answer(routed.name, refusal.code, refusal.status)
    return Refusal(status, code, refusal.message, refusal.headers)
