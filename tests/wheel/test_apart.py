"""The wheel uses no library of the system except libc, and it does not read the system's OpenSSL settings."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.server import ScriptedServer
from faults.certificates import Certificates
from python.support import ACCOUNT, API_KEY, SUBSCRIPTION, data

TRUST = ("SSL_CERT_FILE", "SSL_CERT_DIR")
CALL = """
import sys
import billcore
with billcore.Client(base_url=sys.argv[1], api_key=sys.argv[2], ca_bundle=sys.argv[3] or None, max_retries=0) as client:
    print(client.subscriptions.get("s").id)
with open("/proc/self/maps") as maps:
    print(*sorted({line.split()[-1].rsplit("/", 1)[-1] for line in maps if ".so" in line}))
"""


def call(certificates: Certificates, *command: str, trust: bool = True, **environment: str) -> tuple[str, str, str]:
    """Makes a call over TLS in a new process; returns its output, its loaded libraries and its error output."""
    with ScriptedServer(lambda _: data(SUBSCRIPTION), tls=certificates.tls13) as server:
        url = server.url.replace("127.0.0.1", "localhost") + ACCOUNT
        bundle = str(certificates.bundle) if trust else ""
        done = subprocess.run(
            [*command, sys.executable, "-c", CALL, url, API_KEY, bundle],
            capture_output=True,
            text=True,
            env={**{name: value for name, value in os.environ.items() if name not in TRUST}, **environment},
            timeout=60,
        )
    said, _, libraries = done.stdout.partition("\n")
    return said, libraries, done.stderr


def test_it_loads_no_library_of_the_system(certificates: Certificates) -> None:
    said, libraries, errors = call(certificates)
    assert said == "sub_1", errors
    for name in ("libcurl", "libssl", "libcrypto", "libnghttp2", "libstdc++", "libc++", "libgcc_s", "libunwind"):
        assert name not in libraries


def test_it_reads_no_settings_of_openssl(certificates: Certificates, tmp_path: Path) -> None:
    settings = tmp_path / "openssl.cnf"
    settings.write_text("openssl_conf = own\n[own]\nssl_conf = tls\n[tls]\nsystem_default = no_such_section\n")
    said, _, errors = call(certificates, OPENSSL_CONF=str(settings), OPENSSL_MODULES=str(tmp_path))
    assert said == "sub_1", errors


# Folders of system certificates; the test hides them with empty mounts in a separate mount namespace.
HIDDEN = ("/etc/ssl", "/etc/pki", "/usr/share/ca-certificates", "/usr/local/share/certs", "/usr/lib/ssl")


def hiding(*commands: str) -> tuple[str, ...]:
    hide = [f"mount -t tmpfs none {place}" for place in HIDDEN if Path(place).is_dir()]
    return ("unshare", "--mount", "sh", "-c", " && ".join([*hide, *commands, 'exec "$@"']), "sh")


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs root for a mount namespace")
def test_certificates_are_found_in_each_place(certificates: Certificates) -> None:
    _, _, errors = call(certificates, *hiding(), trust=False)
    assert "ConfigError: no certificates to trust were found: install ca-certificates, or pass ca_bundle" in errors
    for place in ("/etc/ssl/certs/ca-certificates.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem"):
        put = f"mkdir -p {Path(place).parent} && cp {certificates.bundle} {place}"
        said, _, errors = call(certificates, *hiding(put), trust=False)
        assert said == "sub_1", (place, errors)
    for variable, value in {
        "SSL_CERT_FILE": str(certificates.bundle),
        "SSL_CERT_DIR": str(certificates.folder_of_hashes()),
    }.items():
        said, _, errors = call(certificates, *hiding(), trust=False, **{variable: value})
        assert said == "sub_1", (variable, errors)
