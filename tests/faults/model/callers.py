"""The model's callers: threads that share a Client, tasks that share an AsyncClient, and the driver programs of C++ and
C. The calls of a round are chosen at random before the round begins."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import billcore
from conformance.drivers import VARIABLES, Driver, make_driver

from ..scene import AttemptsDriver

LONGEST = 120.0  # seconds; a caller whose calls of a round take longer counts as hanging


@dataclass
class Call:
    """A call and its result. timeout: in seconds; for a list, the limit for each page. error: as in a reply of a
    conformance driver."""

    number: int
    kind: str
    timeout: float
    max_retries: int
    cancel_after: float | None = None
    take: int | None = None  # number of items after which the caller stops reading a list
    large: bool = False
    calm: bool = False
    ended: bool = False
    result: Any = None  # the fields of a resource
    head: Any = None  # in Python: the status, the request id and the headers of the answer
    verdict: str | None = None
    items: list[str] = field(default_factory=list)
    error: dict[str, Any] | None = None
    took: float = 0.0
    over: float = 0.0  # monotonic time of the end

    @property
    def is_write(self) -> bool:
        return self.kind in ("charge", "cancel", "update", "delete")

    def take_error(self, error: BaseException) -> None:
        if isinstance(error, billcore.BillcoreError):
            self.error = AttemptsDriver()._error(error)
            return
        notes = getattr(error, "__notes__", [])
        self.error = {"class": type(error).__name__, "outcome_unknown": bool(notes), "message": f"{error}{notes}"}

    def take_result(self, result: Any) -> None:
        if result is not None:
            info = result.response_info
            self.result, self.head = result.to_dict(), [info.status, info.request_id, dict(info.headers)]

    def is_enough(self, item: Any) -> bool:
        """Takes an item of a list; returns whether the caller stops reading."""
        self.items.append(str(item.id))
        return len(self.items) == self.take

    def __str__(self) -> str:
        end = self.error or self.result or self.verdict
        return f"{self.kind} {self.number} (timeout {self.timeout}) after {self.took:.3f} s: {end}"


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
def recorded(call: Call) -> Iterator[None]:
    begun = time.monotonic()
    try:
        yield
    except BaseException as error:
        call.take_error(error)
    call.over = time.monotonic()
    call.took = call.over - begun
    call.ended = True


# Maps the kind of a call to its operation and arguments, as in a request to a driver.
OPERATIONS: dict[str, tuple[str, Callable[[Call], dict[str, Any]]]] = {
    "order": ("orders.get", lambda call: {"id": str(call.number)}),
    "subscription": ("subscriptions.get", lambda call: {"id": str(call.number)}),
    "product": ("products.get", lambda call: {"id": call.number}),
    "list": ("subscriptions.orders", lambda call: {"id": str(call.number)}),
    "charge": ("subscriptions.charge", lambda call: {"id": str(call.number), **_charge(call)}),
    "cancel": ("subscriptions.cancel", lambda call: {"id": str(call.number)}),
    "update": ("products.update", lambda call: {"id": call.number, "fields": {"price": call.number}}),
    "delete": ("products.delete", lambda call: {"id": call.number}),
}


def _charge(call: Call) -> dict[str, Any]:
    more = {"description": "d" * 300_000} if call.large else {}
    return {"product_id": 102, "amount": call.number, **more}


def made(client: Any, call: Call) -> Any:
    """Makes the call with a Client, and returns its result, or with an AsyncClient, and returns an awaitable; for a
    list, returns a pager."""
    operation, arguments = OPERATIONS[call.kind]
    group, verb = operation.split(".")
    given = arguments(call)
    place = [given.pop(name) for name in ("id", "fields") if name in given]
    return getattr(getattr(client, group), verb)(*place, **given)


class Callers(Protocol):
    def run(self, callers: list[list[Call]]) -> bool:
        """Runs each list of calls at the same time as the others. Returns False if a call hangs."""

    def close(self) -> None: ...


def in_threads(run: Callable[[int, list[Call]], None], callers: list[list[Call]]) -> bool:
    threads = [threading.Thread(target=run, args=each, daemon=True) for each in enumerate(callers)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + LONGEST
    for thread in threads:
        thread.join(max(0.0, end - time.monotonic()))
    return not any(thread.is_alive() for thread in threads)


class Threads:
    """One thread for each caller; all use the same client."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._client = billcore.Client(**options)

    def run(self, callers: list[list[Call]]) -> bool:
        return in_threads(self._run, callers)

    def close(self) -> None:
        self._client.close()

    def _run(self, _: int, calls: list[Call]) -> None:
        for call in calls:
            client = self._client.with_options(timeout=call.timeout, max_retries=call.max_retries)
            with recorded(call):
                result = made(client, call)
                if call.kind != "list":
                    call.take_result(result)
                    continue
                for order in result:
                    if call.is_enough(order):
                        break
                call.verdict = str(result.verdict)


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
            with recorded(call):
                task = asyncio.ensure_future(self._one(client, call))
                if call.cancel_after is not None:
                    asyncio.get_running_loop().call_later(call.cancel_after, task.cancel)
                await task

    @staticmethod
    async def _one(client: Any, call: Call) -> None:
        if call.kind != "list":
            call.take_result(await made(client, call))
            return
        pager = made(client, call)
        async for order in pager:
            if call.is_enough(order):
                break
        call.verdict = str(pager.verdict)


class Programs:
    """One driver program for each caller, alternately in C++ and in C on a loop; each has a client of its own."""

    LANGUAGES: Sequence[str] = [one for one in ("cpp", "c-loop") if os.environ.get(VARIABLES[one.partition("-")[0]])]

    def __init__(self, options: dict[str, Any], max_retries: int) -> None:
        self._options = {**options, "max_retries": max_retries}
        self._drivers: list[Driver] = []

    def run(self, callers: list[list[Call]]) -> bool:
        for index in range(len(self._drivers), len(callers)):
            self._drivers.append(make_driver(self.LANGUAGES[index % len(self.LANGUAGES)]))
        return in_threads(self._run, callers)

    def close(self) -> None:
        for driver in self._drivers:
            driver.close()

    def _run(self, index: int, calls: list[Call]) -> None:
        for call in calls:
            call.max_retries, call.cancel_after = self._options["max_retries"], None
            operation, arguments = OPERATIONS[call.kind]
            request = {"op": operation, "client": self._options, "args": arguments(call), "timeout": call.timeout}
            if call.kind == "list":
                request["take"] = call.take or "all"
            with recorded(call):
                self._take(call, self._drivers[index].run(request))

    @staticmethod
    def _take(call: Call, reply: dict[str, Any]) -> None:
        call.error, done = reply.get("error"), reply.get("ok")
        if call.kind == "list":
            listed = call.error or done or {}
            call.items = [str(item["id"]) for item in listed.get("items", [])]
            call.verdict = listed.get("verdict")
        else:
            call.result = done


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
