"""Python clients that get a subscription. Only the benchmark's own environment has the libraries.

Each client uses its library as documented, with the library's defaults, parses the answer's JSON and reads three
fields.
pycurl, which is the limit for Python, does not parse the answer.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from functools import partial
from importlib import import_module
from typing import Any

from .pycurl_by_hand import Handle, Multi
from .rest_rows import PATH, SUBSCRIPTION, Answer, Async, AsyncGet, Blocking, Get, Many
from .rows import API_KEY, HEADERS, Row, Server

Connect = Callable[[Server], Get]
AsyncConnect = Callable[[Server], Awaitable[AsyncGet]]
Make = Callable[[Server, int], Row]


def _url(server: Server) -> str:
    return server.base_url + PATH


def _fields(answer: Any) -> Answer:
    data = answer["data"]
    return data["id"], data["reference_id"], data["status"]


def _options(server: Server) -> dict[str, Any]:
    return {"base_url": server.base_url, "api_key": API_KEY, "ca_bundle": server.ca_file, "http2": True}


def billcore(server: Server) -> Get:
    get = import_module("billcore").Client(**_options(server)).subscriptions.get

    def one() -> Answer:
        subscription = get(SUBSCRIPTION)
        return subscription.id, subscription.reference_id, subscription.status

    return one


async def billcore_async(server: Server) -> AsyncGet:
    get = (await import_module("billcore").AsyncClient(**_options(server)).__aenter__()).subscriptions.get

    async def one() -> Answer:
        subscription = await get(SUBSCRIPTION)
        return subscription.id, subscription.reference_id, subscription.status

    return one


def _billcore_many() -> Make:
    package = import_module("billcore")
    return lambda server, at_once: Many(package.Client(**_options(server)).subscriptions.get_many, at_once)


def requests(server: Server) -> Get:
    session = import_module("requests").Session()
    session.verify = server.ca_file
    session.headers.update(HEADERS)
    return lambda: _fields(session.get(_url(server)).json())


async def aiohttp(server: Server) -> AsyncGet:
    package = import_module("aiohttp")
    connector = package.TCPConnector(ssl=ssl.create_default_context(cafile=server.ca_file))
    session = package.ClientSession(connector=connector, headers=HEADERS)

    async def one() -> Answer:
        async with session.get(_url(server)) as response:
            return _fields(await response.json())

    return one


def _pycurl(server: Server, at_once: int) -> Row:
    if at_once > 1:
        return Multi(server, _url(server), at_once)
    handle = Handle(server, _url(server))
    return Blocking(lambda _: lambda: (handle.perform().decode(),), server, 1, True)


def _blocking(package: str, connect: Connect, shared: bool = True) -> Make:
    import_module(package)
    return lambda server, at_once: Blocking(connect, server, at_once, shared)


def _async(package: str, connect: AsyncConnect, loop: str | None = None) -> Make:
    import_module(package)
    factory = None if loop is None else import_module(loop).new_event_loop
    return lambda server, at_once: Async(connect, server, at_once, factory)


PEERS: dict[str, Callable[[], Make]] = {
    "billcore": partial(_blocking, "billcore", billcore),
    "billcore_many": _billcore_many,
    "billcore_async": partial(_async, "billcore", billcore_async),
    "billcore_uvloop": partial(_async, "billcore", billcore_async, "uvloop"),
    "pycurl": lambda: _pycurl,
    "requests": partial(_blocking, "requests", requests, False),  # a Session is not thread-safe
    "aiohttp": partial(_async, "aiohttp", aiohttp),
}


def _late(server: Server) -> Callable[[float], None]:
    package = import_module("billcore")
    client = package.Client(**_options(server))

    def late(seconds: float) -> None:
        try:
            client.subscriptions.get(SUBSCRIPTION, timeout=seconds)
        except package.TimeoutError:
            return
        raise RuntimeError("billcore.Client did not time out")

    return late


def _late_async(server: Server) -> Callable[[float], None]:
    package = import_module("billcore")
    runner = asyncio.Runner()

    async def begin() -> Any:
        return await package.AsyncClient(**_options(server)).__aenter__()

    client = runner.run(begin())

    async def late(seconds: float) -> None:
        try:
            await client.subscriptions.get(SUBSCRIPTION, timeout=seconds)
        except package.TimeoutError:
            return
        raise RuntimeError("billcore.AsyncClient did not time out")

    return lambda seconds: runner.run(late(seconds))


# The contenders that accept a time-out.
LATE: dict[str, Callable[[Server], Callable[[float], None]]] = {"billcore": _late, "billcore_async": _late_async}
