"""The journal on PostgreSQL behind PgBouncer in transaction mode, where each transaction may get another connection."""

from __future__ import annotations

import os
import pwd
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy

import billcore
from billcore.journal import ChargeInProgressError, Journal, schema
from billcore.testing import Sandbox
from support.ports import reserve_port
from support.postgres import Postgres
from support.waiting import until

CONFIGURATION = """
[databases]
postgres = host={host} port={server} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 2
logfile = {folder}/log
pidfile = {folder}/pid
"""


@pytest.fixture(scope="module")
def pool() -> Iterator[str]:
    """Yields how to connect to PgBouncer."""
    # The user nobody cannot enter pytest's folders.
    made = tempfile.TemporaryDirectory(prefix="billcore-pgbouncer-")
    folder = Path(made.name)
    server = Postgres()
    reserved = reserve_port()
    port = reserved.getsockname()[1]
    configuration = folder / "pgbouncer.ini"
    configuration.write_text(CONFIGURATION.format(host=server.host, server=server.port, port=port, folder=folder))
    command = ["pgbouncer", "-q", str(configuration)]
    if os.geteuid() == 0:  # PgBouncer does not run as root
        owner = pwd.getpwnam("nobody")
        for each in (folder, configuration):
            os.chown(each, owner.pw_uid, owner.pw_gid)
        command[1:1] = ["-u", "nobody"]
    process = subprocess.Popen(command)
    conninfo = f"host=127.0.0.1 port={port} user=postgres dbname=postgres"

    def answers() -> bool:
        try:
            psycopg.connect(conninfo).close()
        except psycopg.OperationalError:
            assert process.poll() is None, (folder / "log").read_text()
            return False
        return True

    until(answers)
    with psycopg.connect(conninfo, autocommit=True) as connection:
        connection.execute(schema("postgresql"))
    yield conninfo
    process.terminate()
    process.wait()
    reserved.close()
    server.close()
    made.cleanup()


def with_psycopg(conninfo: str) -> Callable[[], Any]:
    return lambda: psycopg.connect(conninfo, prepare_threshold=None)


def with_engine(conninfo: str) -> Any:
    return sqlalchemy.create_engine(
        "postgresql+psycopg://", creator=lambda: psycopg.connect(conninfo, prepare_threshold=None)
    )


@pytest.mark.parametrize("source", [with_psycopg, with_engine])
def test_charges_from_many_threads(pool: str, source: Callable[[str], Any]) -> None:
    """More threads than the pool has connections, each of which calls with each key."""
    with Sandbox() as sandbox:
        account = sandbox.new_account()
        with billcore.Client(base_url=account.base_url, api_key=account.api_key) as client:
            journal = Journal(source(pool), client, settle=60)
            product = account.ids["products"]["one_time"]
            products = [product] + [account.control.create_product(f"p{n}", type="one_time")["id"] for n in range(9)]
            subscription = account.ids["subscriptions"]["demo-active"]

            def charge(number: int) -> str:
                key, product = f"{source.__name__}-{number % 10}", products[number % 10]
                while True:
                    try:
                        return str(journal.charge(key, subscription, product_id=product, amount=1500).id)
                    except ChargeInProgressError:
                        time.sleep(0.02)

            with ThreadPoolExecutor(10) as threads:
                orders = set(threads.map(charge, range(100)))
            assert sorted(orders) == sorted(each["order_id"] for each in account.control.ledger("charge"))
            assert len(orders) == 10
