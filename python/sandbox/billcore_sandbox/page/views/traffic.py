"""The first view: the list of what happened, with the entry that the URL opens."""

from __future__ import annotations

from billcore_sandbox.page.request import PAGE, PageRequest
from billcore_sandbox.page.views.detail import opened
from billcore_sandbox.page.views.entries import KINDS, Filter
from billcore_sandbox.retention import LISTS
from billcore_sandbox.service.calls import Reply


def show(request: PageRequest) -> Reply:
    """The list; parameters: kind, q, trouble, account, before (a position), open (such as delivery-50001)."""
    entry = opened(request)
    if request.only("beside"):
        return request.render("detail.html", entry=entry)
    world, shown, before = request.world, Filter.of(request), request.number("before")
    entries = shown.latest(world, PAGE + 1, before=before)
    return request.render(
        "traffic.html",
        kinds=KINDS,
        shown=shown,
        entries=entries[:PAGE],
        older=entries[PAGE - 1]["position"] if len(entries) > PAGE else None,
        before=before,
        position=world.store.last_id("changes"),
        forgotten=sum(
            world.history.retention.forgotten(name, shown.account)[0]
            for name, kept in LISTS.items()
            if kept.kind in shown.kinds
        ),
        entry=entry,
        # After a receiver was registered, the other two cards are still of use.
        first_visit=before is None
        and shown == Filter(tuple(KINDS), None, False, shown.account)
        and all("endpoint" in each.get("effect", each.get("object", "")) for each in entries),
    )
