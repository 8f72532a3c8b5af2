"""Shared by the tests: a plain HTTP client, a webhook receiver, and the command. Standard library only."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

from billcore.testing import Account, Control, Delivery, Sandbox
from support.answer import Answer
from support.waiting import GENEROUS, until

UNSET: Any = object()
MODULE = "billcore_sandbox"


def run(
    *arguments: str, module: str = MODULE, code: str | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs the sandbox's command (or another module, or Python code) to its end."""
    command = [sys.executable, "-c", code] if code is not None else [sys.executable, "-m", module]
    return subprocess.run(
        [*command, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=GENEROUS, env=env
    )


def refused(*arguments: str, status: int = 1, env: Mapping[str, str] | None = None) -> str:
    """Runs the sandbox's command, which must end with one line on stderr and nothing on stdout; returns the line."""
    done = run(*arguments, env=env)
    assert (done.returncode, done.stdout) == (status, ""), done.stderr
    assert done.stderr.count("\n") == 1 and "Traceback" not in done.stderr, done.stderr
    return done.stderr.rstrip("\n")


@contextmanager
def started(
    *arguments: str, module: str = MODULE, most_bytes: int | None = None
) -> Iterator[tuple[subprocess.Popen[str], Any]]:
    """A sandbox as a child process, and its parsed ready line. most_bytes: size limit of files that it writes."""

    def limit() -> None:
        if most_bytes is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))

    process = subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=limit,
    )
    try:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.communicate(timeout=GENEROUS)


class Service:
    """Sends requests to the service as one account, each over a new connection."""

    def __init__(self, account: Account) -> None:
        self.base_url = account.base_url
        self.api_key = account.api_key
        parts = urlsplit(account.base_url)
        assert parts.hostname is not None
        self.host, self.port, self.root = parts.hostname, parts.port, parts.path
        self.account = parts.path.strip("/")

    def send(
        self,
        method: str,
        path: str,
        body: Any = UNSET,
        *,
        headers: dict[str, str] | None = None,
        raw: bytes | None = None,
    ) -> Answer:
        """path: appended unchanged to the base URL. body: sent as JSON. raw: sent unchanged. Omits empty headers."""
        sent = {"X-API-KEY": self.api_key}
        if body is not UNSET:
            raw = json.dumps(body).encode()
        if raw is not None:
            sent["Content-Type"] = "application/json"
        sent.update(headers or {})
        connection = http.client.HTTPConnection(self.host, self.port or 80, timeout=GENEROUS)
        try:
            wanted = {name: value for name, value in sent.items() if value != ""}
            connection.request(method, self.root + path, raw, wanted)
            response = connection.getresponse()
            return Answer.read(response)
        finally:
            connection.close()

    def get(self, path: str) -> Answer:
        return self.send("GET", path)

    def post(self, path: str, body: Any = UNSET) -> Answer:
        return self.send("POST", path, body)

    def subscription(self, reference_id: str) -> dict[str, Any]:
        found = self.get(f"/subscriptions?filter%5Breference_id%5D={reference_id}").data
        assert len(found) == 1
        return dict(found[0])

    def products(self) -> list[dict[str, Any]]:
        first = self.get("/products").json
        pages = [self.get(f"/products?page={page + 1}").data for page in range(1, first["pagination"]["total_pages"])]
        return [*first["data"], *(product for page in pages for product in page)]

    def product(self, kind: str = "one_time") -> dict[str, Any]:
        return next(product for product in self.get("/products").data if product["type"] == kind)

    def charge(self, reference_id: str = "demo-active", **fields: Any) -> Answer:
        subscription = self.subscription(reference_id)
        return self.post(
            f"/subscription/{subscription['id']}/order", {"product_id": self.product()["id"], "amount": 1500, **fields}
        )


def account(sandbox: Sandbox, index: int = 0) -> Service:
    return Service(sandbox.accounts[index])


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> Any:
        return json.loads(self.body)


@dataclass
class Receiver:
    """A real listener that answers with the statuses of `script`, one per request, then with 200."""

    script: list[int] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)

    def __enter__(self) -> Self:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.received.append(Received(self.path, dict(self.headers.items()), body))
                self.send_response(receiver.script.pop(0) if receiver.script else 200)
                self.send_header("Content-Length", "2")
                self.end_headers()
                self.wfile.write(b"ok")

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/hook?shop=1"

    def wait(self, count: int) -> list[Received]:
        """Waits for at least `count` requests; returns all received requests."""
        until(lambda: len(self.received) >= count)
        return self.received


class Gate:
    """A receiver that holds back all answers until open(), and counts the requests that wait at the same time."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=1000)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/"
        self.waiting = self.connections = 0
        self.most = 0
        self._lock, self._opened = threading.Lock(), threading.Event()
        threading.Thread(target=self._accept, daemon=True).start()

    def open(self) -> None:
        self._opened.set()

    def close(self) -> None:
        self._opened.set()
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                wire = self._listener.accept()[0]
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(wire,), daemon=True).start()

    def _serve(self, wire: socket.socket) -> None:
        with wire, wire.makefile("rb") as file:
            while file.readline():
                length = 0
                while (line := file.readline()) not in (b"\r\n", b""):
                    name, _, value = line.decode().partition(":")
                    length = int(value) if name.lower() == "content-length" else length
                file.read(length)
                with self._lock:
                    self.waiting += 1
                    self.most = max(self.most, self.waiting)
                self._opened.wait(GENEROUS)
                with self._lock:
                    self.waiting -= 1
                wire.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")


@contextmanager
def gate() -> Iterator[Gate]:
    made = Gate()
    try:
        yield made
    finally:
        made.close()


def ended(control: Control) -> list[Delivery]:
    """Waits until no delivery is pending, even if some failed; returns all deliveries."""
    until(lambda: all(each["state"] != "pending" for each in control.deliveries()))
    return control.deliveries()


def sign(body: bytes, secret: str) -> str:
    """The right signature for a delivery with this body."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def make(control: Control, *names: str) -> list[Delivery]:
    """Creates products with these names; returns all deliveries, in every state."""
    for name in names:
        control.create_product(name)
    return control.deliveries()


def names(received: list[Received]) -> list[str]:
    """The names of the products whose events were received."""
    return [item.event["data"]["name"] for item in received]
