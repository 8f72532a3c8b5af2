"""The sockets of an AsyncClient belong to its event loops and are closed with them."""

from __future__ import annotations

import asyncio
import gc
import warnings
from typing import Any

from conformance.server import Reply, Request
from support.waiting import until

from .async_support import Run, descriptors, each_loop, serving
from .support import ORDER, SUBSCRIPTION, data, page


@each_loop
def test_ended_loops_give_back_their_sockets(run: Run) -> None:
    """The sockets are closed when the loop ends, even if the client is not used again and a list still exists."""
    with serving(lambda request: page([ORDER], 1, 3) if "/orders" in request.target else data(SUBSCRIPTION)) as (
        server,
        client,
    ):
        kept: list[object] = []

        async def calls() -> None:
            await client.subscriptions.get("s")
            items = aiter(client.subscriptions.orders("s"))
            await anext(items)
            kept.append(items)

        run(calls())
        gc.collect()
        until(lambda: server.ended == server.connections)
        before = descriptors()
        for _ in range(100):
            run(calls())
        gc.collect()
        until(lambda: descriptors() <= before)  # includes those of the server, which runs in this process
        assert len(kept) == 101


def test_a_loop_that_is_never_closed_gives_back_its_sockets_when_it_goes() -> None:
    """uvloop is left out: it never frees a loop that is not closed, with or without a client."""
    with serving(lambda _: data(SUBSCRIPTION)) as (server, client):
        for _ in range(5):
            loop = asyncio.new_event_loop()
            loop.run_until_complete(client.subscriptions.get("s"))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ResourceWarning)
                del loop
                gc.collect()
        assert server.connections == 5
        until(lambda: server.ended == 5)


@each_loop
def test_a_list_goes_on_in_another_loop(run: Run) -> None:
    pages = {1: page([ORDER], 1, 3), 2: page([{**ORDER, "id": 2}], 2, 3), 3: page([{**ORDER, "id": 3}], 3, 3)}

    def script(request: Request) -> Reply:
        return pages[int(request.target.rpartition("page=")[2] or 1)]

    with serving(script) as (_, client):
        items = aiter(client.subscriptions.orders("s"))

        async def following() -> Any:
            return (await anext(items)).id

        assert [run(following()) for _ in range(3)] == ["ord_1", 2, 3]
