"""Control routes for the sandbox's state, its ledger and its requests, and for the reset."""

from __future__ import annotations

from typing import Any

from billcore_sandbox import clock
from billcore_sandbox.control import answers, bodies
from billcore_sandbox.control.accounts import show_clock
from billcore_sandbox.control.common import named_account, of_account, selected
from billcore_sandbox.faults import glob
from billcore_sandbox.history import effect, request
from billcore_sandbox.service.patterns import matching, named_operation
from billcore_sandbox.service.routes import split_path
from billcore_sandbox.world import World


def state(world: World, query: bodies.Nothing) -> answers.State:
    """Show seed, clocks, options, counts, faults that can still happen, and unknown parameters."""

    def counts(column: str, table: str, where: str = "1") -> dict[str, dict[str, int]]:
        found: dict[str, dict[str, int]] = {account.uuid: {} for account in world.store.accounts}
        for row in world.store.all(
            f"SELECT account, {column} AS name, count(*) AS n FROM {table} WHERE {where} GROUP BY 1, 2 ORDER BY 1, 2"
        ):
            found[world.store.by_number[row["account"]].uuid][row["name"]] = row["n"]
        return found

    by_status = counts("status", "subscriptions")
    by_state = counts("state", "orders")
    by_type = counts("type", "products", "state = 'live'")
    named = named_account(world, query.account)
    uuid = None if named is None else named.uuid
    where, args = of_account(world, uuid)
    sizes = {table: (where, args) for table in ("endpoints", "deliveries", "ledger", "jobs")}
    sizes["requests"] = (where, args if named is None else [named.uuid])
    counted: Any = {table: world.store.count(f"{table} WHERE {where}", *args) for table, (where, args) in sizes.items()}
    return {
        "seed": world.store.seed,
        "now": clock.iso_precise(clock.real()),
        "options": world.options.public(),
        "accounts": [
            {
                **show_clock(account),
                "number": account.number,
                "options": account.options.different(world.options),
                "subscriptions": by_status[account.uuid],
                "orders": by_state[account.uuid],
                "products": by_type[account.uuid],
            }
            for account in (world.store.accounts if named is None else [named])
        ],
        "counts": counted,
        "faults": world.faults.waiting(uuid),
        "unknown_parameters": world.unknown.listed(uuid),
    }


def ledger(world: World, page: bodies.LedgerPage) -> answers.Ledger:
    """List effects, such as a charge or a cancellation, oldest first."""
    account = named_account(world, page.account)
    conditions = {"id > ?": page.since, "account = ?": account and account.number, "kind = ?": page.kind}
    return {"effects": [effect(world.store, row) for row in selected(world, "ledger", conditions, page.limit)]}


def requests(world: World, page: bodies.RequestPage) -> answers.Requests:
    """List requests to the service as received, with the status of the answer."""
    match = bodies.RequestMatch(operation=page.operation)
    return {"requests": find_requests(world, page.account, page.since, match, page.limit)}


def find_requests(
    world: World, uuid: str | None, since: int, match: bodies.RequestMatch, limit: int | None = None
) -> list[Any]:
    """The requests that `match` selects. Raises Refusal 422 if no request can match."""
    account, method = named_account(world, uuid), match.method and match.method.upper()
    operation = match.operation and named_operation(match.operation)
    if match.path is not None:
        matching(operation, method, match.path)
    conditions = {
        "id > ?": since,
        "account = ?": account and account.uuid,
        "operation = ?": operation,
        "method = ?": method,
        "status = ?": match.status,
    }
    return [
        request(row)
        for row in selected(world, "requests", conditions, limit)
        if match.path is None or glob(match.path).fullmatch(split_path(row["target"].partition("?")[0])[1])
    ]


def states(world: World, query: bodies.Nothing) -> answers.States:
    """List the rows of states.toml."""
    names = ("machine", "cause", "guard", "to", "event")
    shown: Any = [
        {"from": list(row.sources), **{name: getattr(row, name) for name in names}} for row in world.machine.transitions
    ]
    return {"states": shown}


def reset(world: World, body: bodies.Nothing) -> answers.Seed:
    """Restore the demo data, and delete all records."""
    world.reset()
    return {"seed": world.store.seed}
