"""What keeps an open list fresh: a stream that says when something changed, and the rows to add and to replace."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator

from billcore_sandbox.errors import Refusal
from billcore_sandbox.page.request import PAGE, PageRequest
from billcore_sandbox.page.views.entries import Filter, changed
from billcore_sandbox.service.calls import Reply

_HEARTBEAT = 15.0  # seconds
_PAUSE = 0.25  # seconds between two events, however much happens


def changes(request: PageRequest) -> AsyncGenerator[bytes, None]:
    """Server-sent events: the position of the latest change, at most four times a second."""
    return _positions(request)


async def _positions(request: PageRequest) -> AsyncGenerator[bytes, None]:
    store, history = request.world.store, request.world.history
    sent: tuple[str, int] = (store.history, -1)

    def now() -> tuple[str, int]:
        return store.history, store.last_id("changes")

    yield b"retry: 1000\n\n"
    while True:
        if (last := now()) != sent:
            # After a reset, positions begin again with 1.
            yield b"event: reset\ndata: 0\n\n" if last[0] != sent[0] else f"data: {last[1]}\n\n".encode()
            sent = (last[0], -1) if last[0] != sent[0] else last
            await asyncio.sleep(_PAUSE)
            continue
        try:
            if await history.wait(lambda: now() != last or None, _HEARTBEAT) is None:
                yield b":\n\n"
        except Refusal as error:
            if error.code == "stopped":
                return


def rows(request: PageRequest) -> Reply:
    """The entries that began after the position `after`, and those on the page that have changed since.

    At most a page of new entries; the answer says how many more there are.
    """
    world, shown, after = request.world, Filter.of(request), request.number("after") or 0
    entries = shown.latest(world, PAGE, after=after)
    missed = shown.count(world, after=after) - len(entries) if len(entries) == PAGE else 0
    return request.render(
        "rows.html",
        entries=entries,
        changed=changed(world, shown, after, request.query.get("drawn", "").split(".")),
        missed=missed,
        position=world.store.last_id("changes"),
    )
