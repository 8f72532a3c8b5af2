"""The lists of records: their filters, text search, pages and totals."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from billcore_sandbox.control import bodies
from billcore_sandbox.control.common import account_number
from billcore_sandbox.control.records import Listed
from billcore_sandbox.retention import LISTS
from billcore_sandbox.world import World

# SQL condition -> its argument, or a list of arguments; a condition with the value None is ignored.
Conditions = dict[str, Any]

_TEXTS = {
    "requests": ("target", "headers", "body", "answer_headers", "answer_body"),
    "ledger": ("kind", "details"),
    "deliveries": ("event", "url", "body", "reason", "attempts"),
    "state_changes": ("object_id", '"from"', '"to"', "cause", "event"),
    "changes": ("details",),
}


def of_list(world: World, name: str, conditions: Conditions, page: bodies.Page) -> tuple[list[sqlite3.Row], Listed]:
    """The rows of a page of a list, and what the answer says about the whole list."""
    key, account = LISTS[name].key, account_number(world, page.account)
    whole = {"account = ?": account, **conditions, **found(name, page.search)}
    after = max(page.since, page.after)
    where, args = clause({**whole, f"{key} > ?": after or None, f"{key} < ?": page.before})
    order = f"{key} DESC" if page.order == "desc" else key
    limit = -1 if page.limit is None else page.limit
    rows = world.store.all(f"SELECT * FROM {name} WHERE {where} ORDER BY {order} LIMIT ?", *args, limit)
    total = len(rows)
    if after or page.before is not None or page.limit is not None:
        where, args = clause(whole)
        total = world.store.count(f"{name} WHERE {where}", *args)
    forgotten, _ = world.history.retention.forgotten(name, account)
    return rows, {"total": total, "forgotten": forgotten, "cursor": world.store.cursor}


def clause(conditions: Conditions) -> tuple[str, list[Any]]:
    """The conditions as an SQL expression with its arguments."""
    chosen = {sql: value for sql, value in conditions.items() if value is not None}
    args = [each for value in chosen.values() for each in (value if isinstance(value, list) else [value])]
    return " AND ".join(["1", *chosen]), args


def found(name: str, text: str | None, table: str | None = None) -> Conditions:
    """The condition for records that contain the text; case does not matter in ASCII.

    table: what the statement calls the list's table, if that is not its name.
    """
    if text is None:
        return {}
    # Bodies are JSON, which may have escapes where the text has a slash or a letter such as é.
    wanted = {text, json.dumps(text)[1:-1], json.dumps(text)[1:-1].replace("/", "\\/")}
    if "\0" in text:  # where LIKE would end the text
        wanted.discard(text)
    escaped = [each.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") for each in wanted]
    one = " OR ".join(
        f"CAST({table or name}.{column} AS TEXT) LIKE ? ESCAPE '\\'" for column in _TEXTS[name] for _ in escaped
    )
    return {f"({one})": [f"%{each}%" for _ in _TEXTS[name] for each in escaped]}
