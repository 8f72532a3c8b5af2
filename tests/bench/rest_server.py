"""nginx on loopback with one answer: plain HTTP/1.1, TLS with HTTP/1.1, TLS with HTTP/2."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

ACCOUNT = "0b7e5a52-3f0e-4c55-9d8c-1f2a3b4c5d6e"
TRANSPORTS = {"plain": "plain HTTP/1.1", "tls": "TLS, HTTP/1.1", "http2": "TLS, HTTP/2"}

# One process without a master: nothing is left over when it ends. The port for HTTP/2 answers nothing else.
CONFIG = """
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  client_body_temp_path {folder}/tmp;
  proxy_temp_path {folder}/tmp;
  fastcgi_temp_path {folder}/tmp;
  uwsgi_temp_path {folder}/tmp;
  scgi_temp_path {folder}/tmp;
  default_type application/json;
  root {folder}/root;
  open_file_cache max=16 inactive=1h;
  open_file_cache_valid 1h;
  keepalive_timeout 1h;
  keepalive_requests 1000000000;
  ssl_certificate {folder}/server.pem;
  ssl_certificate_key {folder}/server.key;
  ssl_protocols TLSv1.2 TLSv1.3;
  server {{ listen 127.0.0.1:{plain}; }}
  server {{ listen 127.0.0.1:{tls} ssl; }}
  server {{
    listen 127.0.0.1:{http2} ssl http2;
    if ($server_protocol != HTTP/2.0) {{ return 505; }}
  }}
}}
"""


class Authority:
    """A certificate authority of its own, and a certificate for 127.0.0.1. bundle: what a client trusts."""

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


def _free_ports(count: int) -> list[int]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


class Nginx:
    """Answers every subscription with `body`. base_urls: by transport."""

    def __init__(self, folder: Path, authority: Authority, body: bytes) -> None:
        folder.mkdir()
        for name in ("server.pem", "server.key"):
            shutil.copy(authority.folder / name, folder)
        answers = folder / "root" / ACCOUNT / "subscription"
        answers.mkdir(parents=True)
        (answers / "sub_1001").write_bytes(body)
        self._folder = folder
        self._ports = dict(zip(TRANSPORTS, _free_ports(len(TRANSPORTS)), strict=True))
        (folder / "nginx.conf").write_text(CONFIG.format(folder=folder, **self._ports), "utf-8")
        self.base_urls = {
            name: f"{'http' if name == 'plain' else 'https'}://127.0.0.1:{port}/{ACCOUNT}"
            for name, port in self._ports.items()
        }

    def __enter__(self) -> Self:
        nginx = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin")
        if nginx is None:
            raise RuntimeError("there is no nginx")
        # -e: or it complains of the system's log before it has read that it has one of its own.
        command = [nginx, "-p", str(self._folder), "-e", "error.log", "-c", "nginx.conf"]
        with (self._folder / "output").open("wb") as output:
            self._process = subprocess.Popen(command, stdout=output, stderr=output)
        for port in self._ports.values():
            self._wait_for(port)
        return self

    def _wait_for(self, port: int) -> None:
        for _ in range(200):
            if self._process.poll() is not None:
                break
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return
            except ConnectionRefusedError:
                time.sleep(0.02)
        self._stop()
        raise RuntimeError(f"nginx does not answer: {(self._folder / 'output').read_text('utf-8')}")

    def _stop(self) -> None:
        self._process.terminate()
        self._process.wait()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop()
