"""The client uses the proxy from the environment for remote hosts, but never for this machine. The rules are in
options_test.cpp; tests/conformance has the calls through a proxy that is an option."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest

import billcore
from conformance.test_proxy import Proxy

from .conftest import Serve
from .support import SUBSCRIPTION, data

REFUSAL = "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"
VARIABLES = ("HTTPS_PROXY", "https_proxy", "http_proxy", "ALL_PROXY", "all_proxy")


@pytest.fixture
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES, "HTTP_PROXY", "NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def proxy(no_proxy: None) -> Iterator[Proxy]:
    running = Proxy(0, REFUSAL)
    yield running
    running.close()


def get(proxy: str | None = None, base_url: str = "https://billing.invalid/acct", **more: Any) -> None:
    with billcore.Client(
        base_url=base_url, api_key="key_of_proxies", max_retries=0, timeout=20, proxy=proxy, **more
    ) as client:
        client.subscriptions.get("s")


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("HTTPS_PROXY", "http://user:s3cret@127.0.0.1"),
        ("https_proxy", "HTTP://user:s3cret@LOCALHOST"),
        ("all_proxy", "user:s3cret@127.0.0.1"),
    ],
)
def test_each_proxy_variable_is_used_with_its_password(
    proxy: Proxy, monkeypatch: pytest.MonkeyPatch, name: str, address: str
) -> None:
    monkeypatch.setenv(name, f"{address}:{proxy.port}")
    with pytest.raises(billcore.ConnectionError, match="the proxy answered 403") as caught:
        get()
    (head,) = proxy.heads
    assert head.startswith("CONNECT billing.invalid:443 ") and "key_of_proxies" not in head
    assert f"Proxy-Authorization: Basic {base64.b64encode(b'user:s3cret').decode()}\r\n" in head
    assert "s3cret" not in repr(caught.value)
    with pytest.raises(billcore.ConnectionError, match="not found"):
        get("")
    assert len(proxy.heads) == 1, "an empty proxy is none"


@pytest.mark.parametrize("value, heard", [(" a.example , BILLING.INVALID ", True), ("a.example,other.invalid", False)])
@pytest.mark.parametrize("name", ["NO_PROXY", "no_proxy"])
def test_no_proxy_is_heard(proxy: Proxy, monkeypatch: pytest.MonkeyPatch, name: str, value: str, heard: bool) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
    monkeypatch.setenv(name, value)
    with pytest.raises(billcore.ConnectionError, match="not found" if heard else "the proxy answered 403"):
        get()
    assert len(proxy.heads) == (not heard)


@pytest.mark.parametrize("exempt", ["billing.example", "billing.invalid"])
def test_a_proxy_variable_that_cannot_be_parsed_is_refused_without_its_password(
    no_proxy: None, monkeypatch: pytest.MonkeyPatch, exempt: str
) -> None:
    """No text shows a part of the password. If NO_PROXY exempts the service, the proxy does not matter."""
    monkeypatch.setenv("HTTPS_PROXY", "http://user:p@s3cret/x@127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", exempt)
    expected = {"billing.example": "its URL .* not percent-encoded", "billing.invalid": "not found"}
    with pytest.raises(billcore.ConnectionError, match=expected[exempt]) as caught:
        get()
    assert "s3cret" not in repr(caught.value) and "\n" not in str(caught.value)


def test_the_environment_is_read_when_the_client_is_made(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{proxy.port}")
    with billcore.Client(base_url="https://billing.invalid/acct", api_key="k", max_retries=0) as client:
        monkeypatch.setenv("HTTPS_PROXY", "http://user:p@s3cret/x@127.0.0.1:9")
        with pytest.raises(billcore.ConnectionError, match="the proxy answered 403"):
            client.subscriptions.get("s")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_loopback_is_reached_without_a_proxy_or_certificates(
    serve: Serve, proxy: Proxy, monkeypatch: pytest.MonkeyPatch, host: str
) -> None:
    for name in VARIABLES:
        monkeypatch.setenv(name, f"http://127.0.0.1:{proxy.port}")
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/ca")
    server, _ = serve([data(SUBSCRIPTION)])
    get(base_url=server.url.replace("127.0.0.1", host) + "/acct")
    assert proxy.heads == []
