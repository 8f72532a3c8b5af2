"""The chain of an entry: the request, its effects, the changes of states and events, and their deliveries."""

from __future__ import annotations

import sqlite3
from typing import Any, NamedTuple

from billcore_sandbox.world import World

_MOST = 50  # entries of a kind
_LAST = 2**63
# For each kind, its table, the columns that a link shows, and its column for each cause.
_TABLES = {
    "effect": ("ledger", "id, kind", {"request_id": "request_id", "effect_id": "id"}),
    "state": (
        "state_changes",
        'id, object, object_id, "from", "to", event, effect_id',
        {"request_id": "request_id", "effect_id": "effect_id", "state_id": "id"},
    ),
    "delivery": (
        "deliveries",
        "seq AS id, event, url, state, effect_id, state_id",
        {"request_id": "request_id", "effect_id": "effect_id", "state_id": "state_id"},
    ),
}


class Link(NamedTuple):
    """An entry of the chain. outcome: its text and its class, ok, bad or none."""

    kind: str
    id: int
    text: str
    outcome: tuple[str, str] | None = None


class Chain(NamedTuple):
    """links: each entry after the one that caused it. client_saw: see _client_saw(). cut: links are left out."""

    links: list[Link]
    client_saw: str | None
    effects: list[str]
    cut: bool


def of(world: World, kind: str, row: sqlite3.Row) -> Chain:
    """The chain of an entry, which is a row of its table."""
    root = _root(kind, row)
    request = None
    if root is not None and root[0] == "request_id":
        sql = "SELECT id, method, target, operation, status, duration_ms FROM requests WHERE id = ?"
        request = world.store.one(sql, root[1])
    found: dict[str, list[sqlite3.Row]] = {name: _caused(world, name, root) for name in _TABLES}
    if not any(found.values()) and kind in _TABLES:
        table, columns, _ = _TABLES[kind]
        key = "seq" if kind == "delivery" else "id"
        found[kind] = world.store.all(f"SELECT {columns} FROM {table} WHERE {key} = ?", row[key])
    placed: list[tuple[Any, Link]] = []
    for each in found["effect"][:_MOST]:
        placed.append(((each["id"], 0, 0, 0), Link("effect", each["id"], each["kind"])))
    for each in found["state"][:_MOST]:
        placed.append(((each["effect_id"] or _LAST, each["id"], 0, 0), Link("state", each["id"], _state(each))))
    for each in found["delivery"][:_MOST]:
        at = (each["effect_id"] or _LAST, each["state_id"] or _LAST, 1, each["id"])
        outcome = (each["state"], {"delivered": "ok", "pending": "none", "on_hold": "none"}.get(each["state"], "bad"))
        placed.append((at, Link("delivery", each["id"], f"{each['event']} → {each['url'][:200]}", outcome)))
    links = [link for _, link in sorted(placed, key=lambda each: each[0])]
    effects = [each["kind"] for each in found["effect"]]
    if request is not None:
        links.insert(0, _request(request))
    client_saw = None if request is None else _client_saw(request, effects)
    return Chain(links, client_saw, effects, any(len(rows) > _MOST for rows in found.values()))


def _root(kind: str, row: sqlite3.Row) -> tuple[str, int] | None:
    """What caused all of the chain: the column that names it, and its id."""
    columns: dict[str, int | None] = dict(row)
    names = ("request_id", "effect_id", "state_id")
    causes = {name: columns[name] for name in names if name in columns}
    own: dict[str, str] = {"request": "request_id", "effect": "effect_id", "state": "state_id"}
    if kind in own:
        causes.setdefault(own[kind], row["id"])
    return next(((name, number) for name, number in causes.items() if number is not None), None)


def _caused(world: World, kind: str, root: tuple[str, int] | None) -> list[sqlite3.Row]:
    table, columns, causes = _TABLES[kind]
    if root is None or root[0] not in causes:
        return []
    key = "seq" if kind == "delivery" else "id"
    sql = f"SELECT {columns} FROM {table} WHERE {causes[root[0]]} = ? ORDER BY {key} LIMIT {_MOST + 1}"
    return world.store.all(sql, root[1])


def _request(row: sqlite3.Row) -> Link:
    if row["status"] is not None:
        outcome = (str(row["status"]), "ok" if row["status"] < 400 else "bad")
    else:
        outcome = ("open", "none") if row["duration_ms"] is None else ("no answer", "bad")
    return Link("request", row["id"], f"{row['method'][:20]} {row['operation'] or row['target'][:200]}", outcome)


def _state(row: sqlite3.Row) -> str:
    event = f", {row['event']}" if row["event"] else ""
    return f"{row['object']} {row['object_id']}: {row['from']} → {row['to']}{event}"


def _client_saw(row: sqlite3.Row, effects: list[str]) -> str | None:
    """What the client saw and what the ledger has, for a request whose client got an error or no answer; else None."""
    if row["duration_ms"] is None or (row["status"] is not None and row["status"] < 400):
        return None
    saw = "no complete answer" if row["status"] is None else str(row["status"])
    if effects:
        return f"The client saw {saw}; the ledger has the {' and the '.join(effects[:3])}."
    if row["method"] not in ("GET", "HEAD") and row["operation"] is not None:
        return f"The client saw {saw}; the ledger has nothing of this request."
    return None
