"""The model's callers: threads that share a Client, tasks that share an AsyncClient. The calls of a round are chosen
at random before the round begins."""

from __future__ import annotations

import asyncio
import contextlib
import random
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import billcore

LONGEST = 120.0  # seconds; a caller whose calls of a round take longer counts as hanging
NONE = object()


@dataclass
class Call:
    """A call and its result. timeout: in seconds; for a list, the limit for each page."""

    number: int
    kind: str
    timeout: float
    max_retries: int
    cancel_after: float | None = None
    take: int | None = None  # number of items after which the caller stops reading a list
    large: bool = False
    result: Any = NONE
    items: list[str] = field(default_factory=list)
    error: BaseException | None = None
    took: float = 0.0
    calm: bool = False

    @property
    def is_write(self) -> bool:
        return self.kind in ("charge", "cancel", "update", "delete")

    def __str__(self) -> str:
        end = f"{type(self.error).__name__}: {self.error}" if self.error is not None else repr(self.result)
        notes = " ".join(getattr(self.error, "__notes__", []))
        return f"{self.kind} {self.number} (timeout {self.timeout}) after {self.took:.3f} s: {end} {notes}".strip()


KINDS = {"order": 20, "subscription": 12, "product": 8, "list": 14, "charge": 30, "cancel": 8, "update": 6, "delete": 4}


def drawn(seed: str, number: int) -> Call:
    chance = random.Random(f"{seed} call {number}")
    kind = chance.choices(list(KINDS), list(KINDS.values()))[0]
    call = Call(number, kind, chance.choice([0.03, 0.2, 0.5, 1.0, 2.0]), chance.choice([0, 1, 2, 2]))
    if chance.random() < 0.12:
        call.cancel_after = chance.choice([0.0, 0.001, 0.01, 0.1, 0.3])
    if kind == "list" and chance.random() < 0.3:
        call.take = chance.randint(1, 9)
    call.large = kind == "charge" and chance.random() < 0.1
    return call


@contextlib.contextmanager
def timed(call: Call) -> Iterator[None]:
    begun = time.monotonic()
    yield
    call.took = time.monotonic() - begun


def _charge(call: Call) -> dict[str, Any]:
    more = {"description": "d" * 300_000} if call.large else {}
    return {"product_id": 102, "amount": call.number, **more}


# Maps the kind of a call to a function that makes the call. With a Client the function returns the result of the call,
# with an AsyncClient an awaitable; for a list, the function returns a pager.
CALLS: dict[str, Callable[[Any, Call], Any]] = {
    "order": lambda client, call: client.orders.get(str(call.number)),
    "subscription": lambda client, call: client.subscriptions.get(str(call.number)),
    "product": lambda client, call: client.products.get(call.number),
    "list": lambda client, call: client.subscriptions.orders(str(call.number)),
    "charge": lambda client, call: client.subscriptions.charge(str(call.number), **_charge(call)),
    "cancel": lambda client, call: client.subscriptions.cancel(str(call.number)),
    "update": lambda client, call: client.products.update(call.number, {"price": call.number}),
    "delete": lambda client, call: client.products.delete(call.number),
}


class Threads:
    """One thread for each caller; all use the same client."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._client = billcore.Client(**options)

    def run(self, callers: list[list[Call]]) -> bool:
        """Runs each list of calls in a thread. Returns False if a thread hangs."""
        threads = [threading.Thread(target=self._run, args=(calls,), daemon=True) for calls in callers]
        for thread in threads:
            thread.start()
        end = time.monotonic() + LONGEST
        for thread in threads:
            thread.join(max(0.0, end - time.monotonic()))
        return not any(thread.is_alive() for thread in threads)

    def close(self) -> None:
        self._client.close()

    def _run(self, calls: list[Call]) -> None:
        for call in calls:
            client = self._client.with_options(timeout=call.timeout, max_retries=call.max_retries)
            with timed(call):
                try:
                    self._one(client, call)
                except BaseException as error:
                    call.error = error.with_traceback(None)  # the traceback would keep pagers alive

    @staticmethod
    def _one(client: Any, call: Call) -> None:
        result = CALLS[call.kind](client, call)
        if call.kind != "list":
            call.result = result
            return
        for order in result:
            call.items.append(str(order.id))
            if len(call.items) == call.take:
                break
        call.result = str(result.verdict)


class Tasks:
    """One task for each caller; all use the same client, in an event loop on a separate thread."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._client = billcore.AsyncClient(**options)

    def run(self, callers: list[list[Call]]) -> bool:
        return self._await(self._all(callers))

    def close(self) -> None:
        assert self._await(self._client.close()), "close() hangs"
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(LONGEST)
        assert not self._thread.is_alive(), "an event loop hangs"
        self._loop.close()

    def _await(self, what: Any) -> bool:
        done = asyncio.run_coroutine_threadsafe(what, self._loop)
        with contextlib.suppress(TimeoutError):
            done.result(LONGEST)
            return True
        return False

    async def _all(self, callers: list[list[Call]]) -> None:
        await asyncio.gather(*(self._run(calls) for calls in callers))

    async def _run(self, calls: list[Call]) -> None:
        for call in calls:
            client = self._client.with_options(timeout=call.timeout, max_retries=call.max_retries)
            with timed(call):
                task = asyncio.ensure_future(self._one(client, call))
                if call.cancel_after is not None:
                    asyncio.get_running_loop().call_later(call.cancel_after, task.cancel)
                try:
                    await task
                except BaseException as error:
                    call.error = error.with_traceback(None)  # the traceback would keep pagers alive

    @staticmethod
    async def _one(client: Any, call: Call) -> None:
        if call.kind != "list":
            call.result = await CALLS[call.kind](client, call)
            return
        pager = CALLS["list"](client, call)
        async for order in pager:
            call.items.append(str(order.id))
            if len(call.items) == call.take:
                break
        call.result = str(pager.verdict)


def numbered(seed: str, client: int, callers: int, turn: int, calls: int) -> Iterator[list[Call]]:
    """Yields, for each caller of a client, the calls that it makes in a round."""
    for caller in range(callers):
        yield [drawn(seed, client * 1_000_000 + caller * 10_000 + turn * 100 + at) for at in range(calls)]


def honest(client: int, callers: int) -> Iterator[list[Call]]:
    """Yields, for each caller of a client, the calls of the final round. In this round the peer is honest, so each
    call must succeed."""
    for caller in range(callers):
        first = client * 1_000_000 + caller * 10_000 + 9_900
        yield [Call(first + at, kind, 30.0, 2, calm=True) for at, kind in enumerate(KINDS)]
