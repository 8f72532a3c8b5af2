"""Tests calls through an HTTP proxy: which calls use it, what the proxy receives, and the error for each refusal."""

from __future__ import annotations

import base64
import socket
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .drivers import Driver
from .tcp import TcpServer, tunnel
from .test_tls import GET, POST, Server, make_certificate, server_context


class Proxy(TcpServer):
    """An HTTP proxy that tunnels to one local port, whatever host is requested, and records its requests.

    answer: what to send instead of opening a tunnel. tls: the TLS context, for an HTTPS proxy.
    """

    def __init__(self, target: int, answer: str | None = None, tls: ssl.SSLContext | None = None) -> None:
        self._target = target
        self._answer = answer
        self._tls = tls
        self.heads: list[str] = []
        super().__init__(self._converse)

    def _converse(self, plain: socket.socket) -> None:
        try:
            connection = self._tls.wrap_socket(plain, server_side=True) if self._tls else plain
        except OSError:
            return  # the client has refused the proxy's certificate
        with connection:
            head = b""
            while b"\r\n\r\n" not in head:  # the body of a request over http may follow
                piece = connection.recv(4096)
                if not piece:
                    return
                head += piece
            self.heads.append(head.decode())
            if self._answer is not None:
                connection.sendall(self._answer.encode())
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(4096):  # closing with unread input would send a reset
                    pass
                return
            with socket.create_connection(("127.0.0.1", self._target)) as server:
                connection.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
                tunnel(connection, server)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("proxied"), "billing.example")
    yield running
    running.shutdown()


@pytest.fixture
def proxy(server: Server) -> Iterator[Proxy]:
    running = Proxy(server.server_address[1])
    yield running
    running.close()


def _client(server: Server, proxy: str, **more: Any) -> dict[str, Any]:
    return {
        "base_url": "https://billing.example/acct",
        "api_key": "key_proxy",
        "timeout": 20,
        "max_retries": 0,
        "ca_bundle": str(server.certificate),
        "proxy": proxy,
        **more,
    }


@pytest.mark.parametrize("call", [GET, POST], ids=["get", "charge"])
def test_a_call_goes_through_the_tunnel(driver: Driver, server: Server, proxy: Proxy, call: dict[str, Any]) -> None:
    client = _client(server, f"http://user:p%40ss@127.0.0.1:{proxy.port}")
    assert driver.run({**call, "client": client}) == {"ok": {"id": "ord_1"}}
    (head,) = proxy.heads
    assert head.startswith("CONNECT billing.example:443 HTTP/1.1\r\n")
    assert f"Proxy-Authorization: Basic {base64.b64encode(b'user:p@ss').decode()}\r\n" in head
    assert "key_proxy" not in head and "X-API-KEY" not in head


@pytest.mark.parametrize("call", [GET, POST], ids=["get", "charge"])
@pytest.mark.parametrize("status", [403, 407, 502])
def test_a_proxy_that_refuses(driver: Driver, server: Server, call: dict[str, Any], status: int) -> None:
    refusing = Proxy(0, f"HTTP/1.1 {status} No\r\nContent-Length: 0\r\n\r\n")
    error = driver.run({**call, "client": _client(server, f"http://user:s3cret@127.0.0.1:{refusing.port}")})["error"]
    refusing.close()
    assert error["class"] == "ConnectionError" and not error.get("outcome_unknown")
    assert str(status) in error["message"] and "proxy" in error["message"]
    assert "s3cret" not in str(error) and "key_proxy" not in str(error)


@pytest.mark.parametrize("call", [GET, POST], ids=["get", "charge"])
def test_a_proxy_that_refuses_over_http(driver: Driver, server: Server, call: dict[str, Any]) -> None:
    """The proxy's 407 to a request over http arrives as an answer. The request did not reach the service."""
    refusing = Proxy(0, "HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n")
    client = _client(server, f"http://user:s3cret@127.0.0.1:{refusing.port}", base_url="http://billing.example/acct")
    error = driver.run({**call, "client": {**client, "allow_insecure_http": True}})["error"]
    refusing.close()
    assert error["class"] == "ApiError" and error["http_status"] == 407 and not error.get("outcome_unknown")
    assert "407 a proxy refused the request" in error["message"] and "service refused" not in error["message"]
    assert "s3cret" not in str(error)


def test_no_proxy_for_loopback_by_default(driver: Driver, server: Server, proxy: Proxy) -> None:
    """An empty `proxy` means no proxy. The Python tests check that a proxy set in the environment is not used for
    calls to loopback."""
    client = server.client(ca_bundle=str(server.certificate), proxy="", max_retries=0)
    error = driver.run({**GET, "client": client})["error"]
    assert error["class"] == "TlsError" and proxy.heads == []  # the server's certificate caused the error


@pytest.fixture(scope="module")
def proxy_certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_certificate(tmp_path_factory.mktemp("proxy"), "proxy", of="DNS:localhost")


@pytest.fixture
def https_proxy(server: Server, proxy_certificate: Path) -> Iterator[Proxy]:
    running = Proxy(server.server_address[1], tls=server_context(proxy_certificate))
    yield running
    running.close()


@pytest.mark.parametrize("call", [GET, POST], ids=["get", "charge"])
@pytest.mark.parametrize("address", ["https://user:pass@localhost", "HTTPS://user:pass@LOCALHOST"])
def test_an_https_proxy(
    driver: Driver,
    server: Server,
    https_proxy: Proxy,
    proxy_certificate: Path,
    tmp_path: Path,
    address: str,
    call: dict[str, Any],
) -> None:
    both = tmp_path / "both.pem"
    both.write_text(server.certificate.read_text() + proxy_certificate.read_text())
    client = _client(server, f"{address}:{https_proxy.port}", ca_bundle=str(both))
    assert driver.run({**call, "client": client}) == {"ok": {"id": "ord_1"}}
    (head,) = https_proxy.heads
    assert head.startswith("CONNECT billing.example:443 HTTP/1.1\r\n")
    assert f"Proxy-Authorization: Basic {base64.b64encode(b'user:pass').decode()}\r\n" in head


@pytest.mark.parametrize("call", [GET, POST], ids=["get", "charge"])
@pytest.mark.parametrize(
    "host, trusted", [("localhost", False), ("127.0.0.1", True)], ids=["unknown", "of another host"]
)
def test_an_https_proxy_that_is_not_trusted(
    driver: Driver,
    server: Server,
    https_proxy: Proxy,
    proxy_certificate: Path,
    host: str,
    trusted: bool,
    call: dict[str, Any],
) -> None:
    bundle = str(proxy_certificate if trusted else server.certificate)
    client = _client(server, f"https://user:s3cret@{host}:{https_proxy.port}", ca_bundle=bundle)
    error = driver.run({**call, "client": client})["error"]
    assert error["class"] == "TlsError" and "ca_bundle" in error["message"] and not error.get("outcome_unknown")
    assert https_proxy.heads == [] and "s3cret" not in str(error)


@pytest.mark.parametrize("call", [GET, POST], ids=["get", "charge"])
def test_the_service_behind_an_https_proxy_is_checked(
    driver: Driver, server: Server, https_proxy: Proxy, proxy_certificate: Path, call: dict[str, Any]
) -> None:
    received = len(server.requests)
    client = _client(server, f"https://localhost:{https_proxy.port}", ca_bundle=str(proxy_certificate))
    error = driver.run({**call, "client": client})["error"]
    assert error["class"] == "TlsError" and not error.get("outcome_unknown") and len(https_proxy.heads) == 1
    assert len(server.requests) == received
