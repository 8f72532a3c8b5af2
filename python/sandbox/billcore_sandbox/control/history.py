"""What happened, and what the sandbox holds: state, ledger, requests; and the reset of all of it."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from billcore_sandbox import clock
from billcore_sandbox.control import bodies
from billcore_sandbox.control.accounts import show_clock
from billcore_sandbox.control.common import Query, named_account, of_account, uuid_of
from billcore_sandbox.world import World


def state(world: World, query: Query) -> Any:
    """Seed, clocks, options, counts, waiting faults, unknown parameters."""

    def counts(column: str, table: str, where: str = "1") -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = {account.uuid: {} for account in world.store.accounts}
        for row in world.store.all(
            f"SELECT account, {column} AS name, count(*) AS n FROM {table} WHERE {where} GROUP BY 1, 2 ORDER BY 1, 2"
        ):
            found[world.store.account_by_number(row["account"]).uuid][row["name"]] = row["n"]
        return found

    by_status = counts("status", "subscriptions")
    by_state = counts("state", "orders")
    by_type = counts("type", "products", "state = 'live'")
    named = named_account(world, query.get("account"))
    where, args = of_account(world, query)
    counted = {
        table: world.store.all(f"SELECT count(*) AS n FROM {table} WHERE {where}", *args)[0]["n"]
        for table in ("endpoints", "deliveries", "ledger", "jobs")
    }
    return {
        "seed": world.store.seed,
        "now": clock.iso_precise(clock.real()),
        "options": world.options.public(),
        "accounts": [
            {
                **show_clock(account),
                "number": account.number,
                "subscriptions": by_status[account.uuid],
                "orders": by_state[account.uuid],
                "products": by_type[account.uuid],
            }
            for account in (world.store.accounts if named is None else [named])
        ],
        "counts": {**counted, "requests": _requests(world, query, "count(*) AS n")[0]["n"]},
        "faults": world.faults.waiting(None if named is None else named.uuid),
        "unknown_parameters": world.unknown.listed(None if named is None else named.uuid),
    }


def ledger(world: World, query: Query) -> Any:
    """Every effect, such as a charge or a cancellation, oldest first."""
    where, args = of_account(world, query)
    return {
        "effects": [
            {
                "id": row["id"],
                "at": row["at"],
                "account": uuid_of(world, row["account"]),
                "kind": row["kind"],
                **json.loads(row["details"]),
            }
            for row in world.store.all(f"SELECT * FROM ledger WHERE {where} ORDER BY id", *args)
        ]
    }


def requests(world: World, query: Query) -> Any:
    """Every request to the service as received, with the status of the answer."""
    decoded = ("headers", "unknown", "late")
    return {
        "requests": [
            {name: json.loads(row[name] or "null") if name in decoded else row[name] for name in row.keys()}  # noqa: SIM118
            for row in _requests(world, query, "*")
        ]
    }


def _requests(world: World, query: Query, columns: str) -> list[sqlite3.Row]:
    account = named_account(world, query.get("account"))
    where, args = ("1", []) if account is None else ("account = ?", [account.uuid])
    return world.store.all(f"SELECT {columns} FROM requests WHERE {where} ORDER BY id", *args)


def states(world: World, query: Query) -> Any:
    """The rows of states.toml."""
    return {
        "states": [
            {
                "machine": row.machine,
                "from": list(row.sources),
                "cause": row.cause,
                "guard": row.guard,
                "to": row.to,
                "event": row.event,
            }
            for row in world.machine.transitions
        ]
    }


def reset(world: World, body: bodies.Nothing) -> Any:
    """Go back to the seeded state."""
    world.reset()
    return {"seed": world.store.seed}
