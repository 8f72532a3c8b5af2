"""Tests that clients refuse self-signed certificates and certificates of another host, and trust a certificate in
`ca_bundle`."""

from __future__ import annotations

import errno
import http.server
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .drivers import Driver

BODY = b'{"data":{"id":"ord_1"}}'


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self) -> None:
        self.server.requests.append(self.requestline)  # type: ignore[attr-defined]
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY)

    do_GET = do_POST = answer

    def log_message(self, *_: Any) -> None:
        """Logs nothing."""


def make_certificate(folder: Path, name: str, *, of: str = "", by: str = "") -> Path:
    """Makes NAME.pem and NAME.key. by: the name of the signing certificate; empty makes a self-signed one. of: the
    host names and addresses that the certificate is for.
    """
    command = ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", f"/CN={name}"]
    command += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    command += ["-keyout", f"{name}.key", "-out", f"{name}.pem"]
    command += ["-addext", f"subjectAltName={of}"] if of else []
    command += ["-CA", f"{by}.pem", "-CAkey", f"{by}.key"] if by else []
    subprocess.run(command, check=True, capture_output=True, cwd=folder)
    return folder / f"{name}.pem"


def server_context(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    return context


class Server(http.server.ThreadingHTTPServer):
    """An HTTPS server with a self-signed certificate for one name; with tls=False an HTTP server."""

    daemon_threads = True

    def __init__(
        self, folder: Path, name: str, *, of: str | None = None, address: str = "127.0.0.1", tls: bool = True
    ) -> None:
        self.address_family = socket.AF_INET6 if ":" in address else socket.AF_INET
        self.held = socket.socket()
        while True:
            super().__init__((address, 0), Handler)
            if self.hold_the_port_of_the_other_address():
                break
            self.server_close()
        self.requests: list[str] = []
        self.context: ssl.SSLContext | None = None
        if tls:
            self.certificate = make_certificate(folder, name, of=f"DNS:{name},IP:::1" if of is None else of)
            self.context = server_context(self.certificate)
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def hold_the_port_of_the_other_address(self) -> bool:
        """Binds the same port on the other loopback address, so that no other process can listen there."""
        family, other = (
            (socket.AF_INET, "127.0.0.1") if self.address_family == socket.AF_INET6 else (socket.AF_INET6, "::1")
        )
        try:
            self.held = socket.socket(family)
            self.held.bind((other, self.server_address[1]))
        except OSError as problem:
            return problem.errno != errno.EADDRINUSE  # any other error means a lack of IPv6
        return True

    def server_close(self) -> None:
        super().server_close()
        self.held.close()

    def finish_request(self, request: Any, client_address: Any) -> None:
        if self.context is None:
            return super().finish_request(request, client_address)
        with self.context.wrap_socket(request, server_side=True, do_handshake_on_connect=False) as connection:
            try:
                connection.do_handshake()
            except ssl.SSLError:
                # Closing with unread input would send a reset, which may overtake the alert.
                with socket.socket(fileno=connection.detach()) as plain:
                    plain.shutdown(socket.SHUT_WR)
                    while plain.recv(65536):
                        pass
                return None
            return super().finish_request(connection, client_address)

    def handle_error(self, *_: Any) -> None:
        """Does not print the error, because the tests expect failed handshakes."""

    def client(self, **more: Any) -> dict[str, Any]:
        url = f"{'https' if self.context else 'http'}://localhost:{self.server_address[1]}/acct"
        return {"base_url": url, "api_key": "key_of_tls", "timeout": 20, **more}


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("right"), "localhost")
    yield server
    server.shutdown()


@pytest.fixture(scope="module")
def wrong_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("wrong"), "elsewhere.example")
    yield server
    server.shutdown()


GET = {"op": "orders.get", "args": {"id": "ord_1"}}
POST = {"op": "subscriptions.charge", "args": {"id": "sub_1", "product_id": 1, "amount": 1}}


def test_the_right_certificate_passes_with_ca_bundle(driver: Driver, right: Server) -> None:
    client = right.client(ca_bundle=str(right.certificate))
    client_of_capitals = client | {"base_url": client["base_url"].replace("https://localhost", "HTTPS://LOCALHOST")}
    for call in (GET, POST):
        assert driver.run({**call, "client": client}) == {"ok": {"id": "ord_1"}}
        assert driver.run({**call, "client": client_of_capitals}) == {"ok": {"id": "ord_1"}}


@pytest.mark.parametrize("call", [GET, POST], ids=["get", "charge"])
def test_a_self_signed_certificate_is_refused(driver: Driver, right: Server, call: dict[str, Any]) -> None:
    received = len(right.requests)
    error = driver.run({**call, "client": right.client()})["error"]
    assert error["class"] == "TlsError" and "ca_bundle" in error["message"]
    assert not error.get("outcome_unknown") and len(right.requests) == received


@pytest.mark.parametrize("call", [GET, POST], ids=["get", "charge"])
def test_a_certificate_of_another_host_is_refused(driver: Driver, wrong_host: Server, call: dict[str, Any]) -> None:
    client = wrong_host.client(ca_bundle=str(wrong_host.certificate))
    error = driver.run({**call, "client": client})["error"]
    assert error["class"] == "TlsError" and not error.get("outcome_unknown")
    assert wrong_host.requests == []


@pytest.mark.parametrize(
    ("host", "common_name", "names", "passes"),
    [
        ("localhost", "localhost", "", False),
        ("localhost", "localhost", "email:a@localhost,URI:https://localhost", False),
        ("127.0.0.1", "127.0.0.1", "", False),
        ("127.0.0.1", "127.0.0.1", "DNS:127.0.0.1", False),
        ("127.0.0.1", "other", "IP:127.0.0.1", True),
        ("a.b.localhost", "*.b.localhost", "", False),
        ("a.b.localhost", "other", "DNS:*.b.localhost", True),
    ],
)
def test_the_common_name_does_not_count(
    driver: Driver, tmp_path: Path, host: str, common_name: str, names: str, passes: bool
) -> None:
    server = Server(tmp_path, common_name, of=names)
    client = server.client(ca_bundle=str(server.certificate))
    client["base_url"] = client["base_url"].replace("localhost", host)
    reply = driver.run({**POST, "client": client})
    server.shutdown()
    assert len(server.requests) == int(passes)
    if not passes:
        error = reply["error"]
        assert error["class"] == "TlsError" and not error.get("outcome_unknown"), error
        assert "subject" in error["message"]
