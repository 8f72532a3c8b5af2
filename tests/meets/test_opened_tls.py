"""A proxy that opens TLS, and presents a certificate of its own CA: which settings make the client trust this CA."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import billcore
from conformance.server import ScriptedServer, json_reply
from conformance.test_proxy import Proxy
from faults.certificates import Certificates

VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")


@pytest.fixture
def behind(certificates: Certificates) -> Iterator[ScriptedServer]:
    """What stands behind the tunnel: it answers with the certificate of the proxy's CA."""
    with ScriptedServer(lambda _: json_reply({"data": {"id": "o"}}), tls=certificates.good) as server:
        yield server


def charge(behind: ScriptedServer, **options: Any) -> str | int:
    proxy = Proxy(behind.port)
    given: dict[str, Any] = {"api_key": "key", "proxy": f"http://127.0.0.1:{proxy.port}", **options}
    try:
        with billcore.Client(base_url="https://localhost/account", **given) as client:
            return client.subscriptions.charge("s", product_id=1, amount=1).id
    finally:
        proxy.close()


def test_the_variable_or_the_option_is_trusted(
    behind: ScriptedServer, certificates: Certificates, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(certificates.bundle))
    monkeypatch.setenv("CURL_CA_BUNDLE", str(certificates.bundle))
    with pytest.raises(billcore.TlsError) as caught:
        charge(behind)
    assert not caught.value.outcome_unknown and behind.requests == []
    assert charge(behind, ca_bundle=certificates.bundle) == "o"
    monkeypatch.setenv("SSL_CERT_FILE", str(certificates.bundle))
    assert charge(behind) == "o"
    with pytest.raises(billcore.TlsError):  # the option replaces the variable
        charge(behind, ca_bundle=Path("/etc/ssl/certs/ca-certificates.crt"))
