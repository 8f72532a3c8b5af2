"""The entries of the list: requests, effects, changes of states, deliveries, and moves of clocks, the latest first."""

from __future__ import annotations

import heapq
import json
import sqlite3
from dataclasses import dataclass
from typing import Any

from billcore_sandbox.control.lists import Conditions, clause, found
from billcore_sandbox.page.request import PAGE, PageRequest
from billcore_sandbox.retention import LISTS
from billcore_sandbox.world import World

KINDS = {"request": "Requests", "effect": "Effects", "state": "States", "delivery": "Deliveries", "clock": "Clock"}
# For each kind that has a table, the table and its key.
TABLES = {kept.kind: (name, kept.key) for name, kept in LISTS.items()}
# The columns that a row of the list shows; the bodies stay in the store.
_COLUMNS = {
    "request": "r.id, r.at, r.operation, r.method, r.target, r.status, r.fault, r.duration_ms, r.repeats, r.late",
    "effect": "r.id, r.at, r.kind AS effect, r.details, r.request_id",
    "state": 'r.id, r.at, r.object, r.object_id, r."from", r."to", r.cause, r.event',
    "delivery": "r.seq AS id, r.id AS event_id, r.event, r.url, r.state, r.reason, r.attempts, r.faults",
}
# Entries that someone may want to know of: refused or lost requests, and deliveries that were not accepted.
_TROUBLE = {
    "request": "(r.status >= 400 OR r.fault IS NOT NULL OR r.status IS NULL)",
    "effect": "0",
    "state": "0",
    "delivery": "(r.state NOT IN ('delivered', 'pending') OR r.attempts LIKE '%\"fault\": \"%'"
    " OR json_extract(r.attempts, '$[#-1].status') NOT BETWEEN 200 AND 299"
    " OR json_extract(r.attempts, '$[#-1].error') IS NOT NULL)",
    "clock": "0",
}


@dataclass(frozen=True, slots=True)
class Filter:
    """What the list shows. kinds: of entries. search: a text in their bytes. trouble: only what went wrong."""

    kinds: tuple[str, ...]
    search: str | None
    trouble: bool
    account: int | None

    @classmethod
    def of(cls, request: PageRequest) -> Filter:
        """The filter in the URL of a request. Raises Refusal 404 for an unknown account."""
        kinds = tuple(kind for kind in KINDS if kind in request.all("kind")) or tuple(KINDS)
        account = request.chosen
        search = request.query.get("q", "").strip()[:1000] or None
        return cls(kinds, search, "trouble" in request.query, None if account is None else account.number)

    def source(self, kind: str, **positions: int | None) -> tuple[str, list[Any]]:
        """The FROM and WHERE of the changes with which entries of a kind began, between two positions."""
        between = {"c.id > ?": positions.get("after"), "c.id < ?": positions.get("before")}
        where, args = clause({"c.kind = ?": kind, **between, **self.conditions(kind)})
        if kind == "clock":
            return f"changes c WHERE {where}", args
        table, key = TABLES[kind]
        return f"changes c JOIN {table} r ON r.{key} = c.subject WHERE c.made AND {where}", args

    def conditions(self, kind: str) -> Conditions:
        """The conditions for the entries of a kind: c is a change of the entry, and r its record."""
        table, of = ("changes", "c") if kind == "clock" else (TABLES[kind][0], "r")
        trouble: Conditions = {_TROUBLE[kind]: []} if self.trouble else {}
        return {"c.account = ?": self.account, **trouble, **found(table, self.search, of)}

    def latest(self, world: World, most: int = PAGE, **positions: int | None) -> list[dict[str, Any]]:
        """At most `most` entries between two positions, the latest first. `position`: the id of its first change."""
        lists = []
        for kind in self.kinds:
            where, args = self.source(kind, **positions)
            columns = _COLUMNS.get(kind, "c.details")
            sql = f"SELECT c.id AS position, c.account AS number, {columns} FROM {where} ORDER BY c.id DESC LIMIT ?"
            lists.append([_shown(world, kind, row) for row in world.store.all(sql, *args, most)])
        return [*heapq.merge(*lists, key=lambda each: -each["position"])][:most]

    def count(self, world: World, **positions: int | None) -> int:
        """How many entries there are between two positions."""
        sources = [self.source(kind, **positions) for kind in self.kinds]
        return sum(world.store.count(where, *args) for where, args in sources)


def _shown(world: World, kind: str, row: sqlite3.Row) -> dict[str, Any]:
    """A row of the list."""
    entry: dict[str, Any] = {"kind": kind, **dict(row)}
    if kind == "clock":
        entry |= {"id": row["position"], **json.loads(row["details"])}
    elif kind == "effect":
        entry["details"] = json.loads(row["details"])
    elif kind == "delivery":
        made = json.loads(row["attempts"])
        entry |= {"count": len(made), "last": made[-1] if made else None, "at": made[-1]["at"] if made else None}
        entry["faults"] = [*json.loads(row["faults"]), *(each["fault"] for each in made if each["fault"])]
    entry["account"] = world.store.uuid_of(row["number"])
    return entry


def changed(world: World, shown: Filter, after: int, drawn: list[str]) -> list[dict[str, Any]]:
    """The entries that are older than a position and have changed since: those that the browser has drawn, and at most
    a page of others that the filter may select only now.

    drawn: names, such as delivery-50001. `fits` of an entry: whether it may be new in the list, by its change.
    """
    entries = []
    for kind in ("request", "delivery"):
        if kind in shown.kinds:
            table, key = TABLES[kind]
            where, args = clause(shown.conditions(kind))
            fits = where if shown.trouble or shown.search is not None else "0"
            given = [] if fits == "0" else args
            numbers = [name.rpartition("-")[2] for name in drawn if name.startswith(f"{kind}-")]
            old = f"c.subject IN ({', '.join('?' * len(numbers))})"
            sql = (
                f"SELECT c.account AS number, {_COLUMNS[kind]}, ({fits}) AS fits FROM changes c"
                f" JOIN {table} r ON r.{key} = c.subject WHERE c.kind = ? AND c.id > ? AND NOT c.made AND c.subject"
                " NOT IN (SELECT subject FROM changes WHERE kind = ? AND id > ? AND made)"
                f" AND ({old} OR {fits}) GROUP BY c.subject ORDER BY {old} DESC, max(c.id) DESC LIMIT {PAGE} + ?"
            )
            values = [*given, kind, after, kind, after, *numbers, *given, *numbers, len(numbers)]
            entries += [_shown(world, kind, row) for row in world.store.all(sql, *values)]
    return entries
