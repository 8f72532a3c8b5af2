"""The environment's proxy: taken for what is far, never for this machine. The rest is in tests/conformance."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

import billcore
from conformance.test_proxy import Proxy

from .conftest import Serve
from .support import SUBSCRIPTION, data

REFUSAL = "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n"


@pytest.fixture
def proxy(monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    running = Proxy(0, REFUSAL)
    for name in ("HTTPS_PROXY", "https_proxy", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{running.port}")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    yield running
    running.close()


def get(proxy: str | None = None) -> None:
    with billcore.Client(
        base_url="https://billing.invalid/acct", api_key="k", max_retries=0, timeout=10, proxy=proxy
    ) as client:
        client.subscriptions.get("s")


def test_the_environments_proxy_is_taken(proxy: Proxy) -> None:
    with pytest.raises(billcore.ConnectionError, match="the proxy answered 403"):
        get()
    assert proxy.heads[0].startswith("CONNECT billing.invalid:443 ")


def test_an_empty_proxy_is_none(proxy: Proxy) -> None:
    with pytest.raises(billcore.ConnectionError, match="not found"):
        get("")
    assert proxy.heads == []


def test_no_proxy_is_heard(proxy: Proxy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "billing.invalid")
    with pytest.raises(billcore.ConnectionError, match="not found"):
        get()
    assert proxy.heads == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_never_for_loopback(serve: Serve, proxy: Proxy, host: str) -> None:
    server, _ = serve([data(SUBSCRIPTION)])
    url = server.url.replace("127.0.0.1", host) + "/acct"
    with billcore.Client(base_url=url, api_key="k", max_retries=0) as client:
        assert client.subscriptions.get("s").id == "sub_1"
    assert proxy.heads == []


def test_a_password_is_in_no_text() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://user:s3cret@127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(billcore.ConnectionError) as caught:
            get(url)
    assert "s3cret" not in repr(caught.value)
    with pytest.raises(billcore.ConfigError) as refused:
        get("ftp://user:s3cret@proxy.example")
    assert "s3cret" not in str(refused.value)
