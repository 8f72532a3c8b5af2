"""Runs a job of a program in a process of its own, for bad_days.py: worker.py PROGRAM JOB

The job's arguments are a line of JSON on standard input, and its result is a line of JSON on standard output.
"""

from __future__ import annotations

import importlib
import json
import sys
import threading
import time
from collections.abc import Iterable
from socketserver import ThreadingMixIn
from typing import Any, Protocol
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

PATIENCE = 20.0  # seconds that a job goes on


class Billing(Protocol):
    def orders(self, subscription: str, per_page: int) -> Iterable[Any]: ...
    def subscription(self, subscription: str) -> Any: ...
    def charge(self, key: str, subscription: str, product: int, cents: int) -> str | float: ...


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True
    request_queue_size = 128


class Handler(WSGIRequestHandler):
    timeout = 10.0  # seconds for each read of a request

    def log_message(self, format: str, *args: object) -> None:
        pass


def charge(
    program: Any,
    billing: Billing,
    result: dict[str, Any],
    invoices: list[tuple[str, str, int]],
    patience: float = PATIENCE,
) -> None:
    """Charges each invoice once, and calls again for as long as the program says so."""
    result["orders"] = orders = {}
    end = time.monotonic() + patience
    for key, subscription, product in invoices:
        made = billing.charge(key, subscription, product, 1500)
        while not isinstance(made, str) and time.monotonic() + made < end:
            time.sleep(made)
            made = billing.charge(key, subscription, product, 1500)
        orders[key] = made


def orders(program: Any, billing: Billing, result: dict[str, Any], subscription: str) -> None:
    result["listed"] = listed = []
    for order in billing.orders(subscription, per_page=10):
        listed.append(str(order["id"]))


def read(program: Any, billing: Billing, result: dict[str, Any], subscription: str) -> None:
    result["read"] = billing.subscription(subscription)["id"]


def receive(program: Any, billing: Billing, result: dict[str, Any], secrets: list[str], port: int) -> None:
    """Receives webhooks until standard input ends."""
    with Server(("127.0.0.1", port), Handler) as server:
        server.set_app(program.Receiver(secrets, billing))
        print(json.dumps({"port": server.server_port}), flush=True)
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        sys.stdin.read()
        server.shutdown()


def main() -> None:
    program = importlib.import_module(sys.argv[1])
    job = {each.__name__: each for each in (charge, orders, read, receive)}[sys.argv[2]]
    given = json.loads(sys.stdin.readline())
    result: dict[str, Any] = {"error": None}
    billing = program.Billing(**given.pop("billing"))
    begun = time.monotonic()
    try:
        job(program, billing, result, **given)
    except Exception as error:
        result["error"] = f"{type(error).__name__}: {error}"
    result["seconds"] = time.monotonic() - begun
    with open("/proc/self/status", encoding="ascii") as status:
        result["peak"] = next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM"))
    print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
