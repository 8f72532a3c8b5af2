"""Control routes for the sandbox's state, the records of its history, and the reset."""

from __future__ import annotations

from typing import Any, cast

from billcore_sandbox import clock
from billcore_sandbox.control import answers, bodies, records
from billcore_sandbox.control.accounts import show_clock
from billcore_sandbox.control.common import account_number, named_account, of_account
from billcore_sandbox.control.lists import Conditions, of_list
from billcore_sandbox.errors import Refusal
from billcore_sandbox.history import effect, request
from billcore_sandbox.retention import LISTS
from billcore_sandbox.service.calls import number_of
from billcore_sandbox.service.patterns import matching, named_operation
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
    tables = ("endpoints", "deliveries", "ledger", "jobs", "requests")
    counted: Any = {table: world.store.count(f"{table} WHERE {where}", *args) for table in tables}
    retention, number = world.history.retention, account_number(world, query.account)
    forgotten: Any = {name: retention.forgotten(name, number)[0] for name in LISTS}
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
        "history": {
            "bytes": retention.size,
            "keep_bytes": retention.keep_bytes,
            "cursor": world.store.cursor,
            "forgotten": forgotten,
        },
        "faults": world.faults.waiting(uuid),
        "unknown_parameters": world.unknown.listed(uuid),
    }


def ledger(world: World, page: bodies.LedgerPage) -> records.Ledger:
    """List effects, such as a charge or a cancellation."""
    rows, about = of_list(world, "ledger", {"kind = ?": page.kind, "request_id = ?": page.request_id}, page)
    return {"effects": [effect(world.store, row) for row in rows], **about}


def requests(world: World, page: bodies.RequestPage) -> records.Requests:
    """List requests to the service as received, with their answers."""
    match = bodies.RequestMatch(operation=page.operation, method=page.method, status=page.status)
    rows, about = of_list(world, "requests", matched_requests(match), page)
    return {"requests": [request(world.store, row) for row in rows], **about}


def matched_requests(match: bodies.RequestMatch) -> Conditions:
    """The condition for requests that `match` selects, without its path. Raises Refusal 422 if none can match."""
    method = match.method and match.method.upper()
    operation = match.operation and named_operation(match.operation)
    if match.path is not None:
        matching(operation, method, match.path)
    return {"operation = ?": operation, "method = ?": method, "status = ?": match.status}


async def repeat(world: World, body: bodies.Nothing, number: str) -> records.RequestRecord:
    """Perform a recorded request again, with the same key; the answer is the new record."""
    where, args = of_account(world, body.account)
    sql = f"SELECT * FROM requests WHERE id = ? AND {where}"
    row = world.store.one(sql, number_of(number), *args)
    if row is None:
        raise Refusal(404, "not_found", f"No request has the id {number}: GET /_sandbox/requests lists them.")
    made = world.store.one("SELECT * FROM requests WHERE id = ?", await world.repeat(row))
    if made is None:
        raise Refusal(409, "forgotten", "The new record was deleted at once: raise --keep-bytes.")
    return cast(records.RequestRecord, request(world.store, made))


def clear(world: World, body: bodies.Nothing) -> answers.Cleared:
    """Delete the records of an account or of all accounts; objects and pending deliveries stay."""
    deleted: Any = world.history.retention.clear(account_number(world, body.account))
    world.history.changed()
    return cast(answers.Cleared, deleted)


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
