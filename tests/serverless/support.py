"""Shared by the tests: signed bodies, expectations, an HTTP sender, and real servers as child processes."""

from __future__ import annotations

import contextlib
import http.client
import importlib.util
import json
import os
import pickle
import re
import socket
import struct
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import pytest

import billcore
from billcore import webhooks
from billcore.testing import Delivery, Sandbox
from support.answer import Answer
from support.children import child_environment
from support.waiting import GENEROUS

SECRET = "0123456789abcdefghijklmnopqrstuv"
FORMER = "former-former-former-former-0000"
OTHER = "z" * 32
BODY = json.dumps(
    {
        "id": 9,
        "name": "order.paid",
        "account": 1,
        "created_at": "2025-04-25T10:00:00Z",
        "data": {"reference_id": "Åse €"},
    },
    ensure_ascii=False,
).encode()
SIGNATURE = webhooks.sign(BODY, SECRET)
HEADER = "Service-Signature"
_FILE = Path(__file__).resolve().parents[1] / "fixtures" / "deliveries.json"
# Bodies with the status of each receiver's answer, for all languages.
DELIVERIES: list[dict[str, Any]] = json.loads(_FILE.read_text())["deliveries"]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "serverless"
APPS = Path(__file__).resolve().parent / "apps"


@contextlib.contextmanager
def refused(
    kind: type[billcore.BillcoreError], text: str = "", *, exactly: bool = True
) -> Iterator[pytest.ExceptionInfo[billcore.BillcoreError]]:
    """Expects an error of (exactly) this class, in one line that contains `text` and no secret."""
    with pytest.raises(kind) as caught:
        yield caught
    assert type(caught.value) is kind or not exactly
    message = str(caught.value)
    assert re.search(text, message), message
    assert message and "\n" not in message and len(message) < 250
    for hidden in (SIGNATURE, SECRET, "order.paid", "reference_id"):
        assert hidden not in message


@contextlib.contextmanager
def signature_refused(reason: str, text: str = "") -> Iterator[pytest.ExceptionInfo[billcore.BillcoreError]]:
    kinds = {"disconnected": billcore.ConnectionError, "timeout": billcore.TimeoutError}
    statuses = {
        "body_too_large": 413,
        "missing": 401,
        "malformed": 400,
        "mismatch": 401,
        "disconnected": 499,
        "timeout": 408,
    }
    with refused(webhooks.SignatureError, text, exactly=reason not in kinds) as caught:
        yield caught
    assert isinstance(caught.value, webhooks.SignatureError)
    assert (caught.value.reason, caught.value.http_status) == (reason, statuses[reason])
    assert isinstance(caught.value, kinds.get(reason, webhooks.SignatureError))
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.http_status) == (str(caught.value), statuses[reason])


def post(
    port: int, body: bytes | Iterator[bytes], headers: Sequence[tuple[str, str]] = (), path: str = "/webhooks"
) -> Answer:
    """Sends one request, with chunked transfer encoding if the body is an iterator of pieces."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=GENEROUS)
    try:
        connection.putrequest("POST", path)
        for name, value in headers:
            connection.putheader(name, value)
        chunked = not isinstance(body, bytes)
        if isinstance(body, bytes):
            connection.putheader("Content-Length", str(len(body)))
        else:
            connection.putheader("Transfer-Encoding", "chunked")
        connection.endheaders(body, encode_chunked=chunked)
        response = connection.getresponse()
        return Answer.read(response)
    finally:
        connection.close()


def half_body(port: int, sent: int = 11, *, chunked: bool = False) -> socket.socket:
    """Sends a request's head and the beginning of its body; the answer can be read from the returned connection."""
    connection = socket.create_connection(("127.0.0.1", port), GENEROUS)
    length = "Transfer-Encoding: chunked" if chunked else f"Content-Length: {len(BODY)}"
    head = f"POST /webhooks HTTP/1.1\r\nHost: x\r\n{HEADER}: {SIGNATURE}\r\n{length}\r\n\r\n"
    chunk = f"{sent:x}\r\n" if chunked else ""  # the line end after the chunk's data is not sent
    connection.sendall((head + chunk).encode() + BODY[:sent])
    return connection


def read_all(connection: socket.socket) -> str:
    with connection, connection.makefile("rb") as stream:
        return stream.read().decode()


def disconnect(connection: socket.socket, *, reset: bool) -> None:
    if reset:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def post_head(port: int, length: int) -> Answer:
    """Announces `length` bytes, sends none, and waits for the answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=GENEROUS)
    try:
        connection.putrequest("POST", "/webhooks")
        connection.putheader("Content-Length", str(length))
        connection.putheader(HEADER, SIGNATURE)
        connection.endheaders()
        response = connection.getresponse()
        return Answer.read(response)
    finally:
        connection.close()


class ServerProcess:
    """A web server as users start it. The server inherits a listening socket, so clients connect at once."""

    def __init__(self, command: Sequence[str], folder: Path, secret: str, **environment: str) -> None:
        self._output = tempfile.TemporaryFile()  # noqa: SIM115  used until the child exits
        with socket.create_server(("127.0.0.1", 0)) as listening:
            self.port: int = listening.getsockname()[1]
            self.url = f"http://127.0.0.1:{self.port}/webhooks"
            number = listening.fileno()
            self._process = subprocess.Popen(
                [sys.executable, "-m", *(part.format(fd=number) for part in command)],
                cwd=folder,
                env=child_environment(WEBHOOK_SECRET=secret, PYTHONUNBUFFERED="1", **environment),
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=subprocess.STDOUT,
                pass_fds=[number],
            )

    def output(self) -> str:
        """The server's output so far; read with pread, because the child writes at the shared file offset."""
        return os.pread(self._output.fileno(), 1 << 20, 0).decode("utf-8", "replace")

    def __enter__(self) -> Self:
        try:
            post(self.port, b"", path="/nothing")  # returns when the server has started
        except BaseException as error:
            error.add_note(self.output())
            self.close()
            raise
        return self

    def close(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._output.close()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            error.add_note(self.output())
        self.close()


UVICORN = ["uvicorn", "--fd", "{fd}", "--no-access-log"]
GUNICORN = ["gunicorn", "--bind", "fd://{fd}", "--workers", "1", "--no-control-socket"]


def event_lines(output: str) -> list[tuple[str, str]]:
    """(name, id) of each event that a handler printed; the id is "" for test.hook, whose id is not reliable."""
    return [(name, number) for name, number in re.findall(r"^([a-z-]+\.[a-z]+)(?: (\S+))?$", output, re.M)]


def event_line(delivery: Delivery) -> tuple[str, str]:
    """The expected item of event_lines() for this delivery."""
    return delivery["event"], "" if delivery["event"] == "test.hook" else str(delivery["id"])


def load(path: Path) -> Any:
    """Imports a file that does not belong to a package. The environment must have WEBHOOK_SECRET."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def deliver_events(sandbox: Sandbox, url: str) -> list[Delivery]:
    """Registers the URL, causes three events, and returns their deliveries after all attempts."""
    with billcore.Client(base_url=sandbox.base_url, api_key=sandbox.api_key) as client:
        client.webhook_endpoints.create(url=url)
        subscription = client.subscriptions.list(reference_id="demo-active").first()
        product = next(product for product in client.products.list() if product.type == "one_time")
        assert subscription is not None
        client.subscriptions.charge(subscription.id, product_id=product.id, amount=1500)
    sandbox.control.test_hook(data={"note": "Åse €"})
    return sandbox.control.wait_for_deliveries(GENEROUS, failed_ok=True)
