"""Endpoints and deliveries: what the admin UI of the service does."""

from __future__ import annotations

import json
from typing import Any

from billcore_sandbox.control import bodies
from billcore_sandbox.control.common import Query, account_or_first, find, named_account, of_account, uuid_of
from billcore_sandbox.errors import not_found
from billcore_sandbox.service.calls import number_of
from billcore_sandbox.service.endpoints import register
from billcore_sandbox.world import World


def endpoints(world: World, query: Query) -> Any:
    """Webhook endpoints with their secrets."""
    where, args = of_account(world, query)
    rows = world.store.all(f"SELECT * FROM endpoints WHERE {where} AND state != 'deleted' ORDER BY id", *args)
    names = ("id", "url", "secret", "state", "old_secret", "old_secret_until")
    return {
        "endpoints": [
            {**{name: row[name] for name in names}, "account": uuid_of(world, row["account"])} for row in rows
        ]
    }


def create_endpoint(world: World, body: bodies.NewEndpoint) -> Any:
    """Register a receiver; the answer has its secret."""
    account = account_or_first(world, body)
    number, secret = register(world, account, body.url, body.secret)
    return {"id": number, "account": account.uuid, "url": body.url, "secret": secret, "state": "enabled"}


def endpoint_cause(world: World, cause: str, body: bodies.Nothing, number: str) -> Any:
    """enable, disable or delete an endpoint."""
    row, account = find(world, "endpoint", number, body)
    with world.effect(account) as work:
        row = work.machine.fire(work, "endpoint", row, cause)
        work.record(f"endpoint_{cause}", endpoint_id=row["id"])
    return {"id": row["id"], "state": row["state"]}


def rotate_secret(world: World, body: bodies.Rotation, number: str) -> Any:
    """A new secret; the old one stays in use for `overlap` seconds."""
    row, account = find(world, "endpoint", number, body)
    with world.effect(account) as work:
        row = work.machine.fire(work, "endpoint", row, "rotate_secret", secret=body.secret, overlap=body.overlap)
        work.record("endpoint_rotate_secret", endpoint_id=row["id"])
    return {"id": row["id"], "secret": row["secret"]}


def deliveries(world: World, query: Query) -> Any:
    """Events with their attempts, bodies and signatures."""
    where, args = of_account(world, query)
    return {
        "deliveries": [
            {
                "id": row["id"],
                "account": uuid_of(world, row["account"]),
                "endpoint_id": row["endpoint_id"],
                "event": row["event"],
                "url": row["url"],
                "state": row["state"],
                "attempts": json.loads(row["attempts"]),
                "body": row["body"].decode("ascii"),
                "signature": row["signature"],
            }
            for row in world.store.all(f"SELECT * FROM deliveries WHERE {where} ORDER BY seq", *args)
        ]
    }


def replay(world: World, body: bodies.Nothing, number: str) -> Any:
    """Send a delivery again: original payload, new id."""
    row = world.store.one("SELECT * FROM deliveries WHERE id = ?", number_of(number))
    named = named_account(world, body.account)
    if row is None or (named is not None and row["account"] != named.number):
        raise not_found()
    endpoint = world.store.one("SELECT * FROM endpoints WHERE id = ? AND state = 'enabled'", row["endpoint_id"])
    if endpoint is None:
        raise not_found()
    with world.effect(world.store.account_by_number(row["account"])) as work:
        new_id = work.replay(row, endpoint)
        work.record("replay", delivery_id=row["id"], new_delivery_id=new_id)
    return {"id": new_id}


def test_hook(world: World, body: bodies.TestHook) -> Any:
    """Send test.hook to one endpoint, or to every endpoint (of the account, if one is named)."""
    named = named_account(world, body.account)
    rows = world.store.all("SELECT * FROM endpoints WHERE state = 'enabled' ORDER BY id")
    if named is not None:
        rows = [row for row in rows if row["account"] == named.number]
    if body.endpoint_id is not None:
        rows = [row for row in rows if row["id"] == body.endpoint_id]
    if not rows:
        raise not_found()
    for row in rows:
        with world.effect(world.store.account_by_number(row["account"])) as work:
            work.test_hook(row, body.data)
    return {"endpoints": [row["id"] for row in rows]}
