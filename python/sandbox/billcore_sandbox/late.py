"""Late requests: the client's connection is reset at once, and the service performs the request later.

Until it is performed, the request is kept in a table, so that it is not lost if the process is killed.
"""

from __future__ import annotations

import json
from datetime import timedelta

from billcore_sandbox import clock
from billcore_sandbox.service.calls import Request
from billcore_sandbox.service.routes import perform, route
from billcore_sandbox.store import Account
from billcore_sandbox.work import Work
from billcore_sandbox.world import World

KIND, CAUSE = "request", "late"  # the columns `kind` and `cause` of the job


def keep(world: World, account: Account, number: int, request: Request, delay: float) -> None:
    """Schedule the request: the service performs it `delay` seconds later by the account's clock.

    number: the id of the request's record, which shows when the request is due, when it was performed, and its status.
    """
    with world.effect(account) as work:
        due = work.now + timedelta(seconds=delay)
        columns = {
            "id": number,
            "account": account.number,
            "method": request.method,
            "path": request.path,
            "query": request.query,
            "headers": json.dumps(request.headers),
            "body": request.body,
        }
        work.insert("late_requests", columns)
        _show(work, number, clock.iso_precise(due))
        work.schedule(KIND, number, CAUSE, due)


def run(world: World, work: Work, number: int) -> None:
    """Perform a late request. Only the answer's status is recorded, because the client's connection has ended."""
    row = work.row("late_requests", number)
    headers = [(name, value) for name, value in json.loads(row["headers"])]
    with world.serving(number):
        answer = perform(world, route(Request(row["method"], row["path"], row["query"], headers, row["body"])))
    work.db.execute("DELETE FROM late_requests WHERE id = ?", (number,))
    _show(work, number, clock.iso_precise(work.now), clock.iso_precise(work.account.clock.now()), answer.status)


def _show(work: Work, number: int, due: str, done_at: str | None = None, status: int | None = None) -> None:
    shown = json.dumps({"due": due, "done_at": done_at, "status": status})
    work.update("requests", number, {"late": shown})
