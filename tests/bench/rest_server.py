"""Runs an nginx that sends one fixed answer over plain HTTP/1.1, TLS with HTTP/1.1, and TLS with HTTP/2."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from .bodies import filled, spelled
from .nginx import ACCOUNT, Nginx
from .turns import ROOT

SIZE = 1000

TRANSPORTS = {"plain": "plain HTTP/1.1", "tls": "TLS, HTTP/1.1", "http2": "TLS, HTTP/2"}

# The port {http2} refuses protocols other than HTTP/2.
HTTP = """
ssl_certificate {folder}/server.pem;
ssl_certificate_key {folder}/server.key;
ssl_protocols TLSv1.2 TLSv1.3;
open_file_cache max=16 inactive=1h;
server {{
  listen 127.0.0.1:{plain};
  location ~ /order$ {{ return 201 '{order}'; }}
}}
server {{ listen 127.0.0.1:{tls} ssl; }}
server {{
  listen 127.0.0.1:{http2} ssl http2;
  if ($server_protocol != HTTP/2.0) {{ return 505; }}
}}
"""


def _example(name: str) -> dict[str, Any]:
    return json.loads((ROOT / "tests/fixtures/wire/_examples.json").read_text("utf-8"))[name]  # type: ignore[no-any-return]


def answer() -> tuple[bytes, str]:
    """Returns the body that nginx sends, and the fields that contenders read from it."""
    subscription = _example("Subscription")
    body = filled({"data": subscription}, subscription["metadata"], SIZE)
    return body, "\t".join(subscription[name] for name in ("id", "reference_id", "status"))


def order() -> tuple[str, int]:
    """Returns the body that nginx sends after a charge, and the sum that a contender must return for it: of the amount
    and of the lengths of the id and the state."""
    made = _example("Order")
    return spelled({"data": made}).decode(), made["total"] + len(made["id"]) + len(made["state"])


class Authority:
    """A test CA, and its certificate for 127.0.0.1. bundle: the file with the certificate of the CA, which clients
    trust."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.bundle = folder / "ca.pem"
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        self._openssl("req", "-x509", *key, "-days", "2", "-subj", "/CN=bench", "-keyout", "ca.key", "-out", "ca.pem")
        self._openssl("req", "-new", *key, "-subj", "/CN=127.0.0.1", "-keyout", "server.key", "-out", "server.csr")
        (folder / "server.ext").write_text("subjectAltName=IP:127.0.0.1\nbasicConstraints=CA:FALSE\n", "ascii")
        self._openssl(
            *["x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"],
            *["-days", "2", "-extfile", "server.ext", "-out", "server.pem"],
        )

    def _openssl(self, *arguments: str) -> None:
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True)


def _quoted(text: str) -> str:
    """Escapes a text that has no ' and no $ for quotes in nginx's configuration, which goes through str.format()."""
    return text.replace("\\", "\\\\").replace("{", "{{").replace("}", "}}")


class RestServer(Nginx):
    """Answers every request for a subscription with `body`, and over plain HTTP every charge with an order. base_urls:
    maps each transport to its URL."""

    def __init__(self, folder: Path, authority: Authority, body: bytes) -> None:
        super().__init__(folder, HTTP.replace("{order}", _quoted(order()[0])), list(TRANSPORTS))
        for name in ("server.pem", "server.key"):
            shutil.copy(authority.folder / name, folder)
        answers = self.root / ACCOUNT / "subscription"
        answers.mkdir(parents=True)
        (answers / "sub_1001").write_bytes(body)
        self.base_urls = {
            name: f"{'http' if name == 'plain' else 'https'}://127.0.0.1:{port}/{ACCOUNT}"
            for name, port in self.ports.items()
        }
