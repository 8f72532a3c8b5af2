"""Tests base URLs with an IPv6 address, and host names with two addresses."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .drivers import Driver
from .test_tls import GET, POST, Server

CALLS = {"get": GET, "charge": POST}


@pytest.fixture(scope="module", autouse=True)
def _ipv6() -> None:
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError as problem:
        pytest.skip(f"no IPv6 loopback on this machine: {problem}")


@pytest.fixture(scope="module", params=["http", "https"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("ipv6"), "localhost", address="::1", tls=request.param == "https")
    yield running
    running.shutdown()


def _client(server: Server, host: str) -> dict[str, Any]:
    client = server.client(max_retries=0)
    client["base_url"] = client["base_url"].replace("localhost", host)
    return client | ({"ca_bundle": str(server.certificate)} if server.context else {})


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("host", ["[::1]", "[0:0:0:0:0:0:0:1]", "localhost"])
def test_ipv6(driver: Driver, server: Server, host: str, call: str) -> None:
    """The host is an IPv6 address, or a name that also has an IPv4 address on which nothing listens."""
    received = len(server.requests)
    assert driver.run({**CALLS[call], "client": _client(server, host)}) == {"ok": {"id": "ord_1"}}
    assert len(server.requests) == received + 1


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("tls", [False, True], ids=["http", "https"])
def test_a_host_whose_ipv6_address_refuses(driver: Driver, tmp_path: Path, tls: bool, call: str) -> None:
    running = Server(tmp_path, "localhost", tls=tls)  # listens on 127.0.0.1 only
    assert driver.run({**CALLS[call], "client": _client(running, "localhost")}) == {"ok": {"id": "ord_1"}}
    assert len(running.requests) == 1
    running.shutdown()


def test_a_certificate_of_another_address(driver: Driver, tmp_path: Path) -> None:
    running = Server(tmp_path, "localhost")  # the certificate is for the address ::1, not for 127.0.0.1
    error = driver.run({**POST, "client": _client(running, "127.0.0.1")})["error"]
    assert error["class"] == "TlsError" and running.requests == []
    running.shutdown()
