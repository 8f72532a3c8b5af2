"""Tests SOCKS proxies: whether client or proxy resolves the host, what the proxy receives, and the error for each
refusal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .drivers import Driver
from .socks import Asked, SocksServer
from .test_tls import GET, POST, Server

CALLS = {"get": GET, "charge": POST}
Start = Callable[..., SocksServer]


@pytest.fixture(scope="module", params=["localhost", "billing.example"])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("socks"), request.param)
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
    name = server.certificate.stem
    certificate = str(server.certificate)
    return server.client(base_url=f"https://{name}/acct", ca_bundle=certificate, max_retries=0, proxy=proxy)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("scheme, version", [("socks5h", 5), ("SOCKS5H", 5), ("socks4a", 4)])
def test_the_proxy_finds_the_host(
    driver: Driver, server: Server, start: Start, scheme: str, version: int, call: str
) -> None:
    proxy = start()
    client = _client(server, f"{scheme}://127.0.0.1:{proxy.port}")
    assert driver.run({**CALLS[call], "client": client}) == {"ok": {"id": "ord_1"}}
    assert proxy.asked == [Asked(version, server.certificate.stem, 443)]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("scheme", ["socks5", "socks4"])
def test_the_client_finds_the_host(driver: Driver, server: Server, start: Start, scheme: str, call: str) -> None:
    proxy = start()
    reply = driver.run({**CALLS[call], "client": _client(server, f"{scheme}://127.0.0.1:{proxy.port}")})
    if server.certificate.stem == "localhost":
        assert reply == {"ok": {"id": "ord_1"}}
        assert [asked.host in ("127.0.0.1", "::1") for asked in proxy.asked] == [True]
    else:  # the host name cannot be resolved without the proxy
        assert reply["error"]["class"] == "ConnectionError" and not reply["error"].get("outcome_unknown")
        assert proxy.asked == []


@pytest.mark.parametrize("call", CALLS)
def test_user_and_password(driver: Driver, server: Server, start: Start, call: str) -> None:
    name = server.certificate.stem
    proxy = start(user=("us:er", "s3cr@t"))
    client = _client(server, f"socks5h://us%3Aer:s3cr%40t@127.0.0.1:{proxy.port}")
    assert driver.run({**CALLS[call], "client": client}) == {"ok": {"id": "ord_1"}}
    assert proxy.asked == [Asked(5, name, 443, "us:er", "s3cr@t")]
    proxy_of_users = start()
    client = _client(server, f"socks4a://user@127.0.0.1:{proxy_of_users.port}")
    assert driver.run({**CALLS[call], "client": client}) == {"ok": {"id": "ord_1"}}
    assert proxy_of_users.asked == [Asked(4, name, 443, "user")]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "scheme, options",
    [
        ("socks5h", {"refuse": 2}),  # SOCKS 5 code 2: not allowed
        ("socks5h", {"refuse": 5}),  # SOCKS 5 code 5: the target host refused the connection
        ("socks4a", {"refuse": 91}),
        ("socks5h", {"user": ("other", "other")}),
        ("socks5h", {"user": ("user", "other")}),
    ],
)
def test_a_refusal(
    driver: Driver, server: Server, start: Start, scheme: str, options: dict[str, Any], call: str
) -> None:
    received = len(server.requests)
    proxy = start(**options)
    error = driver.run({**CALLS[call], "client": _client(server, f"{scheme}://user:s3cret@127.0.0.1:{proxy.port}")})[
        "error"
    ]
    assert error["class"] == "ConnectionError" and not error.get("outcome_unknown")
    assert "check proxy" in error["message"] and "\n" not in error["message"]
    assert "s3cret" not in str(error) and "key_of_tls" not in str(error) and len(server.requests) == received


@pytest.mark.parametrize("call", CALLS)
def test_a_proxy_that_wants_a_password(driver: Driver, server: Server, start: Start, call: str) -> None:
    proxy = start(user=("user", "s3cret"))
    error = driver.run({**CALLS[call], "client": _client(server, f"socks5h://127.0.0.1:{proxy.port}")})["error"]
    assert error["class"] == "ConnectionError" and not error.get("outcome_unknown")
    assert "check proxy" in error["message"] and proxy.asked == []
