"""How the Python contenders of the rest tables make GETs: one after the other, or several at once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from .rows import Server

T = TypeVar("T")
Answer = tuple[str, ...]  # the fields id, reference_id and status, or a tuple with only the body
Get = Callable[[], Answer]
AsyncGet = Callable[[], Awaitable[Answer]]

SUBSCRIPTION = "sub_1001"
PATH = f"/subscription/{SUBSCRIPTION}"


def _many(get: Get, count: int) -> int:
    total = 0
    for _ in range(count):
        for text in get():
            total += len(text)
    return total


class Blocking:
    """Makes concurrent GETs in threads, on one client or, if a client is not thread-safe, on one client per thread."""

    def __init__(self, connect: Callable[[Server], Get], server: Server, at_once: int, shared: bool) -> None:
        one = connect(server)
        self._gets = [one, *(one if shared else connect(server) for _ in range(at_once - 1))]
        self._team = ThreadPoolExecutor(at_once) if at_once > 1 else None

    def run(self, count: int) -> int:
        if self._team is None:
            return _many(self._gets[0], count)
        each = count // len(self._gets)
        return sum(self._team.map(_many, self._gets, [each] * len(self._gets)))

    def show(self) -> str:
        return "\t".join(self._gets[0]())


class Many:
    """Makes GETs with get_many(), several in flight on one thread."""

    def __init__(self, get_many: Callable[..., Iterator[Any]], at_once: int) -> None:
        self._get_many, self._at_once = get_many, at_once

    def _answers(self, count: int) -> Iterator[Answer]:
        for got in self._get_many([SUBSCRIPTION] * count, concurrency=self._at_once):
            yield got.value.id, got.value.reference_id, got.value.status

    def run(self, count: int) -> int:
        return sum(len(text) for answer in self._answers(count) for text in answer)

    def show(self) -> str:
        return "\t".join(*self._answers(1))


async def _many_async(get: AsyncGet, count: int) -> int:
    total = 0
    for _ in range(count):
        for text in await get():
            total += len(text)
    return total


class Async:
    """Makes concurrent GETs in tasks on one client and one loop."""

    def __init__(
        self,
        connect: Callable[[Server], Awaitable[AsyncGet]],
        server: Server,
        at_once: int,
        loop: Callable[[], asyncio.AbstractEventLoop] | None,
    ) -> None:
        self._runner = asyncio.Runner(loop_factory=loop)
        self._at_once = at_once
        self._get = self._runner.run(_awaited(connect(server)))

    async def _all(self, count: int) -> int:
        if self._at_once == 1:
            return await _many_async(self._get, count)
        each = count // self._at_once
        return sum(await asyncio.gather(*(_many_async(self._get, each) for _ in range(self._at_once))))

    def run(self, count: int) -> int:
        return self._runner.run(self._all(count))

    def show(self) -> str:
        return "\t".join(self._runner.run(_awaited(self._get())))


async def _awaited(what: Awaitable[T]) -> T:
    return await what
