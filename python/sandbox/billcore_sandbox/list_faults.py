"""Faults of lists: rows that are added or removed between two pages, and answers to a page after the last one."""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from billcore_sandbox import clock
from billcore_sandbox.errors import not_found
from billcore_sandbox.faults import Fault
from billcore_sandbox.lifecycle import SUBJECTS, plan
from billcore_sandbox.service.calls import Reply, last, parse_query, reply
from billcore_sandbox.service.lists import with_page
from billcore_sandbox.service.routes import Routed
from billcore_sandbox.store import Account
from billcore_sandbox.work import Work
from billcore_sandbox.world import World

_log = logging.getLogger("billcore_sandbox")

KINDS = ("rows", "beyond_end")
# Operation -> the state machine of the objects in its list.
LISTS = {"subscriptions.list": "subscription", "subscriptions.orders": "order", "products.list": "product"}

Serve = Callable[[Routed], Reply]


def fits(fault: Fault, routed: Routed, serve: Serve) -> bool:
    """Whether the fault can happen to the request.

    The kind `rows` needs a list with rows, and the kind `beyond_end` a page after the end.
    """
    if routed.name not in LISTS:
        return False
    answer = serve(routed)
    if answer.status != 200:
        return False
    page = json.loads(answer.body)["pagination"]
    if fault.kind == "rows":
        return bool(page["total"] > 0)
    return bool(page["current_page"] > max(page["total_pages"], 1))


def beyond(wanted: str, answer: Reply, routed: Routed, serve: Serve) -> Reply:
    """The fault's answer to a request for a page after the last one. answer: the service's own, an empty page."""
    if wanted == "not_found":
        error = not_found()
        return reply(error.body(), error.status)
    if wanted == "last_page":
        return serve(_page(routed, max(json.loads(answer.body)["pagination"]["total_pages"], 1)))
    return answer


def change_rows(world: World, account: Account, routed: Routed, serve: Serve, *, insert: int, delete: int) -> None:
    """Delete rows at the front of the requested list, then insert copies of its first row there. Fires no event."""
    machine = LISTS[routed.name or ""]
    front = _front(routed, serve, max(delete, 1))
    by_reference = last(parse_query(routed.request.query), "filter[reference_id]") is not None
    with world.effect(account) as work:
        first = work.row(SUBJECTS[machine].table, int(front[0]))
        deleted = front[:delete]
        for number in deleted:
            _delete(work, machine, int(number))
        inserted: list[Any] = []
        for _ in range(insert):
            number = _insert(work, machine, first, keep_reference=by_reference)
            if number is None:
                missing = insert - len(inserted)
                _log.warning("rows: no id is free at the front of %s, so %d rows are missing", routed.name, missing)
                break
            inserted.append(number if machine == "product" else str(number))
        work.record("rows", operation=routed.name, deleted=deleted, inserted=inserted)


def _front(routed: Routed, serve: Serve, count: int) -> list[Any]:
    """The ids of the first `count` rows of a list, with the request's filters."""
    ids: list[Any] = []
    number = 1
    while len(ids) < count:
        answer = json.loads(serve(_page(routed, number)).body)
        ids += [each["id"] for each in answer["data"]]
        if number >= answer["pagination"]["total_pages"]:
            break
        number += 1
    return ids[:count]


def _page(routed: Routed, number: int) -> Routed:
    query = with_page(parse_query(routed.request.query), number).encode("ascii")
    return replace(routed, request=replace(routed.request, query=query))


def _delete(work: Work, machine: str, number: int) -> None:
    db = work.db
    if machine == "product":
        work.update("products", number, {"state": "deleted"})
        db.execute("DELETE FROM group_members WHERE product_id = ?", (number,))
        return
    orders = [number]
    if machine == "subscription":
        orders = [row["id"] for row in db.execute("SELECT id FROM orders WHERE subscription_id = ?", (number,))]
        db.execute("DELETE FROM subscriptions WHERE id = ?", (number,))
        work.unschedule("subscription", number)
    for order in orders:
        db.execute("DELETE FROM orders WHERE id = ?", (order,))
        work.unschedule("order", order)


def _insert(work: Work, machine: str, first: sqlite3.Row, *, keep_reference: bool) -> int | None:
    """Insert a copy of the list's first row before it; returns the new id, or None if no id is free there."""
    table = SUBJECTS[machine].table
    columns = dict(first)
    if machine == "order":  # orders are listed latest first
        del columns["id"]
        columns |= {"created_at": clock.iso(work.now), "is_first": 0}
    else:
        columns["id"] = _free_id(work, table, first["id"])
        if columns["id"] == 0:
            return None
    if machine == "subscription" and not keep_reference:  # the copy must not have the same reference
        columns["reference_id"] = None
    number = work.insert(table, columns)
    plan(work, machine, work.row(table, number))
    return number


def _free_id(work: Work, table: str, below: int) -> int:
    """The greatest free id less than `below`; 0 if there is none."""
    for row in work.db.execute(f"SELECT id FROM {table} WHERE id < ? ORDER BY id DESC", (below,)):
        if row["id"] < below - 1:
            break
        below = row["id"]
    return below - 1
