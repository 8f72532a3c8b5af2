"""The client uses the proxy from the environment for remote hosts, but never for this machine. See also
tests/conformance."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest

import billcore
from conformance.server import closed_port
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
def refusing(no_proxy: None) -> Iterator[Proxy]:
    running = Proxy(0, REFUSAL)
    yield running
    running.close()


@pytest.fixture
def proxy(refusing: Proxy, monkeypatch: pytest.MonkeyPatch) -> Proxy:
    for name in VARIABLES:
        monkeypatch.setenv(name, f"http://127.0.0.1:{refusing.port}")
    return refusing


def get(proxy: str | None = None, base_url: str = "https://billing.invalid/acct", **more: Any) -> None:
    with billcore.Client(
        base_url=base_url, api_key="key_of_proxies", max_retries=0, timeout=20, proxy=proxy, **more
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


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"])
@pytest.mark.parametrize(
    "address", ["http://user:s3cret@127.0.0.1", "HTTP://user:s3cret@LOCALHOST", "user:s3cret@127.0.0.1"]
)
def test_each_proxy_variable_is_used_with_its_password(
    refusing: Proxy, monkeypatch: pytest.MonkeyPatch, name: str, address: str
) -> None:
    monkeypatch.setenv(name, f"{address}:{refusing.port}")
    with pytest.raises(billcore.ConnectionError, match="the proxy answered 403") as caught:
        get()
    (head,) = refusing.heads
    assert head.startswith("CONNECT billing.invalid:443 ") and "key_of_proxies" not in head
    assert f"Proxy-Authorization: Basic {base64.b64encode(b'user:s3cret').decode()}\r\n" in head
    assert "s3cret" not in repr(caught.value)


@pytest.mark.parametrize("name, heard", [("http_proxy", True), ("ALL_PROXY", True), ("HTTPS_PROXY", False)])
def test_the_variables_for_http(refusing: Proxy, monkeypatch: pytest.MonkeyPatch, name: str, heard: bool) -> None:
    """HTTP_PROXY in capitals is ignored, because in a CGI program a remote client can set it with the header
    Proxy."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv(name, f"http://127.0.0.1:{refusing.port}")
    with pytest.raises(billcore.ApiError if heard else billcore.ConnectionError, match="403" if heard else "not found"):
        get(base_url="http://billing.invalid/acct", allow_insecure_http=True)
    assert len(refusing.heads) == heard


@pytest.mark.parametrize(
    "value, heard",
    [
        ("billing.invalid", True),
        ("BILLING.INVALID", True),
        (".invalid", True),  # matches each host name that ends with .invalid
        ("invalid", True),
        ("ing.invalid", False),
        ("*", True),
        ("*.invalid", False),  # NO_PROXY does not support patterns
        ("a.example,billing.invalid", True),
        (" a.example , billing.invalid ", True),
        ("a.example,other.invalid", False),
    ],
)
@pytest.mark.parametrize("name", ["NO_PROXY", "no_proxy"])
def test_no_proxy_is_heard(proxy: Proxy, monkeypatch: pytest.MonkeyPatch, name: str, value: str, heard: bool) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(billcore.ConnectionError, match="not found" if heard else "the proxy answered 403"):
        get()
    assert len(proxy.heads) == (not heard)


@pytest.mark.parametrize(
    "value, heard", [("0.0.0.0", True), ("0.0.0.0/8", True), ("10.0.0.0/8,0.0.0.0/32", True), ("10.0.0.0/8", False)]
)
def test_no_proxy_with_addresses(proxy: Proxy, monkeypatch: pytest.MonkeyPatch, value: str, heard: bool) -> None:
    """NO_PROXY may contain IP addresses; the test uses 0.0.0.0, which is this machine but not a loopback address."""
    monkeypatch.setenv("NO_PROXY", value)
    with pytest.raises(billcore.ConnectionError, match="no connection" if heard else "the proxy answered 403"):
        get(base_url=f"https://0.0.0.0:{closed_port()}/acct")
    assert len(proxy.heads) == (not heard)


@pytest.mark.parametrize("exempt", [None, "billing.example", "billing.invalid"])
@pytest.mark.parametrize(
    "value",
    [
        "ftp://user:s3cret@p",
        "http://user:s3cret@a b:1",
        "http://user:s3cret@",
        "http://user:s3cret@p:99999",
        "http://user:p@s3cret/x@127.0.0.1:9",
        "http://user:p@s3cret#x@127.0.0.1:9",
        "user:p@s3cret?x@127.0.0.1:9",
        "http://user:%0As3cret@127.0.0.1:9",
    ],
)
def test_a_proxy_variable_that_cannot_be_parsed_is_refused_without_its_password(
    no_proxy: None, monkeypatch: pytest.MonkeyPatch, value: str, exempt: str | None
) -> None:
    """No text shows a part of the password. If NO_PROXY exempts the service, the proxy does not matter."""
    monkeypatch.setenv("HTTPS_PROXY", value)
    if exempt:
        monkeypatch.setenv("NO_PROXY", exempt)
    expected = {None: "variable HTTPS_PROXY .* percent-encode", "billing.example": "its URL .* not percent-encoded"}
    with pytest.raises(billcore.BillcoreError, match=expected.get(exempt, "not found")) as caught:
        get()
    assert type(caught.value) is (billcore.ConnectionError if exempt else billcore.ConfigError)
    assert "s3cret" not in repr(caught.value) and "\n" not in str(caught.value)


def test_the_environment_is_read_when_the_client_is_made(
    no_proxy: None, monkeypatch: pytest.MonkeyPatch, refusing: Proxy
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", f"http://127.0.0.1:{refusing.port}")
    with billcore.Client(base_url="https://billing.invalid/acct", api_key="k", max_retries=0) as client:
        monkeypatch.setenv("HTTPS_PROXY", "http://user:p@s3cret/x@127.0.0.1:9")
        with pytest.raises(billcore.ConnectionError, match="the proxy answered 403"):
            client.subscriptions.get("s")


@pytest.mark.parametrize("proxied", [False, True])
def test_no_certificates_are_needed_for_http(
    serve: Serve, refusing: Proxy, monkeypatch: pytest.MonkeyPatch, proxied: bool
) -> None:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.setenv(name, "/nowhere/ca")
    server, _ = serve([data(SUBSCRIPTION)])
    base_url = server.url + "/acct"
    if proxied:
        with pytest.raises(billcore.ApiError, match="403"):
            get(f"http://127.0.0.1:{refusing.port}", base_url)
    else:
        get("", base_url)
    assert len(refusing.heads) == proxied and len(server.requests) == (not proxied)
    with pytest.raises(billcore.ConfigError, match="SSL_CERT_FILE names /nowhere/ca"):
        get(f"HTTPS://127.0.0.1:{refusing.port}", base_url)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_loopback_is_never_reached_through_a_proxy(serve: Serve, proxy: Proxy, host: str) -> None:
    server, _ = serve([data(SUBSCRIPTION)])
    url = server.url.replace("127.0.0.1", host) + "/acct"
    with billcore.Client(base_url=url, api_key="k", max_retries=0) as client:
        assert client.subscriptions.get("s").id == "sub_1"
    assert proxy.heads == []


def test_a_password_is_in_no_text() -> None:
    with pytest.raises(billcore.ConnectionError) as caught:
        get(f"http://user:s3cret@127.0.0.1:{closed_port()}")
    assert "s3cret" not in repr(caught.value)
    with pytest.raises(billcore.ConfigError) as refused:
        get("ftp://user:s3cret@proxy.example")
    assert "s3cret" not in str(refused.value)
