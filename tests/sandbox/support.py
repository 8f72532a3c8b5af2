"""Shared by the tests: a plain HTTP client, a webhook receiver, the command, and helpers of several files."""

from __future__ import annotations

import hashlib
import hmac
import http.client
import json
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from types import TracebackType
from typing import Any, Self
from urllib.parse import urlsplit

import msgspec

from billcore.testing import Account, Control, Delivery, Sandbox, SandboxAccount
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
    *arguments: str, module: str = MODULE, code: str | None = None
) -> Iterator[tuple[subprocess.Popen[str], Any]]:
    """A sandbox as a child process (or Python code that runs one), and its parsed ready line."""
    process = subprocess.Popen(
        [sys.executable, *(("-m", module) if code is None else ("-c", code)), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process, json.loads(process.stdout.readline())
    finally:
        process.kill()
        process.communicate(timeout=GENEROUS)


def of_ready(ready: Any) -> tuple[Service, Control]:
    """The first account of a sandbox with this ready line, and its control routes."""
    return Service(Account(ready["base_url"], ready["api_key"])), Control(ready["control_url"], timeout=GENEROUS)


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


HOST = "127.0.0.1"
CLOSED = "http://127.0.0.1:9/"  # no program listens there
CLOSE = b"CLOSE"


@dataclass
class Received:
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> Any:
        return json.loads(self.body)

    @property
    def sent(self) -> tuple[bytes, str]:
        return self.body, self.headers["Service-Signature"]


@dataclass
class Receiver:
    """A webhook receiver that answers each request with the next item of `script`, and after the last item with 200.

    An item is a status, or a list of chunks to send; the chunk CLOSE closes the connection instead. `connections` has
    the number of requests on each connection, and `most` the most requests that waited at the same time for open().
    Before it answers, the receiver calls `act` with the request.
    """

    script: list[int | list[bytes]] = field(default_factory=list)
    received: list[Received] = field(default_factory=list)
    connections: list[int] = field(default_factory=list)
    waiting: int = 0
    most: int = 0
    act: Callable[[Received], object] = lambda received: None

    def __post_init__(self) -> None:
        self._lock, self._opened = threading.Lock(), threading.Event()
        self._opened.set()

    def __enter__(self) -> Self:
        self._listener = socket.create_server((HOST, 0), backlog=1000)
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._opened.set()
        for each in (self._listener, *self._open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._listener.getsockname()[1]}/hook?shop=1"

    def hold(self) -> None:
        """Holds back all answers until open()."""
        self._opened.clear()

    def open(self) -> None:
        self._opened.set()

    def wait(self, count: int) -> list[Received]:
        """Waits for at least `count` requests; returns all received requests."""
        until(lambda: len(self.received) >= count)
        return self.received

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                wire = self._listener.accept()[0]
                self.connections.append(0)
                self._open.append(wire)
                threading.Thread(target=self._serve, args=(wire, len(self.connections) - 1), daemon=True).start()

    def _serve(self, wire: socket.socket, number: int) -> None:
        with suppress(OSError), wire, wire.makefile("rb") as file:
            while head := file.readline():
                headers: dict[str, str] = {}
                while (line := file.readline()) not in (b"\r\n", b""):
                    name, _, value = line.decode().rstrip("\r\n").partition(": ")
                    headers[name] = value
                body = file.read(int(headers["Content-Length"]))
                received = Received(head.split()[1].decode(), headers, body)
                with self._lock:
                    self.received.append(received)
                    self.connections[number] += 1
                    answer = self.script.pop(0) if self.script else 200
                    self.waiting += 1
                    self.most = max(self.most, self.waiting)
                self.act(received)
                self._opened.wait(GENEROUS)
                with self._lock:
                    self.waiting -= 1
                if isinstance(answer, int):
                    answer = [f"HTTP/1.1 {answer} X\r\nContent-Length: 2\r\n\r\nok".encode()]
                for chunk in answer:
                    if chunk == CLOSE:
                        return
                    wire.sendall(chunk)


@contextmanager
def account_of(**options: Any) -> Iterator[SandboxAccount]:
    """A new account without demo data, in a sandbox with these options."""
    with Sandbox(**{"delivery_timeout": GENEROUS, **options}) as sandbox:
        yield sandbox.new_account(demo=False)


def ended(control: Control) -> list[Delivery]:
    """Waits until no delivery is pending, even if some failed; returns all deliveries."""
    return control.wait_for_deliveries(GENEROUS, failed_ok=True)


def sign(body: bytes, secret: str) -> str:
    """The right signature for a delivery with this body."""
    return hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()


def make(control: Control, *names: str) -> list[Delivery]:
    """Creates products with these names; returns all deliveries, in every state."""
    for name in names:
        control.create_product(name)
    return control.deliveries()


def attempted(control: Control, *counts: int) -> None:
    """Waits until the deliveries have had these numbers of attempts."""
    until(lambda: [len(each["attempts"]) for each in control.deliveries()] == [*counts])


def states(control: Control) -> list[str]:
    """The states of all deliveries after their last attempt."""
    return [each["state"] for each in ended(control)]


def names(received: list[Received]) -> list[str]:
    """The names of the products whose events were received."""
    return [item.event["data"]["name"] for item in received]


def events(received: list[Received]) -> list[str]:
    """The names of the events that were received."""
    return [item.event["name"] for item in received]


def strict(value: Any, type_: Any) -> None:
    """Fails unless the value has the type, with all fields and no others."""
    shown = msgspec.to_builtins(msgspec.convert(value, type_), builtin_types=[datetime])
    assert _with_texts(shown) == value


def _with_texts(value: Any) -> Any:
    """The value with its times as text, in the sandbox's format."""
    if isinstance(value, dict):
        return {name: _with_texts(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_with_texts(each) for each in value]
    return value.isoformat() if isinstance(value, datetime) else value
