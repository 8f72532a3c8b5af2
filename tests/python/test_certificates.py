"""Tests which certificates the client trusts by default. tests/conformance/test_tls.py has the other tests of TLS."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import billcore
from conformance.test_tls import Server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("certificates"), "localhost")
    yield running
    running.shutdown()


@pytest.fixture(autouse=True)
def _clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)


def get(server: Server) -> str | int:
    with billcore.Client(base_url=server.client()["base_url"], api_key="k", max_retries=0) as client:
        return client.orders.get("ord_1").id


def test_the_systems_certificates_do_not_know_the_test_authority(server: Server) -> None:
    with pytest.raises(billcore.TlsError):
        get(server)


def test_a_file_of_the_environment(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(server.certificate))
    assert get(server) == "ord_1"


def test_a_folder_of_the_environment(server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    with pytest.raises(billcore.TlsError):  # the folder is empty, and the system's certificates are not used
        get(server)


@pytest.mark.parametrize("name", ["SSL_CERT_FILE", "SSL_CERT_DIR"])
def test_what_is_not_there_is_told_at_once(server: Server, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "/nowhere/ca")
    with pytest.raises(billcore.ConfigError, match=f"{name} names /nowhere/ca"):
        get(server)
    with billcore.Client(
        base_url=server.client()["base_url"], api_key="k", max_retries=0, ca_bundle=str(server.certificate)
    ) as client:
        assert client.orders.get("ord_1").id == "ord_1"
