"""Starts the receivers of examples/inbox as a user does, each with a database."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from billcore import testing
from journal.support import PostgresDatabase
from serverless.gateways import gateway_event
from serverless.support import GUNICORN, HEADER, UVICORN, ServerProcess, post
from support.children import child_environment
from support.ports import reserve_port
from support.waiting import GENEROUS, until

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "inbox"
THREADS = ["--threads", "4"]
FORMER = "former-former-former-former-0000"  # while a secret is being replaced, receivers have two


class Send:
    """Sends a body with its signature to a receiver; returns the status of the answer.

    Args:
        send: Does so.
        output: Returns what the receiver has printed so far.
        port: The receiver's port; None for a function without a server.
    """

    def __init__(self, send: Callable[[bytes, str], int], output: Callable[[], str], port: int | None = None) -> None:
        self._send = send
        self.output = output
        self.port = port

    def __call__(self, body: bytes, signature: str) -> int:
        return self._send(body, signature)

    @classmethod
    def over_http(cls, port: int, output: Callable[[], str]) -> Send:
        return cls(lambda body, signature: post(port, body, [(HEADER, signature)]).status, output, port)


@contextlib.contextmanager
def server(database: PostgresDatabase, command: list[str], *, asynchronous: bool = False) -> Iterator[Send]:
    """Runs an application in uvicorn or gunicorn."""
    environment = {
        "DATABASE_URL": database.url(asynchronous=asynchronous),
        "PGHOST": database.server.host,
        "PGPORT": str(database.server.port),
        "PGUSER": "postgres",
        "PGDATABASE": database.name,
    }
    with ServerProcess(command, EXAMPLES, f"{testing.SECRET},{FORMER}", **environment) as process:
        yield Send.over_http(process.port, process.output)


LAMBDA = """
import json, sys, traceback, aws_lambda
for line in sys.stdin:
    try:
        print(aws_lambda.handler(json.loads(line), None)["statusCode"], flush=True)
    except Exception:
        traceback.print_exc()
        print(502, flush=True)
"""


@contextlib.contextmanager
def function(database: PostgresDatabase) -> Iterator[Send]:
    """Runs the Lambda handler in two processes. As in AWS Lambda, each process handles one invocation at a time."""
    environment = child_environment(WEBHOOK_SECRET=f"{testing.SECRET},{FORMER}", DATABASE_URL=database.conninfo())
    command, pipe = [sys.executable, "-c", LAMBDA], subprocess.PIPE
    idle: queue.SimpleQueue[subprocess.Popen[str]] = queue.SimpleQueue()

    def send(body: bytes, signature: str) -> int:
        process = idle.get(timeout=GENEROUS)
        assert process.stdin is not None and process.stdout is not None
        print(json.dumps(gateway_event("http-v2", [(HEADER, signature)], body)), file=process.stdin, flush=True)
        status = int(process.stdout.readline())
        idle.put(process)
        return status

    with contextlib.ExitStack() as stack:
        errors = stack.enter_context(tempfile.TemporaryFile())
        for _ in range(2):
            process = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=errors, text=True, cwd=EXAMPLES, env=environment
            )
            stack.enter_context(process)  # at the end, Popen closes stdin, and the process exits
            idle.put(process)
        yield Send(send, lambda: os.pread(errors.fileno(), 1 << 20, 0).decode())


@contextlib.contextmanager
def program(database: PostgresDatabase, file: str) -> Iterator[Send]:
    """Runs a program that was built from Go or Rust, with the address to listen on as its argument."""
    reserved = reserve_port()
    port: int = reserved.getsockname()[1]
    url = f"postgres://postgres@/{database.name}?host={database.server.host}&port={database.server.port}"
    environment = {
        **os.environ,
        "WEBHOOK_SECRET": f"{testing.SECRET},{FORMER}",
        "DATABASE_URL": f"{url}&sslmode=disable",
    }

    def listens() -> bool:
        assert process.poll() is None, output.seek(0) or output.read()
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), GENEROUS).close()
            return True
        return False

    with reserved, tempfile.TemporaryFile("w+") as output:
        process = subprocess.Popen([file, f"127.0.0.1:{port}"], env=environment, stdout=output, stderr=output)
        try:
            until(listens)
            yield Send.over_http(port, lambda: os.pread(output.fileno(), 1 << 20, 0).decode())
        finally:
            process.kill()
            process.wait()


RECEIVERS: dict[str, Callable[[PostgresDatabase], contextlib.AbstractContextManager[Send]]] = {
    "fastapi": lambda database: server(database, [*UVICORN, "fastapi_sync:app"]),
    "fastapi_async": lambda database: server(database, [*UVICORN, "fastapi_async:app"], asynchronous=True),
    "hypercorn": lambda database: server(
        database, ["hypercorn", "--bind", "fd://{fd}", "fastapi_async:app"], asynchronous=True
    ),
    "flask": lambda database: server(database, [*GUNICORN, *THREADS, "flask_app:app"]),
    "django": lambda database: server(database, [*GUNICORN, *THREADS, "django_app:application"]),
    "lambda": function,
    "go": lambda database: program(database, os.environ["BILLCORE_INBOX_GO"]),
    "rust": lambda database: program(database, os.environ["BILLCORE_INBOX_RUST"]),
}
