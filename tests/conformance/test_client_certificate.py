"""Tests `client_certificate` with a service that demands a certificate from its clients."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from .drivers import Driver
from .test_tls import GET, POST, Server, make_certificate

# With TLS 1.3, the client learns that the service refused its certificate only when it reads the answer.
VERSIONS = {"tls1.2": ssl.TLSVersion.TLSv1_2, "tls1.3": ssl.TLSVersion.TLSv1_3}
CALLS = {"get": GET, "charge": POST}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Makes a folder with a CA, an intermediate CA, a client certificate signed by the intermediate CA, and an
    untrusted certificate."""
    made = tmp_path_factory.mktemp("clients")
    for name, by in (("authority", ""), ("below", "authority"), ("client", "below"), ("stranger", "")):
        make_certificate(made, name, by=by)
    locked = ["openssl", "pkey", "-in", "client.key", "-aes256", "-passout", "pass:s3cret", "-out", "locked.key"]
    subprocess.run(locked, check=True, cwd=made)
    for name, parts in {
        "whole": ("client.pem", "below.pem", "client.key"),
        "key_first": ("client.key", "client.pem", "below.pem"),
        "gap": ("client.pem", "client.key"),
        "unknown": ("stranger.pem", "stranger.key"),
        "no_key": ("client.pem", "below.pem"),
        "no_certificate": ("client.key",),
        "password": ("client.pem", "below.pem", "locked.key"),
        "mixed": ("client.pem", "stranger.key"),
    }.items():
        (made / f"{name}.own").write_text("".join((made / part).read_text() for part in parts))
    (made / "junk.own").write_text("no certificate")
    (made / "broken.own").write_text((made / "whole.own").read_text().replace("M", "-"))
    return made


@pytest.fixture(scope="module", params=VERSIONS)
def server(request: pytest.FixtureRequest, folder: Path) -> Iterator[Server]:
    running = Server(folder, "localhost")
    assert running.context is not None
    running.context.minimum_version = running.context.maximum_version = VERSIONS[request.param]
    running.context.verify_mode = ssl.CERT_REQUIRED
    running.context.load_verify_locations(folder / "authority.pem")
    yield running
    running.shutdown()


def _client(server: Server, **more: Any) -> dict[str, Any]:
    return server.client(ca_bundle=str(server.certificate), max_retries=0, **more)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", ["whole", "key_first"])
def test_the_right_client_certificate_passes(
    driver: Driver, server: Server, folder: Path, name: str, call: str
) -> None:
    client = _client(server, client_certificate=str(folder / f"{name}.own"))
    assert driver.run({**CALLS[call], "client": client}) == {"ok": {"id": "ord_1"}}


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", [None, "unknown", "gap"])
def test_one_that_the_service_refuses(
    driver: Driver, server: Server, folder: Path, name: str | None, call: str
) -> None:
    assert server.context is not None
    received = len(server.requests)
    own = {} if name is None else {"client_certificate": str(folder / f"{name}.own")}
    error = driver.run({**CALLS[call], "client": _client(server, **own)})["error"]
    assert len(server.requests) == received
    if call == "charge" and server.context.minimum_version == ssl.TLSVersion.TLSv1_3:  # the request may have been sent
        assert error["class"] == "OutcomeUnknownError" and error["cause"] == "TlsError" and error["outcome_unknown"]
    else:
        assert error["class"] == "TlsError" and not error.get("outcome_unknown")
    assert "client_certificate" in error["message"] and "\n" not in error["message"]


@pytest.mark.parametrize("http2", [True, False])
def test_a_refused_certificate_is_not_tried_again(driver: Driver, server: Server, folder: Path, http2: bool) -> None:
    assert server.context is not None
    server.context.set_alpn_protocols(["h2", "http/1.1"] if http2 else ["http/1.1"])
    client = _client(server, client_certificate=str(folder / "unknown.own")) | {"max_retries": 2, "http2": http2}
    error = driver.run({**GET, "client": client})["error"]
    server.context.set_alpn_protocols(["http/1.1"])
    assert error["class"] == "TlsError" and error.get("attempts", 1) == 1 and "attempt " not in error["message"]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize(
    "name, problem",
    [
        ("no_key", "has no key"),
        ("no_certificate", "has no certificate"),
        ("junk", "has no certificate"),
        ("password", "has a key with a password"),
        ("nowhere", "cannot be read"),
    ],
)
def test_a_file_that_cannot_work(
    driver: Driver, server: Server, folder: Path, name: str, problem: str, call: str
) -> None:
    file = str(folder / f"{name}.own")
    error = driver.run({**CALLS[call], "client": _client(server, client_certificate=file)})["error"]
    assert error["class"] == "ConfigError" and error["message"].startswith(f"client_certificate: {file} {problem}")
    assert "\n" not in error["message"] and "s3cret" not in str(error)


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("name", ["mixed", "broken"])
def test_a_file_that_openssl_refuses(driver: Driver, server: Server, folder: Path, name: str, call: str) -> None:
    received = len(server.requests)
    client = _client(server, client_certificate=str(folder / f"{name}.own"))
    error = driver.run({**CALLS[call], "client": client})["error"]
    assert error["class"] == "TlsError" and "client_certificate" in error["message"]
    assert not error.get("outcome_unknown") and len(server.requests) == received


def test_a_service_that_asks_for_no_certificate_answers(driver: Driver, folder: Path) -> None:
    asks_nobody = Server(folder, "localhost")
    client = _client(asks_nobody, client_certificate=str(folder / "whole.own"))
    assert driver.run({**GET, "client": client}) == {"ok": {"id": "ord_1"}}
    asks_nobody.shutdown()


@pytest.mark.parametrize("name", ["password", "junk", None])
def test_a_file_that_changed(driver: Driver, server: Server, folder: Path, tmp_path: Path, name: str | None) -> None:
    """For each connection the client reads the certificate file anew, and it never prompts for a password."""
    own = tmp_path / "client.own"
    own.write_bytes((folder / "whole.own").read_bytes())
    client = _client(server, client_certificate=str(own))
    made = driver.run({"op": "orders.get", "client": client, "args": {"id": ""}})["error"]
    assert made["class"] == "InvalidArgumentError"
    if name is None:
        own.unlink()
    else:
        own.write_bytes((folder / f"{name}.own").read_bytes())
    error = driver.run({**POST, "client": client})["error"]
    assert error["class"] == "TlsError" and "client_certificate" in error["message"]
    assert not error.get("outcome_unknown")
