"""Clients and verifiers in reference cycles through hooks= and clock= are garbage-collected, with their sockets."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import Callable
from typing import Any

import pytest

import billcore
from billcore import webhooks
from conformance.server import Reply, Request, ScriptedServer

from .async_support import descriptors
from .support import ACCOUNT, API_KEY, ORDER, SECRET, SUBSCRIPTION, data, options_for, page

COUNT = 20
Options = dict[str, Any]


class Hooks:
    """Keeps references to all its arguments."""

    def __init__(self) -> None:
        self.held: list[object] = []

    def on_request(self, attempt: billcore.Attempt) -> None:
        pass


def script(request: Request) -> Reply:
    if "/orders" in request.target:
        number = 2 if "page=2" in request.target else 1
        return page([{**ORDER, "id": f"o{number}.{item}"} for item in range(3)], number, 2)
    return data(SUBSCRIPTION)


def used(options: Options, hooks: Hooks) -> billcore.Client:
    client = billcore.Client(**options, hooks=hooks)
    client.subscriptions.get("s")
    return client


def every_part(options: Options) -> object:
    hooks = Hooks()
    own = used(options, hooks)
    pager, other, third = (own.subscriptions.orders("s") for _ in range(3))
    items, pages, batches = iter(pager), other.pages(), third.to_batches()
    next(items), next(pages), next(batches)
    arrow = own.subscriptions.orders("s").to_arrow()
    hooks.held = [own, own.with_options(timeout=1), own.subscriptions, own.products, own.orders, own.webhook_endpoints]
    hooks.held += [pager, other, items, pages, batches, arrow, pager]
    return hooks


def iterator_alone(options: Options) -> object:
    hooks = Hooks()
    items = iter(used(options, hooks).subscriptions.orders("s"))
    next(items)
    hooks.held = [items]
    return hooks


def own_hooks(options: Options) -> object:
    class Own(billcore.Client):
        def __init__(self) -> None:
            super().__init__(**options, hooks=self)

        def on_request(self, attempt: billcore.Attempt) -> None:
            pass

    own = Own()
    own.subscriptions.get("s")
    return own


def async_client(options: Options) -> object:
    hooks = Hooks()
    own = billcore.AsyncClient(**options, hooks=hooks)

    async def main() -> None:
        await own.subscriptions.get("s")
        pager = own.subscriptions.orders("s")
        items = aiter(pager)
        await anext(items)
        hooks.held = [own, own.subscriptions, pager, items, pager.to_batches(), pager.pages()]

    asyncio.run(main())
    return hooks


def own_async_hooks(options: Options) -> object:
    class Own(billcore.AsyncClient):
        def __init__(self) -> None:
            super().__init__(**options, hooks=self)

        def on_request(self, attempt: billcore.Attempt) -> None:
            pass

    own = Own()
    asyncio.run(own.subscriptions.get("s"))
    return own


def ended_calls(options: Options) -> object:
    hooks = Hooks()
    own = billcore.AsyncClient(**options, hooks=hooks)

    async def main() -> None:
        task = asyncio.ensure_future(own.subscriptions.get("s"))
        await task
        hooks.held = [task, own.close(), own.__aenter__(), own.subscriptions.charge("s", product_id=1, amount=1)]

    asyncio.run(main())
    for call in hooks.held[1:]:
        call.close()  # type: ignore[attr-defined]
    return hooks


def clock(options: Options) -> object:
    class Receiver:
        def __init__(self) -> None:
            self.verifier = webhooks.Verifier(SECRET, freshness=60, clock=self.now)
            self.other = webhooks.Verifier.allowing_any_key_length(b"k", clock=self.now)
            self.stream = self.other.stream()

        def now(self) -> float:
            return 0.0

    return Receiver()


WAYS: list[Callable[[Options], object]] = [
    every_part,
    iterator_alone,
    own_hooks,
    async_client,
    own_async_hooks,
    ended_calls,
    clock,
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_cycle_is_collected_with_its_sockets(way: Callable[[Options], object]) -> None:
    with ScriptedServer(script) as server:
        options = options_for(server)
        gc.collect()
        with_server = descriptors()
        made = [weakref.ref(way(options)) for _ in range(COUNT)]
        gc.collect()
        assert [ref for ref in made if ref() is not None] == []
    gc.collect()
    assert descriptors() <= with_server, "sockets of the server itself included"


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_an_object_in_use_is_not_collected(way: Callable[[Options], object]) -> None:
    with ScriptedServer(script) as server:
        options = options_for(server)
        made = way(options)
        for _ in range(3):
            gc.collect()
        for held in [made, *getattr(made, "held", ())]:
            if isinstance(held, billcore.Client):
                assert held.subscriptions.get("s").id == "sub_1"
            elif hasattr(held, "__next__") and not hasattr(held, "__await__"):
                assert next(held)


def test_each_holder_of_a_list_keeps_its_hooks() -> None:
    """After the client and the pager are garbage-collected, their iterator still holds and calls the hooks."""
    told = []

    class Told:
        def __init__(self) -> None:
            self.itself = self

        def on_request(self, attempt: billcore.Attempt) -> None:
            told.append(attempt.route)

    with ScriptedServer([page([ORDER], 1, 2), page([{**ORDER, "id": "ord_2"}], 2, 2)]) as server:
        own = billcore.Client(base_url=server.url + ACCOUNT, api_key=API_KEY, hooks=Told(), concurrency=1)
        garbage: list[object] = [own.subscriptions.orders("s")]
        items = iter(garbage[0])  # type: ignore[call-overload]
        garbage += [garbage, own]
        del garbage, own
        gc.collect()
        assert [order.id for order in items] == ["ord_1", "ord_2"]
        assert told == ["/subscription/{id}/orders"] * 2


def test_a_call_of_a_closed_loop_is_collected() -> None:
    """A call of a closed loop never ends; it is collected even if the hooks refer to the call or its task."""
    gc.collect()
    before = descriptors()
    with ScriptedServer(lambda _: Reply(raw=b"", ending="hang")) as server:
        options: Options = {"base_url": server.url + ACCOUNT, "api_key": API_KEY}

        def begun(how: str) -> weakref.ref[Hooks]:
            hooks = Hooks()
            loop = asyncio.new_event_loop()

            async def main() -> None:
                own = billcore.AsyncClient(**options, hooks=hooks)
                call = own.subscriptions.charge("s", product_id=1, amount=1)
                if how == "task":
                    hooks.held = [asyncio.ensure_future(call)]
                    await asyncio.sleep(0)
                else:
                    hooks.held = [call]
                    call.send(None)

            loop.run_until_complete(main())
            loop.set_exception_handler(lambda *_: None)  # the default handler logs destroyed pending tasks
            loop.close()
            return weakref.ref(hooks)

        made = [begun(how) for how in ("task", "coroutine") for _ in range(COUNT)]
        for _ in range(3):
            gc.collect()
        assert [ref for ref in made if ref() is not None] == []
    assert descriptors() <= before


def test_a_call_that_outlives_its_loop_says_so() -> None:
    with ScriptedServer(lambda _: Reply(raw=b"", ending="hang")) as server:
        own = billcore.AsyncClient(base_url=server.url + ACCOUNT, api_key=API_KEY)
        calls = [own.subscriptions.charge("s", product_id=1, amount=1), own.subscriptions.get("s")]
        loop = asyncio.new_event_loop()

        async def main() -> None:
            for call in calls:
                call.send(None)

        loop.run_until_complete(main())
        loop.close()
        gc.collect()
        for call, noted in zip(calls, (True, False), strict=True):
            with pytest.raises(KeyError) as raised:
                call.throw(KeyError("x"))
            notes = getattr(raised.value, "__notes__", [])
            assert bool(notes) == noted and all("may or may not have happened" in note for note in notes)


@pytest.mark.parametrize("kind", [billcore.Client, billcore.AsyncClient, webhooks.Verifier])
def test_objects_that_were_never_initialised_can_be_collected(kind: type[Any]) -> None:
    class Own(kind):  # type: ignore[misc]
        itself: object = None

    def new() -> weakref.ref[Any]:
        own = Own.__new__(Own)
        own.itself = own
        return weakref.ref(own)

    made = [new() for _ in range(COUNT)]
    kept = [Own.__new__(Own) for _ in range(COUNT)]
    gc.collect()
    assert [ref for ref in made if ref() is not None] == []
    assert len(kept) == COUNT
