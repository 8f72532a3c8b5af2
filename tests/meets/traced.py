"""A program that a tracer watches: claims, locks and charges with the connections that the drivers' functions return.

Prints, for each driver, the package of the cursor's class and the results. Arguments: the name of the tracer, where
PostgreSQL is (for psycopg, then for asyncpg), and a folder.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asyncpg  # type: ignore[import-untyped]
import psycopg
import psycopg2  # type: ignore[import-untyped]
import sqlalchemy
import wrapt

import billcore
from billcore import inbox, testing, webhooks
from billcore.journal import Journal
from billcore.journal import schema as journal_schema

Connect = Callable[[], Any]

tracer, conninfo, url, folder = sys.argv[1:]

if tracer == "ddtrace":
    importlib.import_module("ddtrace").patch(sqlite3=True, psycopg=True, asyncpg=True)
else:
    for name, instrumentor in {
        "sqlite3": "SQLite3Instrumentor",
        "psycopg": "PsycopgInstrumentor",
        "psycopg2": "Psycopg2Instrumentor",
        "asyncpg": "AsyncPGInstrumentor",
    }.items():
        module = importlib.import_module(f"opentelemetry.instrumentation.{name}")
        getattr(module, instrumentor)().instrument(skip_dep_check=True)


def event(number: str) -> webhooks.Event:
    body, signature = testing.event("order.paid", event_id=number)
    return webhooks.unwrap(body, signature, testing.SECRET)


def claims(name: str, connect: Connect) -> list[Any]:
    results: list[Any] = []
    for _ in range(2):
        with contextlib.closing(connect()) as connection:
            results = results or [type(connection.cursor()).__module__.partition(".")[0]]
            inbox.lock(connection, "order:1")
            results.append(inbox.claim(connection, event(name)))
            connection.commit()
    return results


async def aclaims() -> dict[str, list[Any]]:
    results: dict[str, list[Any]] = {"asyncpg": [], "asyncpg in wrapt": [], "psycopg async": []}
    for _ in range(2):
        for name, wrap in {"asyncpg": lambda it: it, "asyncpg in wrapt": wrapt.ObjectProxy}.items():
            connection = wrap(await asyncpg.connect(url))
            async with connection.transaction():
                await inbox.alock(connection, "order:1")
                results[name].append(await inbox.aclaim(connection, event(name)))
            await connection.close()
        async with await psycopg.AsyncConnection.connect(conninfo) as connection:
            await inbox.alock(connection, "order:1")
            results["psycopg async"].append(await inbox.aclaim(connection, event("psycopg async")))
    return results


def charges(connect: Connect, account: testing.SandboxAccount) -> str:
    subscription, product = account.ids["subscriptions"]["demo-active"], account.ids["products"]["one_time"]
    with billcore.Client(base_url=account.base_url, api_key=account.api_key) as client:
        orders = {
            str(Journal(connect, client, settle=60).charge("k", subscription, product_id=product, amount=1500).id)
            for _ in range(2)
        }
    assert orders == {each["order_id"] for each in account.control.ledger("charge")}
    return "charged once"


file = Path(folder) / "shop.db"
connects: dict[str, Connect] = {
    "sqlite3": lambda: sqlite3.connect(file),
    "psycopg": lambda: psycopg.connect(conninfo),
    "psycopg2": lambda: psycopg2.connect(conninfo),
}
for connect, dialect in ((connects["sqlite3"], "sqlite"), (connects["psycopg"], "postgresql")):
    with contextlib.closing(connect()) as connection:
        for statement in (inbox.schema(dialect) + journal_schema(dialect)).split(";\n")[:-1]:  # type: ignore[arg-type]
            connection.cursor().execute(statement)
        connection.commit()

results: dict[str, Any] = {name: claims(name, connect) for name, connect in connects.items()} | asyncio.run(aclaims())
engine = sqlalchemy.create_engine("sqlite://", creator=connects["sqlite3"])
results["engine"] = []
for _ in range(2):
    with engine.begin() as its_own:
        results["engine"].append(inbox.claim(its_own, event("engine")))
with testing.Sandbox() as sandbox:
    for name in ("sqlite3", "psycopg"):
        results[name].append(charges(connects[name], sandbox.new_account()))
print(json.dumps(results))
