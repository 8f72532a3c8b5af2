"""The recipe for PostgreSQL in python/docs/guides/exporting.md, two nights in a row."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from billcore.testing import SandboxAccount
from support.postgres import Postgres, find

from .support import client_of, environment, listed

PAGE = Path(__file__).parents[2] / "python/docs/guides/exporting.md"
COUNTS = "SELECT count(*), count(created_at), sum(total), count(DISTINCT subscription_id) FROM orders"


def test_the_table_has_the_orders_of_the_last_night(
    account: SandboxAccount, postgres: Postgres, tmp_path: Path
) -> None:
    page = PAGE.read_text("utf-8").partition("## Loading a database")[2]
    commands, script = (re.findall(rf"^```{kind}\n(.*?)^```$", page, re.M | re.S)[0] for kind in ("sh", "text"))
    (tmp_path / "load.sql").write_text(script)
    command = tmp_path / "billcore"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m billcore "$@"\n')
    command.chmod(0o755)
    psql = find("psql")
    variables = environment(account) | {"PGHOST": postgres.host, "PGPORT": str(postgres.port), "PGUSER": "postgres"}
    variables["PATH"] = f"{tmp_path}:{Path(psql).parent}:{variables['PATH']}"

    def run(*arguments: str) -> str:
        return subprocess.run(arguments, cwd=tmp_path, env=variables, check=True, capture_output=True, text=True).stdout

    with client_of(account) as client:
        for _ in range(2):
            run("sh", "-e", "-c", commands)
            orders = listed(client)
            total = sum(order.total for id in {id for id, _ in orders} for order in client.subscriptions.orders(id))
            expected = f"{len(orders)}|{len(orders)}|{total}|{len({id for id, _ in orders})}"
            assert run(psql, "-At", "-c", COUNTS).strip() == expected
            account.control.fault("rows", operation="subscriptions.orders", insert=3, delete=1)
            client.subscriptions.orders(orders[0][0]).first()
