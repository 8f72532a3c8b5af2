"""Control routes for endpoints: the actions of the service's admin UI, and the settings of their deliveries."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, cast

import msgspec

from billcore_sandbox.control import answers, bodies
from billcore_sandbox.control.common import account_or_first, find, of_account
from billcore_sandbox.errors import invalid
from billcore_sandbox.service.endpoints import register
from billcore_sandbox.world import World


def endpoints(world: World, query: bodies.Nothing) -> answers.Endpoints:
    """List webhook endpoints with their secrets and settings."""
    where, args = of_account(world, query.account)
    rows = world.store.all(f"SELECT * FROM endpoints WHERE {where} AND state != 'deleted' ORDER BY id", *args)
    return {"endpoints": [_shown(world, row) for row in rows]}


def create_endpoint(world: World, body: bodies.NewEndpoint) -> answers.Endpoint:
    """Register an endpoint; the answer has its secret."""
    account = account_or_first(world, body.account)
    number = register(world, account, body.url, body.secret, _columns(body))[0]
    return _shown(world, world.store.all("SELECT * FROM endpoints WHERE id = ?", number)[0])


def change_endpoint(world: World, body: bodies.Settings, number: str) -> answers.Endpoint:
    """Change the settings of an endpoint; they apply from the next attempt on."""
    row, account = find(world, "endpoint", number, body)
    if row["state"] == "deleted":
        raise invalid("The endpoint is deleted, so it has no settings.", "not_allowed")
    columns = _columns(body)
    if columns:
        with world.effect(account) as work:
            work.update("endpoints", row["id"], columns)
        world.dispatcher.look(row["id"])
    return _shown(world, world.store.all("SELECT * FROM endpoints WHERE id = ?", row["id"])[0])


def endpoint_cause(world: World, cause: str, body: bodies.Nothing, number: str) -> answers.Changed:
    """Enable, disable or delete an endpoint."""
    row, account = find(world, "endpoint", number, body)
    with world.effect(account) as work:
        row = work.machine.fire(work, "endpoint", row, cause)
        work.record(f"endpoint_{cause}", endpoint_id=row["id"])
    world.dispatcher.look(row["id"])
    return {"id": row["id"], "state": row["state"]}


def rotate_secret(world: World, body: bodies.Rotation, number: str) -> answers.Secret:
    """Set a new secret; during `overlap` seconds, the old secret still signs deliveries with an even id."""
    row, account = find(world, "endpoint", number, body)
    with world.effect(account) as work:
        row = work.machine.fire(work, "endpoint", row, "rotate_secret", secret=body.secret, overlap=body.overlap)
        work.record("endpoint_rotate_secret", endpoint_id=row["id"])
    return {"id": row["id"], "secret": row["secret"]}


def _shown(world: World, row: sqlite3.Row) -> answers.Endpoint:
    plain = ("id", "url", "secret", "state", "old_secret", "old_secret_until", "concurrency")
    shown: dict[str, Any] = {
        **{name: row[name] for name in plain},
        "account": world.store.uuid_of(row["account"]),
        "paused": bool(row["paused"]),
        "keep_alive": bool(row["keep_alive"]),
        "retry_schedule": json.loads(row["retry_schedule"] or "null"),
    }
    return cast(answers.Endpoint, shown)


def _columns(body: bodies.Settings | bodies.NewEndpoint) -> dict[str, Any]:
    """The columns to set, and their values, for the settings that are given in `body`."""
    found: dict[str, Any] = {
        name: int(value)
        for name in ("concurrency", "paused", "keep_alive")
        if (value := getattr(body, name)) is not msgspec.UNSET
    }
    if body.retry_schedule is not msgspec.UNSET:
        found["retry_schedule"] = None if body.retry_schedule is None else json.dumps(body.retry_schedule)
    return found
