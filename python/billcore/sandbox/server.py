"""Runs the sandbox: binds, prints the ready line, serves until a signal (or the end of standard input)."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import json
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator

from starlette.types import Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.server import Server

from billcore.sandbox import control, service
from billcore.sandbox.options import Options
from billcore.sandbox.protocol import SandboxProtocol
from billcore.sandbox.recorder import Recorder
from billcore.sandbox.store import StoreError
from billcore.sandbox.world import World

EXIT_FAILED = 1


class _Server(Server):
    """uvicorn's server, ended by a signal with status 0 and without waiting for delayed answers."""

    def __init__(self, config: Config, closing: asyncio.Event, world: World) -> None:
        super().__init__(config)
        self._closing = closing
        self._world = world

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn raises the signal again at the end, which would make a clean end look like a crash.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.handle_exit)
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._world.dispatcher.resume()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._closing.set()
        self._world.dispatcher.drop()
        await super().shutdown(sockets)


def run(options: Options) -> int:
    """Serve until told to end; returns the exit status."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="billcore sandbox: %(message)s")
    try:
        world = World(options)
    except StoreError as error:
        print(f"billcore sandbox: {error}", file=sys.stderr)
        return EXIT_FAILED
    try:
        listener = _bind(options)
    except OSError as error:
        where = f"{options.host} port {options.port}"
        print(f"billcore sandbox: cannot listen on {where}: {error.strerror}; give another --port", file=sys.stderr)
        return EXIT_FAILED
    try:
        asyncio.run(_serve(world, listener, options))
    finally:
        world.store.close()
    return 0


def _bind(options: Options) -> socket.socket:
    family, kind, protocol, _, address = socket.getaddrinfo(
        options.host, options.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(256)
    except OSError:
        listener.close()
        raise
    return listener


async def _serve(world: World, listener: socket.socket, options: Options) -> None:
    closing = asyncio.Event()
    recorder = Recorder(world, service.build(world), closing)
    controls = control.build(world)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        chosen = controls if path == control.PREFIX or path.startswith(control.PREFIX + "/") else recorder
        await chosen(scope, receive, send)

    config = Config(
        app,
        http=SandboxProtocol,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        log_level="warning",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=1,
    )
    server = _Server(config, closing, world)
    if options.exit_with_stdin:
        threading.Thread(target=_watch_stdin, args=(server,), daemon=True).start()
    # The socket listens already: whoever reads the line can connect.
    print(json.dumps(_ready_line(world, listener)), flush=True)
    await server.serve(sockets=[listener])


def _watch_stdin(server: Server) -> None:
    """End when the other end of standard input closes: the process that started us is gone."""
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    server.should_exit = True


def _ready_line(world: World, listener: socket.socket) -> dict[str, object]:
    host, port = listener.getsockname()[:2]
    address = ipaddress.ip_address(host)
    if address.is_unspecified:
        address = ipaddress.ip_address("127.0.0.1" if address.version == 4 else "::1")
    origin = f"http://{address}:{port}" if address.version == 4 else f"http://[{address}]:{port}"
    accounts = [
        {"base_url": f"{origin}/{account.uuid}", "api_key": account.api_key} for account in world.store.accounts
    ]
    return {
        "base_url": accounts[0]["base_url"],
        "api_key": accounts[0]["api_key"],
        "control_url": f"{origin}{control.PREFIX}",
        "pid": os.getpid(),
        "accounts": accounts,
    }
