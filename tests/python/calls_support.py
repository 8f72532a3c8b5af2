"""Calls a client in the same way whether it blocks or awaits on a loop of asyncio or uvloop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvloop

import billcore
from conformance.server import Script, ScriptedServer

from .support import options_for

LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}
KINDS = ("blocking", *LOOPS)
each_kind = pytest.mark.parametrize("kind", KINDS)
END = "the end of an iteration"


class Calls:
    """A client of one kind, with the functions that use its results."""

    def __init__(self, kind: str, server: ScriptedServer, **options: Any) -> None:
        settings = options_for(server, **options)
        self.runner = asyncio.Runner(loop_factory=LOOPS[kind]) if kind in LOOPS else None
        self.client: Any = billcore.Client(**settings) if self.runner is None else billcore.AsyncClient(**settings)

    def close(self) -> None:
        self.done(self.client.close())
        if self.runner is not None:
            self.runner.close()

    def done(self, result: Any) -> Any:
        """The result of a call: awaits it if the client does not block."""

        async def wait() -> Any:
            return await result

        return result if self.runner is None else self.runner.run(wait())

    def start(self, items: Any) -> Any:
        return iter(items) if self.runner is None else aiter(items)

    def step(self, iteration: Any) -> Any:
        """The next item of an iteration that start() returned, or END."""
        try:
            return next(iteration) if self.runner is None else self.done(anext(iteration))
        except (StopIteration, StopAsyncIteration):
            return END

    def all(self, items: Any, seen: list[Any] | None = None) -> list[Any]:
        """Reads the items one by one; those before an error are in `seen`."""
        iteration, seen = self.start(items), [] if seen is None else seen
        while (item := self.step(iteration)) is not END:
            seen.append(item)
        return seen

    def ids(self, pager: Any) -> list[Any]:
        return [item.id for item in self.all(pager)]


@contextmanager
def calling(kind: str, script: Script = (), **options: Any) -> Iterator[tuple[ScriptedServer, Calls]]:
    with ScriptedServer(script) as server:
        calls = Calls(kind, server, **options)
        try:
            yield server, calls
        finally:
            calls.close()
