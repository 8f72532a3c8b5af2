"""The control routes under /_sandbox/: what a test reads, and what customers, time and bad luck do.

They hand out keys and secrets, so they are for programs on this machine: the Host header must name loopback (a web page
whose name was pointed at 127.0.0.1 sends its own name), and a POST must be JSON (a page's form cannot send that).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Awaitable, Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from billcore.sandbox import checkout, clock
from billcore.sandbox.calls import integer, json_object, number_of, reply
from billcore.sandbox.errors import Refusal, not_found
from billcore.sandbox.options import is_loopback
from billcore.sandbox.service import refusal_response, starlette_app, to_response
from billcore.sandbox.world import World

PREFIX = "/_sandbox"

Fields = dict[str, Any]
Action = Callable[[World, str, Fields], Any]


def build(world: World) -> ASGIApp:
    """The ASGI application of the control routes."""
    routes = [
        Route(f"{PREFIX}/", _getter(world, _index), methods=["GET"]),
        *(Route(f"{PREFIX}/{name}", _getter(world, action), methods=["GET"]) for name, action in _GETS),
        *(Route(f"{PREFIX}/{name}", _poster(world, action), methods=["POST"]) for name, action in _POSTS),
    ]
    inner = starlette_app(routes)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        if len(hosts) != 1 or not is_loopback(_without_port(hosts[0])):
            error = Refusal(403, "host", "Control routes answer to loopback names only: use 127.0.0.1 or localhost.")
            await refusal_response(error)(scope, receive, send)
            return
        await inner(scope, receive, send)

    return app


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]


def _getter(world: World, action: Callable[[World], Any]) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        return to_response(reply(action(world)))

    return endpoint


def _poster(world: World, action: Action) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        fields = json_object(await request.body(), request.headers.get("content-type", ""))
        return to_response(reply(action(world, request.path_params.get("id", ""), fields)))

    return endpoint


def _index(world: World) -> Any:
    """List the control routes."""
    rows = [("GET", *row) for row in _GETS] + [("POST", *row) for row in _POSTS]
    return {
        "routes": [
            {"method": method, "path": f"{PREFIX}/{name}", "does": (action.__doc__ or "").partition("\n")[0]}
            for method, name, action in rows
        ]
    }


def _state(world: World) -> Any:
    """Seed, clock, options, counts, waiting faults."""

    def counts(column: str, table: str, where: str = "1") -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = {account.uuid: {} for account in world.store.accounts}
        for row in world.store.all(
            f"SELECT account, {column} AS name, count(*) AS n FROM {table} WHERE {where} GROUP BY 1, 2 ORDER BY 1, 2"
        ):
            found[world.store.account_by_number(row["account"]).uuid][row["name"]] = row["n"]
        return found

    by_status = counts("status", "subscriptions")
    by_state = counts("state", "orders")
    by_type = counts("type", "products", "deleted_at IS NULL")
    return {
        "seed": world.store.seed,
        "now": clock.iso_precise(clock.now()),
        "demo_date": clock.iso(clock.DEMO_DATE),
        "options": world.options.public(),
        "accounts": [
            {
                "account": account.uuid,
                "number": account.number,
                "subscriptions": by_status[account.uuid],
                "orders": by_state[account.uuid],
                "products": by_type[account.uuid],
            }
            for account in world.store.accounts
        ],
        "counts": {
            table: world.store.all(f"SELECT count(*) AS n FROM {table}")[0]["n"]
            for table in ("endpoints", "deliveries", "ledger", "requests")
        },
        "faults": world.faults.waiting(),
    }


def _uuid(world: World, row: sqlite3.Row) -> str:
    return world.store.account_by_number(row["account"]).uuid


def _ledger(world: World) -> Any:
    """Every effect, such as a charge or a cancellation, in its order."""
    return {
        "effects": [
            {
                "id": row["id"],
                "at": row["at"],
                "account": _uuid(world, row),
                "kind": row["kind"],
                **json.loads(row["details"]),
            }
            for row in world.store.all("SELECT * FROM ledger ORDER BY id")
        ]
    }


def _requests(world: World) -> Any:
    """Every request to the service as received, with the status it got."""
    rows = world.store.all("SELECT * FROM requests ORDER BY id")
    return {"requests": [{**dict(row), "headers": json.loads(row["headers"])} for row in rows]}


def _endpoints(world: World) -> Any:
    """Webhook endpoints with their secrets."""
    rows = world.store.all("SELECT * FROM endpoints ORDER BY id")
    return {"endpoints": [{**dict(row), "account": _uuid(world, row)} for row in rows]}


def _deliveries(world: World) -> Any:
    """Events with their attempts, bodies and signatures."""
    return {
        "deliveries": [
            {
                "id": row["id"],
                "account": _uuid(world, row),
                "endpoint_id": row["endpoint_id"],
                "event": row["event"],
                "url": row["url"],
                "state": row["state"],
                "attempts": json.loads(row["attempts"]),
                "body": row["body"].decode("ascii"),
                "signature": row["signature"],
            }
            for row in world.store.all("SELECT * FROM deliveries ORDER BY seq")
        ]
    }


def _replay(world: World, delivery_id: str, fields: Fields) -> Any:
    """Send a delivery again: original payload, new id."""
    row = world.store.one("SELECT * FROM deliveries WHERE id = ?", number_of(delivery_id))
    if row is None:
        raise not_found()
    endpoint = world.store.one("SELECT * FROM endpoints WHERE id = ?", row["endpoint_id"])
    if endpoint is None:
        raise not_found()
    with world.effect(world.store.account_by_number(row["account"])) as work:
        new_id = work.replay(row, endpoint)
        work.record("replay", delivery_id=row["id"], new_delivery_id=new_id)
    return {"id": new_id}


def _test_hook(world: World, _: str, fields: Fields) -> Any:
    """Send test.hook to one endpoint, or to every endpoint (of the account, if one is named)."""
    named = checkout.account_of(world, fields)
    rows = world.store.all("SELECT * FROM endpoints ORDER BY id")
    if named is not None:
        rows = [row for row in rows if row["account"] == named.number]
    if "endpoint_id" in fields:
        wanted = integer(fields, "endpoint_id", None, 1)
        rows = [row for row in rows if row["id"] == wanted]
    if not rows:
        raise not_found()
    for row in rows:
        with world.effect(world.store.account_by_number(row["account"])) as work:
            work.test_hook(row, fields.get("data"))
    return {"endpoints": [row["id"] for row in rows]}


def _fault(world: World, _: str, fields: Fields) -> Any:
    """Meet the next matching requests with a fault."""
    return {"id": world.faults.add(fields).id}


def _reset(world: World, _: str, fields: Fields) -> Any:
    """Go back to the seeded state."""
    world.reset()
    return {"seed": world.store.seed}


def _checkout(world: World, _: str, fields: Fields) -> Any:
    """A visitor starts to buy: an order in state created, and a pending subscription when the product recurs."""
    return checkout.checkout(world, fields)


_GETS: tuple[tuple[str, Callable[[World], Any]], ...] = (
    ("state", _state),
    ("ledger", _ledger),
    ("requests", _requests),
    ("endpoints", _endpoints),
    ("deliveries", _deliveries),
)
_POSTS: tuple[tuple[str, Action], ...] = (
    ("checkout", _checkout),
    ("orders/{id}/confirm", checkout.confirm),
    ("orders/{id}/pay", checkout.pay),
    ("subscriptions/{id}/renew", checkout.renew),
    ("deliveries/{id}/replay", _replay),
    ("test-hook", _test_hook),
    ("faults", _fault),
    ("reset", _reset),
)
