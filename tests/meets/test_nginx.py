"""nginx in front of the service, which ends each connection after a few requests."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import billcore
from faults.certificates import Certificates
from support.ports import reserve_port
from support.waiting import until

READS, CHARGES = 10_000, 2_000

CONFIGURATION = """
pid {folder}/pid;
error_log {folder}/error.log;
worker_processes 2;
events {{ worker_connections 4096; }}
http {{
  log_format calls '$request_method $uri';
  access_log {folder}/access.log calls;
  client_body_temp_path {folder}/bodies;
  keepalive_requests 7;
  server {{
    listen 127.0.0.1:{port} ssl {http2};
    ssl_certificate {certificate};
    ssl_certificate_key {key};
    default_type application/json;
    location / {{ return 200 '{{"data":{{"id":"o","state":"paid","total":1}}}}'; }}
  }}
}}
"""


class Nginx:
    """nginx as a service that answers every request, and logs each request that it has processed."""

    def __init__(self, folder: Path, certificates: Certificates, http2: bool) -> None:
        self._log = folder / "access.log"
        self._port = reserve_port()
        port = self._port.getsockname()[1]
        certificate, key = certificates.files("good")
        configuration = folder / "nginx.conf"
        values = {"folder": folder, "port": port, "certificate": certificate, "key": key}
        configuration.write_text(CONFIGURATION.format(http2="http2" if http2 else "", **values))
        log = str(folder / "error.log")
        self._process = subprocess.Popen(["nginx", "-c", str(configuration), "-g", "daemon off;", "-e", log])
        until(lambda: (folder / "pid").exists())
        self.options: dict[str, Any] = {
            "base_url": f"https://localhost:{port}/account",
            "api_key": "key",
            "ca_bundle": str(certificates.bundle),
            "timeout": 120.0,
        }

    def stop(self) -> Counter[str]:
        """Lets nginx end its requests; returns how often it has processed each write."""
        self._process.send_signal(3)  # SIGQUIT: a graceful shutdown
        assert self._process.wait() == 0
        self._port.close()
        return Counter(line for line in self._log.read_text().splitlines() if line.startswith("POST"))


def calls() -> Iterator[int | None]:
    """Charges, each with a number of its own, and reads (None), mixed."""
    numbers = itertools.count()
    for position in range(READS + CHARGES):
        yield next(numbers) if position % ((READS + CHARGES) // CHARGES) == 0 else None


async def call(client: billcore.AsyncClient, number: int | None) -> None:
    if number is None:
        await client.orders.get("o")
    else:
        await client.subscriptions.charge(f"s{number}", product_id=1, amount=1)


async def in_tasks(options: dict[str, Any], at_once: int) -> None:
    left = calls()

    async def work(client: billcore.AsyncClient) -> None:
        for number in left:
            await call(client, number)

    async with billcore.AsyncClient(**options) as client:
        await asyncio.gather(*(work(client) for _ in range(at_once)))


def in_threads(options: dict[str, Any], at_once: int) -> None:
    def work(first: int, client: billcore.Client) -> None:
        for number in itertools.islice(calls(), first, None, at_once):
            if number is None:
                client.orders.get("o")
            else:
                client.subscriptions.charge(f"s{number}", product_id=1, amount=1)

    with billcore.Client(**options) as client, ThreadPoolExecutor(at_once) as pool:
        for done in [pool.submit(work, first, client) for first in range(at_once)]:
            done.result()


@pytest.mark.parametrize("way", ["tasks", "threads"])
@pytest.mark.parametrize("http2", [True, False], ids=["http2", "http1"])
def test_every_call_succeeds_and_every_charge_is_made_once(
    tmp_path: Path, certificates: Certificates, http2: bool, way: str
) -> None:
    nginx = Nginx(tmp_path, certificates, http2)
    try:
        if way == "tasks":
            asyncio.run(in_tasks(nginx.options, 40))
        else:
            in_threads(nginx.options, 8)
    finally:
        charged = nginx.stop()
    assert len(charged) == charged.total() == CHARGES
