"""What will happen: the account's clock, and the jobs that wait for it."""

from __future__ import annotations

from datetime import datetime

from billcore_sandbox import clock
from billcore_sandbox.control import bodies, upcoming
from billcore_sandbox.page.request import PAGE, PageRequest
from billcore_sandbox.service.calls import Reply

_UNITS = (("d", 86400), ("h", 3600), ("min", 60), ("s", 1))


def show(request: PageRequest) -> Reply:
    """The clock of the account, and the jobs of the chosen account or of all; parameters: account, page."""
    world, page = request.world, request.page
    found = upcoming.upcoming(world, bodies.Soonest(account=request.query.get("account") or None, limit=page * PAGE))
    now = {each.uuid: each.clock.now() for each in world.store.accounts}
    jobs = [
        {**job, "away": in_how_long(job["due"], now[job["account"] or ""])}
        for job in found["jobs"][(page - 1) * PAGE :]
    ]
    return request.render(
        "upcoming.html",
        jobs=jobs,
        total=found["total"],
        page=page,
        more=found["total"] > page * PAGE,
        moving=world.jobs.moves(request.account),
    )


def in_how_long(due: str, now: datetime) -> str:
    """The time from now until a job is due, in its two largest units."""
    left = int((clock.parse(due) - now).total_seconds())
    if left <= 0:
        return "now"
    parts = []
    for unit, seconds in _UNITS:
        count, left = divmod(left, seconds)
        if count:
            parts.append(f"{count} {unit}")
    return f"in {' '.join(parts[:2])}"
