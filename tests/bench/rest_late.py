"""Measures how long after its deadline a call ends, against servers that never finish an answer."""

from __future__ import annotations

import random
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from socketserver import BaseRequestHandler, ThreadingTCPServer

from .nginx import ACCOUNT
from .tables import Row, Table
from .targets import REST
from .turns import started

CLIENTS = {
    "raw": "raw libcurl easy",
    "cpp": "C++ Client",
    "c": "C billcore_client",
    "billcore": "billcore Client",
    "billcore_async": "billcore AsyncClient",
}
SERVERS = {"silent": "no answer", "drip": "a byte every 20 ms", "handshake": "no answer in the TLS handshake"}
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n{"


class Silent(BaseRequestHandler):
    def handle(self) -> None:
        with suppress(OSError):
            while self.request.recv(65536):
                pass


class Drip(BaseRequestHandler):
    def handle(self) -> None:
        with suppress(OSError):  # the client closes the connection
            self.request.recv(65536)
            self.request.sendall(HEAD)
            while True:
                self.request.sendall(b" ")
                time.sleep(0.02)


class Server(ThreadingTCPServer):
    daemon_threads = True

    def __init__(self, stack: ExitStack, handler: type[BaseRequestHandler]) -> None:
        super().__init__(("127.0.0.1", 0), handler)
        self.port = self.server_address[1]
        stack.enter_context(self)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        stack.callback(self.shutdown)


def _oversleep(milliseconds: int) -> float:
    """Sleeps for this long, and returns how many milliseconds after the requested time the sleep ended."""
    start = time.monotonic()
    time.sleep(milliseconds / 1000)
    return (time.monotonic() - start) * 1000 - milliseconds


def table(folder: Path, commands: dict[str, list[str]], times: dict[int, int]) -> Table:
    """Measures how late calls end. times: maps each time-out in milliseconds to the number of runs. After each round,
    the lateness of a plain sleep is measured as a control, because it shows whether the machine was busy."""
    with ExitStack() as stack:
        contestants = started(stack, folder, {key: commands[key] for key in CLIENTS})
        silent, drip = (Server(stack, handler).port for handler in (Silent, Drip))
        urls = {
            "silent": f"http://127.0.0.1:{silent}/{ACCOUNT}",
            "drip": f"http://127.0.0.1:{drip}/{ACCOUNT}",
            "handshake": f"https://127.0.0.1:{silent}/{ACCOUNT}",
        }
        pairs = [(key, server) for key in CLIENTS for server in SERVERS]
        samples: dict[tuple[str, str], list[float]] = {pair: [] for pair in pairs}
        control: list[float] = []
        for timeout, often in times.items():
            for _ in range(often):
                random.shuffle(pairs)
                for key, server in pairs:
                    samples[key, server].append(contestants[key].late(urls[server], timeout).wall / 1e6 - timeout)
                control.append(_oversleep(timeout))
    rows = [Row("control", "control: a sleep of that length", control, {"max ms": max(control)})]
    for (key, server), late in samples.items():
        rows.append(Row(f"{key}/{server}", f"{CLIENTS[key]}: {SERVERS[server]}", late, {"max ms": max(late)}))
    lengths = ", ".join(str(timeout) for timeout in times)
    title = f"How long after its deadline a call ends (time-outs of {lengths} ms)"
    return Table("rest/late", title, "ms", None, rows, REST, digits=1)
