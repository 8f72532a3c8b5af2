"""The first view: the list of what happened, with the entry that the URL opens."""

from __future__ import annotations

from typing import Any

from billcore_sandbox.page.request import PageRequest
from billcore_sandbox.page.views.entries import KINDS, PAGE, Filter, one
from billcore_sandbox.service.calls import Reply


def show(request: PageRequest) -> Reply:
    """The list; parameters: kind, q, trouble, account, before (a position), open (such as delivery-50001)."""
    opened = _opened(request)
    if request.only("detail"):
        return request.render("detail.html", entry=opened)
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
        forgotten=sum(world.history.retention.forgotten(name)[0] for name in ("requests", "deliveries")),
        entry=opened,
        first_visit=not entries and before is None and shown == Filter(tuple(KINDS), None, False, None),
    )


def _opened(request: PageRequest) -> dict[str, Any] | None:
    """The entry that the parameter `open` names, with the view's own values; None without one."""
    kind, _, text = request.query.get("open", "").partition("-")
    if not text:
        return None
    record = one(request.world, kind, int(text) if text.isascii() and text.isdigit() and len(text) < 19 else -1)
    return {"kind": kind, "id": text, "record": record}
