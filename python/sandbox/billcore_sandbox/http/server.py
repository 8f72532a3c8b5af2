"""Runs the sandbox: binds a port, prints the ready line, serves until a signal (or the end of standard input)."""

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
from functools import cache
from typing import TYPE_CHECKING, Any

from uvicorn.config import Config
from uvicorn.server import Server

from billcore_sandbox import __version__
from billcore_sandbox.control import app as control
from billcore_sandbox.control.routes import PREFIX
from billcore_sandbox.errors import Refusal, invalid
from billcore_sandbox.history import Lines
from billcore_sandbox.http.answers import Receive, Scope, Send, whole
from billcore_sandbox.http.guard import check_host, reject
from billcore_sandbox.http.protocol import SandboxProtocol
from billcore_sandbox.http.recorder import Recorder
from billcore_sandbox.openapi import document
from billcore_sandbox.options import Options
from billcore_sandbox.page import missing
from billcore_sandbox.seed_file import SeedFileError
from billcore_sandbox.service.calls import Reply, reply
from billcore_sandbox.service.endpoints import register, valid_url
from billcore_sandbox.service.patterns import check_errors
from billcore_sandbox.store import StoreError
from billcore_sandbox.world import World

if TYPE_CHECKING:
    from billcore_sandbox.page.app import Application

EXIT_FAILED = 1


_PLAIN = {
    "/": f"""billcore sandbox {__version__}: a billing service on localhost.

/                 in a browser: everything that happens, and buttons for every action
/healthz          answers ok when the service is ready
/_sandbox/        the control routes: clock, accounts, scenarios, faults, deliveries, ledger
/openapi.json     the service as an OpenAPI document; /_sandbox/openapi.json has the control routes too
/_sandbox/state   what the sandbox holds, and the UUIDs of its accounts
/ACCOUNT/…        the service itself, below the base URL of an account, with its API key in X-API-KEY
""",
    "/healthz": "ok\n",
}


class _Server(Server):
    """uvicorn's server; after a signal it exits with status 0, and does not wait for delayed answers."""

    def __init__(self, config: Config, closing: asyncio.Event, world: World) -> None:
        super().__init__(config)
        self._closing = closing
        self._world = world

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        # uvicorn's own method raises the signal again after the shutdown, and the signal then ends the process.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self.handle_exit)
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._world.start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._closing.set()
        self._world.stop()
        await super().shutdown(sockets)


def run(options: Options) -> int:
    """Serve until a signal, or until standard input ends; returns the exit status."""
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING, format="billcore sandbox: %(message)s")
    if options.log is not None:
        for handler in logging.getLogger().handlers:
            handler.setFormatter(Lines())
    try:
        check_errors(options)
        world = World(options)
    except (StoreError, SeedFileError) as error:
        return _failed(str(error))
    except Refusal as error:
        return _failed(f"--errors: {error.message}")
    with contextlib.closing(world.store):
        try:
            listener = _bind(options)
            secrets = {url: _receiver(world, url) for url in options.deliver}
        except OSError as error:
            where = f"{options.host} port {options.port}"
            return _failed(f"cannot listen on {where}: {error.strerror}; give another --port")
        except Refusal as error:
            return _failed(error.message)
        asyncio.run(_serve(world, listener, options, secrets))
    return 0


def _failed(message: str) -> int:
    print(f"billcore sandbox: {message}", file=sys.stderr)
    return EXIT_FAILED


def _receiver(world: World, url: str) -> str:
    """Register the receiver of --deliver, unless an earlier run stored it in the database file; returns its secret."""
    first = world.store.accounts[0]
    known = world.store.one("SELECT secret FROM endpoints WHERE account = ? AND url = ?", first.number, url)
    if not valid_url(url):
        raise invalid(f"--deliver {url} is not an absolute http or https URL.")
    secret = register(world, first, url)[1] if known is None else str(known["secret"])
    world.after_reset.append(lambda: register(world, world.store.accounts[0], url, secret))
    return secret


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


async def _serve(world: World, listener: socket.socket, options: Options, secrets: dict[str, str]) -> None:
    closing = asyncio.Event()
    recorder = Recorder(world, closing)

    @cache
    def pages() -> Application:
        from billcore_sandbox.page.app import Application  # only when someone looks: it needs more modules

        return Application(world)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if f"{path}/".startswith(f"{PREFIX}/"):
            await control.serve(world, scope, receive, send)
        elif path.startswith("/_page/") or (path == "/" and _is_browser(scope)):
            if (lacking := missing()) is None:
                await pages()(scope, receive, send)
            else:
                # A form that was not performed must not look as if it was.
                await page("/", scope, send, f"\nThe page for browsers needs {lacking}.\n", 200 if path == "/" else 503)
        elif path in _PLAIN or path == "/openapi.json":
            await page(path, scope, send)
        else:
            await recorder(scope, receive, send)

    async def page(path: str, scope: Scope, send: Send, more: str = "", status: int = 200) -> None:
        try:
            check_host(options, scope)
        except Refusal as error:
            reject(scope, error)
            return
        if path in _PLAIN:
            await whole(send, Reply(status, (_PLAIN[path] + more).encode(), content_type="text/plain; charset=utf-8"))
        else:
            await whole(send, reply(document(options, world.store.accounts[0].uuid)))

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
    # The socket already listens, so a program that has read the ready line can connect.
    ready = _ready_line(world, listener, secrets)
    print(_banner(ready) if sys.stdout.isatty() else json.dumps(ready), flush=True)
    await server.serve(sockets=[listener])


def _is_browser(scope: Scope) -> bool:
    """Whether a browser sent the request, or htmx in a browser."""
    return any(
        name == b"hx-request" or (name == b"accept" and b"text/html" in value) for name, value in scope["headers"]
    )


def _watch_stdin(server: Server) -> None:
    """Stop the server when standard input ends, because then the parent process has ended."""
    with contextlib.suppress(OSError):
        while os.read(0, 4096):
            pass
    server.should_exit = True


def _ready_line(world: World, listener: socket.socket, secrets: dict[str, str]) -> dict[str, Any]:
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
        "control_url": f"{origin}{PREFIX}",
        "pid": os.getpid(),
        "accounts": accounts,
        **({"endpoints": [{"url": url, "secret": secret} for url, secret in secrets.items()]} if secrets else {}),
    }


def _banner(ready: dict[str, Any]) -> str:
    """The text that is printed on a terminal instead of the JSON line."""
    lines = [
        "The billing service is ready. Ctrl-C stops it.",
        f"In a browser: {ready['control_url'].removesuffix(PREFIX)}/",
        "In another shell:",
        "",
        f"export BILLCORE_BASE_URL={ready['base_url']}",
        f"export BILLCORE_API_KEY={ready['api_key']}",
        f"export BILLCORE_SANDBOX_CONTROL={ready['control_url']}",
    ]
    lines += [
        f"export BILLCORE_WEBHOOK_SECRET={each['secret']}  # {each['url']}" for each in ready.get("endpoints", [])
    ]
    return "\n".join([*lines, "", "billcore-sandbox trigger renewal-fails   # runs a scenario", ""])
