"""Subscriptions and their orders: the list, and one subscription with its state machine and a button for each cause."""

from __future__ import annotations

import json
from typing import Any

from billcore_sandbox import resources
from billcore_sandbox.control import bodies, upcoming
from billcore_sandbox.control.lists import Conditions, clause
from billcore_sandbox.control.routes import ROUTES
from billcore_sandbox.history import state_change
from billcore_sandbox.lifecycle import ENDING, state_of
from billcore_sandbox.page.request import PAGE, PageRequest
from billcore_sandbox.page.views.machine import drawing, outcomes
from billcore_sandbox.page.views.upcoming import in_how_long
from billcore_sandbox.resources import SUBSCRIPTION_STATUSES
from billcore_sandbox.service.calls import Reply, number_of
from billcore_sandbox.world import World

_ORDERS = 20
_CHANGES = 50
_TAKEN = 'SELECT DISTINCT "from", cause, "to" FROM state_changes WHERE object = ? AND object_id = ?'
_ROUTED = {route.path for route in ROUTES if route.method == "POST"}
_IS_ENDING = "s.status = 'active' AND s.cancelled"
# What a cause does besides its transition, or how a cause without a control route happens.
_MORE = {
    "confirm": "Its billing method may settle at once: then it is also paid.",
    "first_payment": "This happens when its first order is paid: see its orders.",
    "change_product": "A program does this with a request: see below.",
}


def show(request: PageRequest) -> Reply:
    """The list; parameters: account, status, q (an id or a part of a reference id), before (an id), order (an id)."""
    store, chosen = request.world.store, request.chosen
    wanted: Conditions = {"s.account = ?": None if chosen is None else chosen.number}
    if search := request.query.get("q", "").strip()[:1000]:
        wanted["(CAST(s.id AS TEXT) = ? OR instr(lower(s.reference_id), lower(?)))"] = [search, search]
    counts = _counts(request.world, wanted)
    status = request.query.get("status", "")
    if status == ENDING:
        wanted[_IS_ENDING] = []
    elif status in SUBSCRIPTION_STATUSES:
        wanted["s.status = ?"] = status
    where, args = clause({**wanted, "s.id < ?": request.number("before")})
    found = store.all(
        "SELECT s.*, p.name AS product FROM subscriptions s LEFT JOIN products p ON p.id = s.product_id"
        f" WHERE {where} ORDER BY s.id DESC LIMIT {PAGE + 1}",
        *args,
    )
    of_account = "1" if chosen is None else f"account = {chosen.number}"
    return request.render(
        "subscriptions.html",
        rows=[{**dict(row), "machine_state": state_of("subscription", row)} for row in found[:PAGE]],
        older=found[PAGE - 1]["id"] if len(found) > PAGE else None,
        counts=counts,
        filtered=status,
        search=search,
        products=store.all(f"SELECT * FROM products WHERE {of_account} AND state = 'live' ORDER BY id"),
        order=_order(request, None),
    )


def _counts(world: World, wanted: Conditions) -> dict[str, int]:
    """The number of subscriptions of each status; `ending` ones are also counted as `active`, as the service does."""
    where, args = clause(wanted)
    sql = f"SELECT s.status, {_IS_ENDING} AS ending, count(*) AS n FROM subscriptions s WHERE {where} GROUP BY 1, 2"
    counts = dict.fromkeys((*SUBSCRIPTION_STATUSES, ENDING), 0)
    for row in world.store.all(sql, *args):
        counts[row["status"]] += row["n"]
        counts[ENDING] += row["n"] if row["ending"] else 0
    return counts


def one(request: PageRequest, number: str) -> Reply:
    """One subscription; parameters: order (the id of the order to draw). Raises Refusal 404."""
    world = request.world
    nothing = bodies.Nothing(account=request.query.get("account") or None)
    about = upcoming.subscription(world, nothing, number, _CHANGES)
    row = world.store.all("SELECT * FROM subscriptions WHERE id = ?", number_of(number))[0]
    account, state, due = world.store.by_number[row["account"]], about["state"], about["next"]
    orders = world.store.all(
        "SELECT * FROM orders WHERE subscription_id = ? ORDER BY created_at DESC, id DESC LIMIT ?", row["id"], _ORDERS
    )
    return request.render(
        "subscription.html",
        about=about,
        owner=account,
        product=world.store.one("SELECT * FROM products WHERE id = ?", row["product_id"]),
        drawn=drawing(world.machine, "subscription", state, world.store.all(_TAKEN, "subscription", row["id"])),
        changes_total=world.store.count("state_changes WHERE object = 'subscription' AND object_id = ?", row["id"]),
        choices=choices(world, "subscription", state),
        due=due and {**due, "away": in_how_long(due["due"], account.clock.now())},
        calls=_calls(request, account.uuid, row["id"]),
        orders=[_with_choices(world, order) for order in orders],
        orders_total=world.store.count("orders WHERE subscription_id = ?", row["id"]),
        order=_order(request, row["id"]),
    )


def choices(world: World, name: str, state: str) -> list[dict[str, Any]]:
    """The causes that a state takes, with their outcomes; routed: whether a control route performs the cause."""
    return [
        {
            "cause": cause,
            "routed": f"{name}s/{{id}}/{cause}" in _ROUTED,
            "outcomes": outcomes(world.machine, name, state, cause),
            "more": _MORE.get(cause),
        }
        for cause in world.machine.causes(name, state)
    ]


def _with_choices(world: World, row: Any) -> dict[str, Any]:
    return {**resources.order(row), "choices": choices(world, "order", row["state"])}


def _order(request: PageRequest, subscription: int | None) -> dict[str, Any] | None:
    """The order that the URL names, with its drawing; None without one, or if it is not of the page's subscription."""
    world, chosen = request.world, request.chosen
    row = world.store.one("SELECT * FROM orders WHERE id = ?", number_of(request.query.get("order", "")))
    if row is None or (subscription or row["subscription_id"]) != row["subscription_id"]:
        return None
    if chosen is not None and row["account"] != chosen.number:
        return None
    sql = "SELECT * FROM state_changes WHERE object = 'order' AND object_id = ? ORDER BY id"
    changes = [state_change(world.store, each) for each in world.store.all(sql, row["id"])]
    return {
        **_with_choices(world, row),
        "subscription_id": row["subscription_id"],
        "resource": resources.order(row),
        "changes": changes,
        "drawn": drawing(world.machine, "order", row["state"], changes),
    }


def _calls(request: PageRequest, uuid: str, subscription: int) -> dict[str, tuple[str, str]]:
    """Operations of the service that no control route replaces: what each does, and how curl calls it."""

    def other(kind: str) -> int:
        sql = "SELECT p.id FROM products p JOIN subscriptions s ON s.account = p.account AND s.product_id != p.id"
        row = request.world.store.one(f"{sql} WHERE s.id = ? AND p.state = 'live' AND p.type = ?", subscription, kind)
        return 1 if row is None else int(row["id"])

    base = f"http://{request.header('host')}/{uuid}/subscription/{subscription}"
    given: dict[str, tuple[str, str, dict[str, Any]]] = {
        "change_product": ("Change its product", "product", {"product_id": other("subscription")}),
        "charge": ("Bill a one-off amount", "order", {"product_id": other("one_time"), "amount": 1500}),
    }
    key = '-H "X-API-KEY: $BILLCORE_API_KEY" -H "Content-Type: application/json"'
    return {
        name: (about, f"curl -X POST {base}/{path} {key} -d '{json.dumps(body)}'")
        for name, (about, path, body) in given.items()
    }
