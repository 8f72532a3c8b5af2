"""Helpers for the tests of AsyncClient: both event loops, a scripted server with a client, child programs."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

import pytest
import uvloop

import billcore
from conformance.server import Reply, Request, Script, ScriptedServer
from support.waiting import GENEROUS, until_awaited

from .support import options_for

T = TypeVar("T")
UNSENT = 0.2  # seconds after which a test concludes that the client sent no request


class Run(Protocol):
    """The type of asyncio.run() and uvloop.run()."""

    def __call__(self, main: Coroutine[Any, Any, T], /) -> T: ...


RUNNERS: dict[str, Run] = {"asyncio": asyncio.run, "uvloop": uvloop.run}
# Parametrizes a test over both event loops; the test takes the parameter `run`.
each_loop = pytest.mark.parametrize("run", RUNNERS.values(), ids=list(RUNNERS))


class WatchedServer(ScriptedServer):
    """A scripted server that counts the connections that have ended."""

    def __init__(self, script: Script) -> None:
        super().__init__(script)
        self.ended = 0
        self._counting = threading.Lock()

    def _serve(self, plain: socket.socket, number: int) -> None:
        super()._serve(plain, number)
        with self._counting:
            self.ended += 1


def new_client(server: ScriptedServer, **options: Any) -> billcore.AsyncClient:
    return billcore.AsyncClient(**options_for(server, **options))


@contextmanager
def serving(script: Script = (), **options: Any) -> Iterator[tuple[WatchedServer, billcore.AsyncClient]]:
    server = WatchedServer(script)
    with server:
        yield server, new_client(server, **options)


class Gate:
    """A script that holds every answer back until open() is called."""

    def __init__(self, reply: Callable[[Request], Reply]) -> None:
        self._reply = reply
        self._open = threading.Event()

    def __call__(self, request: Request) -> Reply:
        assert self._open.wait(GENEROUS)
        return self._reply(request)

    def open(self) -> None:
        self._open.set()


def silent(_: Request) -> Reply:
    """A script that never answers."""
    return Reply(raw=b"", ending="hang")


async def asked(server: ScriptedServer, count: int = 1) -> None:
    """Waits until the server has received `count` requests."""
    await until_awaited(lambda: len(server.requests) >= count)


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))
