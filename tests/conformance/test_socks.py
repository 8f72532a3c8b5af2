"""Tests SOCKS proxies: the proxy resolves the host, what the proxy receives, and the error for each refusal."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import pytest

from .drivers import Driver
from .tcp import TcpServer, tunnel
from .test_tls import GET, POST, Server

CALLS = {"get": GET, "charge": POST}
HOST = "billing.example"


@dataclass(frozen=True)
class Asked:
    host: str
    port: int
    user: str = ""
    password: str = ""


class SocksServer(TcpServer):
    """A SOCKS 5 proxy whose tunnels all end at one local port, and which records its requests.

    refuse: error code to send instead of opening a tunnel. user: the only accepted user name and password.
    """

    def __init__(self, target: int, *, refuse: int | None = None, user: tuple[str, str] | None = None) -> None:
        self._target = target
        self._refuse = refuse
        self._user = user
        self.asked: list[Asked] = []
        super().__init__(self._converse)

    def _converse(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError, IndexError):
            if self._ask(connection, connection.makefile("rb")):
                with socket.create_connection(("127.0.0.1", self._target)) as server:
                    tunnel(connection, server)
            else:
                while connection.recv(4096):  # closing with unread input would send a reset
                    pass

    def _ask(self, connection: socket.socket, asked: BinaryIO) -> bool:
        assert asked.read(1) == b"\5"
        methods = asked.read(asked.read(1)[0])
        method = 0 if self._user is None else 2
        if method not in methods:
            connection.sendall(b"\5\xff")
            return False
        connection.sendall(bytes([5, method]))
        user = password = ""
        if method == 2:
            assert asked.read(1) == b"\1"
            user, password = (asked.read(asked.read(1)[0]).decode() for _ in range(2))
            right = (user, password) == self._user
            connection.sendall(b"\1\0" if right else b"\1\1")
            if not right:
                return False
        if asked.read(4) != b"\5\1\0\3":  # connect to a host name
            return False
        host = asked.read(asked.read(1)[0]).decode()
        port = int.from_bytes(asked.read(2), "big")
        self.asked.append(Asked(host, port, user, password))
        connection.sendall(bytes([5, self._refuse or 0, 0, 1]) + bytes(6))
        return self._refuse is None


Start = Callable[..., SocksServer]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("socks"), HOST)
    yield running
    running.shutdown()


@pytest.fixture
def start(server: Server) -> Iterator[Start]:
    """Returns a function that starts a proxy whose tunnels end at the server."""
    started: list[SocksServer] = []

    def begin(**options: Any) -> SocksServer:
        started.append(SocksServer(server.server_address[1], **options))
        return started[-1]

    yield begin
    for proxy in started:
        proxy.close()


def _client(server: Server, proxy: str) -> dict[str, Any]:
    certificate = str(server.certificate)
    return server.client(base_url=f"https://{HOST}/acct", ca_bundle=certificate, max_retries=0, proxy=proxy)


@pytest.mark.parametrize("call", CALLS)
def test_user_and_password(driver: Driver, server: Server, start: Start, call: str) -> None:
    """The host is known to the proxy alone."""
    proxy = start(user=("us:er", "s3cr@t"))
    client = _client(server, f"socks5h://us%3Aer:s3cr%40t@127.0.0.1:{proxy.port}")
    assert driver.run({**CALLS[call], "client": client}) == {"ok": {"id": "ord_1"}}
    assert proxy.asked == [Asked(HOST, 443, "us:er", "s3cr@t")]


@pytest.mark.parametrize("call", CALLS)
def test_the_client_resolves_the_host(driver: Driver, server: Server, start: Start, call: str) -> None:
    proxy = start()
    error = driver.run({**CALLS[call], "client": _client(server, f"socks5://127.0.0.1:{proxy.port}")})["error"]
    assert error["class"] == "ConnectionError" and not error.get("outcome_unknown") and proxy.asked == []


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    ("user", "options"),
    [
        ("user:s3cret@", {"refuse": 2}),  # not allowed
        ("user:s3cret@", {"refuse": 5}),  # the target host refused the connection
        ("user:s3cret@", {"user": ("user", "other")}),
        ("", {"user": ("user", "s3cret")}),
    ],
)
def test_a_refusal(driver: Driver, server: Server, start: Start, user: str, options: dict[str, Any], call: str) -> None:
    received = len(server.requests)
    proxy = start(**options)
    error = driver.run({**CALLS[call], "client": _client(server, f"socks5h://{user}127.0.0.1:{proxy.port}")})["error"]
    assert error["class"] == "ConnectionError" and not error.get("outcome_unknown")
    assert "check proxy" in error["message"] and "\n" not in error["message"]
    assert "s3cret" not in str(error) and "key_of_tls" not in str(error) and len(server.requests) == received
