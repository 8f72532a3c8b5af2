"""each_missing() while the webhook of the same order arrives, on SQLite and PostgreSQL."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pyarrow
import pytest

import billcore
from billcore import inbox, reconcile, webhooks
from billcore.testing import Sandbox
from journal.support import Database, PostgresDatabase
from support.waiting import GENEROUS, until

from .support import order, orders, read, write_export


@contextmanager
def begin(database: Database) -> Iterator[Any]:
    with closing(database.connect()) as connection:
        yield connection
        connection.commit()


def once(connection: Any, id: Any) -> None:
    """Has its effect once for each order."""
    if not connection.execute(f"SELECT 1 FROM effects WHERE id = '{id}'").fetchall():
        connection.execute(f"INSERT INTO effects VALUES ('{id}')")


def is_locked(database: Database) -> bool:
    """PostgreSQL: the receiver waits for a lock. SQLite: the receiver must wait, because the file has a writer."""
    if isinstance(database, PostgresDatabase):
        waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
        return bool(database.execute(waiting))
    with closing(sqlite3.connect(database.where(), timeout=0)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
        return False


def test_a_late_webhook_at_the_same_time(sandbox: Sandbox, database: Database, tmp_path: Path) -> None:
    account, arrived = sandbox.new_account(), threading.Event()
    verifier = webhooks.Verifier(account.webhook_secret)

    def receiver(environ: dict[str, Any], start: Any) -> list[bytes]:
        event = webhooks.from_wsgi(environ, verifier)
        if isinstance(event, webhooks.OrderPaid):
            arrived.set()
            with begin(database) as connection:
                if inbox.claim(connection, event):
                    inbox.lock(connection, f"order:{event.data.id}")
                    once(connection, event.data.id)
        start("200 OK", [])
        return []

    endpoint = account.serve(receiver, paused=True)
    subscription = account.ids["subscriptions"]["demo-active"]
    with billcore.Client(base_url=account.base_url, api_key=account.api_key) as client:
        made = client.subscriptions.charge(subscription, product_id=account.ids["products"]["one_time"], amount=1500)
    exported = orders(order(1, subscription, id=str(made.id)))
    export = write_export(tmp_path / "export", [(exported, pyarrow.Table.from_pylist([read(subscription)]))], "parquet")

    def on_missing(connection: Any, row: dict[str, Any]) -> None:
        """Lets the webhook arrive after the function has looked, and before it has its effect."""
        connection.execute("SELECT * FROM effects").fetchall()
        account.control.change_endpoint(endpoint.endpoint_id, paused=False)
        assert arrived.wait(GENEROUS)
        until(lambda: is_locked(database))
        once(connection, row["id"])

    with reconcile.compare(export, orders()) as found:
        assert found.each_missing(lambda: begin(database), on_missing) == 1
    account.events("order.paid", timeout=GENEROUS)
    account.close()
    assert database.execute("SELECT id FROM effects") == [(str(made.id),)]


def test_what_fails_is_rolled_back_and_found_again(database: Database, tmp_path: Path) -> None:
    rows = orders(order(1), order(2), order(3))
    export = write_export(tmp_path / "export", [(rows, pyarrow.Table.from_pylist([read("1")]))], "parquet")

    called: list[str] = []

    def fails(connection: Any, row: dict[str, Any]) -> None:
        once(connection, row["id"])
        called.append(row["id"])
        if len(called) == 2:
            raise ZeroDivisionError

    with reconcile.compare(export, orders()) as found, pytest.raises(ZeroDivisionError):
        found.each_missing(lambda: begin(database), fails)
    assert database.execute("SELECT id FROM effects") == [(called[0],)]
    recorded = pyarrow.Table.from_pylist([{"id": called[0]}])
    with reconcile.compare(export, recorded) as found:
        assert found.each_missing(lambda: begin(database), lambda connection, row: once(connection, row["id"])) == 2
    assert sorted(database.execute("SELECT id FROM effects")) == [("1",), ("2",), ("3",)]
