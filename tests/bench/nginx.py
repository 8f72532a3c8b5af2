"""Runs nginx on loopback, for the duration of a measurement."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from pathlib import Path
from types import TracebackType
from typing import Self

ACCOUNT = "0b7e5a52-3f0e-4c55-9d8c-1f2a3b4c5d6e"

# nginx runs as one process without a master process, so no other process is left when this process ends.
CONFIG = """
{modules}
daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
worker_rlimit_nofile 16384;
events {{ worker_connections 8192; }}
http {{
  access_log off;
  client_body_temp_path {folder}/tmp;
  proxy_temp_path {folder}/tmp;
  fastcgi_temp_path {folder}/tmp;
  uwsgi_temp_path {folder}/tmp;
  scgi_temp_path {folder}/tmp;
  default_type application/json;
  root {folder}/root;
  open_file_cache_valid 1h;
  keepalive_timeout 1h;
  keepalive_requests 1000000000;
{http}
}}
"""


def _free_ports(count: int) -> list[int]:
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in held]
    for one in held:
        one.close()
    return ports


class Nginx:
    """Runs one nginx. http: configuration for nginx's `http` block; `{folder}`, and `{NAME}` for each name in
    `ports`, are replaced. root: the folder with the files to serve. processor: the number of the processor that nginx
    runs on; None: nginx may run on the same processors as this process."""

    def __init__(
        self, folder: Path, http: str, ports: list[str], *, modules: str = "", processor: int | None = None
    ) -> None:
        self.root = folder / "root"
        self.root.mkdir(parents=True)
        self.ports = dict(zip(ports, _free_ports(len(ports)), strict=True))
        self._folder = folder
        self._processor = processor
        part = http.format(folder=folder, **self.ports)
        (folder / "nginx.conf").write_text(CONFIG.format(folder=folder, modules=modules, http=part), "utf-8")

    def __enter__(self) -> Self:
        nginx = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin")
        if nginx is None:
            raise RuntimeError("nginx is not installed")
        # Without -e, nginx would open the system's error log before it reads its configuration, and fail.
        command = [nginx, "-p", str(self._folder), "-e", "error.log", "-c", "nginx.conf"]
        with (self._folder / "output").open("wb") as output:
            self._process = subprocess.Popen(command, stdout=output, stderr=output)
        if self._processor is not None:
            os.sched_setaffinity(self._process.pid, {self._processor})
        for port in self.ports.values():
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
