"""Answers with lists: page numbers, links, and the filters of order lists."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlencode

from billcore_sandbox.errors import invalid
from billcore_sandbox.resources import MAX_INTEGER, ORDER_STATES
from billcore_sandbox.service.calls import Call, Reply, query_integer, reply

_STATE = "filter[state]"


def answer(
    call: Call,
    source: str,
    args: list[Any],
    per_page: int,
    order_by: str,
    shape: Callable[[sqlite3.Row], dict[str, Any]],
) -> Reply:
    """The answer with one page of `SELECT * FROM source`. A page after the last one is empty, not an error."""
    page = query_integer(call.query, "page", 1, 1, MAX_INTEGER)
    total = call.world.store.count(source, *args)
    total_pages = -(-total // per_page)
    rows: list[sqlite3.Row] = []
    if page <= total_pages:
        sql = f"SELECT * FROM {source} ORDER BY {order_by} LIMIT ? OFFSET ?"
        rows = call.world.store.all(sql, *args, per_page, (page - 1) * per_page)
    links = {
        "next": link(call, page + 1) if page < total_pages else None,
        # The previous page of a page after the end is the last page with items.
        "previous": link(call, min(page - 1, max(total_pages, 1))) if page > 1 else None,
    }
    pagination = {
        "total": total,
        "count": len(rows),
        "per_page": per_page,
        "current_page": page,
        "total_pages": total_pages,
        "links": links,
    }
    return reply({"data": [shape(row) for row in rows], "pagination": pagination})


def link(call: Call, page: int) -> str:
    """The URL of the page `page` of the list, with the same filters."""
    return f"{call.address}?{with_page(call.query, page)}"


def with_page(query: list[tuple[str, str]], page: int) -> str:
    """The query with its page number replaced by `page`."""
    others = [(name, value) for name, value in query if name != "page"]
    return urlencode([*others, ("page", str(page))], quote_via=quote)


def plain(name: str) -> str:
    """A parameter's name without the index of a repeated parameter: for filter[state][0], filter[state]."""
    return _STATE if re.fullmatch(r"filter\[state\]\[[0-9]*\]", name) else name


def order_states(query: list[tuple[str, str]]) -> list[str]:
    """The states in filter[state], which may be a comma-separated list, or be repeated (also as filter[state][])."""
    wanted: list[str] = []
    for name, value in query:
        if plain(name) == _STATE:
            wanted.extend(value.split(","))
    for state in wanted:
        if state not in ORDER_STATES:
            raise invalid(f"The parameter filter[state] takes: {', '.join(ORDER_STATES)}.")
    return list(dict.fromkeys(wanted))
