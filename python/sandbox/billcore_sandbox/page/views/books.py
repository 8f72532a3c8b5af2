"""The tables of billcore's journal (charges) and inbox (handled events), which a program of yours fills. Only read."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from billcore_sandbox.page.request import PAGE, PageRequest
from billcore_sandbox.page.views.readonly import Place, Run, Unreadable, place, read
from billcore_sandbox.service.calls import Reply

_MOST_NAMES = 40
_OPEN = "open"
_CHARGE = (
    "account, key, state, attempt, subscription, product_id, amount, quantity, vat, description, candidates, created,"
    " deadline, late, order_id, answer, changed"
)


async def journal(request: PageRequest) -> Reply:
    """The charges, those of open outcome first; parameters: account, state, page."""
    wanted = request.query.get("state", "")

    def work(run: Run, schema: str, where: Place) -> dict[str, Any]:
        version = _part(r"'version', '(\w+)'", schema)
        is_open = f"({_part(r'billcore_charges_open .* WHERE (.+);', schema)} OR late IS NOT NULL)"
        found = run("SELECT value FROM billcore_journal WHERE account = '' AND name = 'version'")
        if [each["value"] for each in found] != [version]:
            has = found[0]["value"] if found else "that is not known"
            raise Unreadable(f"The journal's tables have a version {has}, and the installed billcore knows {version}.")
        conditions, values = _of_account(request, "uuid")
        counts = run(
            f"SELECT state, count(*) AS n, sum(CASE WHEN {is_open} THEN 1 ELSE 0 END) AS opened FROM billcore_charges"
            f" WHERE {conditions} GROUP BY state ORDER BY state",
            *values,
        )
        if wanted == _OPEN:
            conditions = f"{conditions} AND {is_open}"
        elif wanted:
            conditions, values = f"{conditions} AND state = ?", [*values, wanted]
        rows = run(
            f"SELECT {_CHARGE}, CASE WHEN {is_open} THEN 1 ELSE 0 END AS opened FROM billcore_charges WHERE"
            f" {conditions} ORDER BY opened DESC, created DESC, account, key LIMIT {PAGE + 1} OFFSET ?",
            *values,
            (request.page - 1) * PAGE,
        )
        opened = sum(each["opened"] for each in counts)
        of_state = {each["state"]: each["n"] for each in counts}
        return {"rows": [_charge(row, where) for row in rows], "counts": {_OPEN: opened, **of_state}}

    def schema() -> str:
        from billcore.journal import schema

        return schema("sqlite")

    return await _read(request, "journal", schema, work)


async def inbox(request: PageRequest) -> Reply:
    """The handled events, the newest first; parameters: account, state (a name of events), page."""
    wanted = request.query.get("state", "")

    def work(run: Run, schema: str, where: Place) -> dict[str, Any]:
        _part("(billcore.inbox, version 1)\n", schema)
        conditions, values = _of_account(request, "number")
        counts = run(
            f"SELECT name, count(*) AS n FROM billcore_inbox WHERE {conditions} GROUP BY name ORDER BY name"
            f" LIMIT {_MOST_NAMES}",
            *values,
        )
        if wanted:
            conditions, values = f"{conditions} AND name = ?", [*values, wanted]
        rows = run(
            "SELECT consumer, account, id, name, CAST(received_at AS text) AS received, length(body) AS kept"
            f" FROM billcore_inbox WHERE {conditions} ORDER BY received_at DESC, consumer, account, id"
            f" LIMIT {PAGE + 1} OFFSET ?",
            *values,
            (request.page - 1) * PAGE,
        )
        return {"rows": rows, "counts": {each["name"]: each["n"] for each in counts}}

    def schema() -> str:
        from billcore.inbox import schema

        return schema("sqlite")

    return await _read(request, "inbox", schema, work)


async def _read(
    request: PageRequest, book: str, schema: Callable[[], str], work: Callable[[Run, str, Place], dict[str, Any]]
) -> Reply:
    """The page of a book. `schema` loads the client, which is the only one to know its tables."""
    shown: dict[str, Any] = {"variable": f"BILLCORE_{book.upper()}", "where": None, "found": None, "problem": None}
    try:
        if where := place(shown["variable"]):
            shown["where"] = where
            tables = await asyncio.to_thread(schema)
            shown["found"] = await read(where, lambda run: work(run, tables, where))
    except ImportError:
        shown["problem"] = (
            "This view needs the client: run pip install billcore, beside the sandbox, then start it again."
        )
    except Unreadable as error:
        shown["problem"] = str(error)
    return request.render(
        f"{book}.html", **shown, filtered=request.query.get("state", ""), page=request.page, most=PAGE
    )


def _part(pattern: str, schema: str) -> str:
    found = re.search(pattern, schema)
    if found is None:
        raise Unreadable("The installed billcore has tables that this sandbox does not know: update billcore-sandbox.")
    return found[1]


def _of_account(request: PageRequest, name: str) -> tuple[str, list[Any]]:
    """A condition for the chosen account, which has a UUID in a journal, and its number in the events of an inbox."""
    chosen = request.chosen
    return ("1 = 1", []) if chosen is None else ("account = ?", [str(getattr(chosen, name))])


def _charge(row: dict[str, Any], where: Place) -> dict[str, Any]:
    times = {
        name: None if row[name] is None else datetime.fromtimestamp(row[name], UTC).isoformat()
        for name in ("created", "deadline", "late", "changed")
    }
    in_flight = row["state"] == "sending" and row["deadline"] > time.time()
    more = {"in_flight": in_flight, "commands": _commands(row, where) if row["opened"] and not in_flight else {}}
    # The answer is the error of a refused charge, or the order, which the link to it shows.
    error = None if row["state"] == "charged" else json.loads(row["answer"] or "{}").get("text")
    return {**row, **times, **more, "candidates": json.loads(row["candidates"] or "[]"), "error": error}


def _commands(row: dict[str, Any], where: Place) -> dict[str, str]:
    """The commands that end an open charge, by what they do."""
    places = [row["subscription"], str(row["product_id"]), str(row["amount"])]
    named = [f"--{name}={row[name]}" for name in ("quantity", "vat", "description") if row[name] is not None]
    source = [] if where.path is None else ["--journal", where.shown]
    resolve = ["billcore", "journal", "resolve", *source]
    go_on = ["billcore", "charge", *named, f"--key={row['key']}", *source, "--", *places]
    return {
        **({} if row["state"] == "held" else {"go on": shlex.join(go_on)}),
        "it is this order": f"{shlex.join(resolve)} --order ID -- {shlex.quote(row['key'])}",
        "nothing was charged": shlex.join([*resolve, "--nothing", "--", row["key"]]),
    }
