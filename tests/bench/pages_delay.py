"""Measures how much later than the configured delay nginx starts an answer, as a control for the pages tables."""

from __future__ import annotations

import selectors
import socket
import time
from contextlib import ExitStack
from urllib.parse import urlsplit

from .tables import Row, Table
from .targets import PAGES


def _lateness(url: str, delay: int, at_once: int, count: int) -> list[float]:
    """Sends at least `count` HEAD requests, spread evenly over the delay. Returns for each request by how many
    milliseconds the time until nginx's answer exceeds the delay."""
    address = urlsplit(url)
    request = f"HEAD {address.path}/subscription/sub_1/orders?page=1 HTTP/1.1\r\nHost: bench\r\n\r\n".encode()
    out: list[float] = []
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.EpollSelector())
        sent: dict[socket.socket, float] = {}

        def send(one: socket.socket) -> None:
            sent[one] = time.perf_counter()
            one.sendall(request)

        for _ in range(at_once):
            one = stack.enter_context(socket.create_connection((address.hostname, address.port), 10))
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            selector.register(one, selectors.EVENT_READ)
            send(one)
            time.sleep(delay / 1000 / at_once)
        while len(out) < count + at_once:
            for key, _ in selector.select():
                ready = key.fileobj
                assert isinstance(ready, socket.socket)
                if not ready.recv(65536).startswith(b"HTTP/1.1 200"):
                    raise RuntimeError("the control received no answer")
                out.append((time.perf_counter() - sent[ready]) * 1e3 - delay)
                send(ready)
    # Skip the first answer on each connection: it was read only after all connections had been opened.
    return out[at_once:]


def table(base_urls: dict[int, str], count: int) -> Table:
    rows = []
    for delay, url in base_urls.items():
        for at_once in (1, 64) if delay else (1,):
            late = _lateness(url, delay, at_once, count if at_once == 1 else count * 8)
            label = f"answers after {delay} ms, {at_once} in flight" if delay else "plain nginx, 1 in flight"
            rows.append(Row(f"{delay}/{at_once}", label, late, {"max ms": max(late)}))
    title = "Control: from a request to the beginning of its answer, without the delay"
    return Table("pages/delay", title, "ms", None, rows, PAGES)
