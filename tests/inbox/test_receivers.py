"""Tests the receivers of examples/inbox with two concurrent duplicates, cut connections, and bad deliveries."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from billcore import inbox, testing, webhooks
from journal.support import PostgresDatabase
from serverless.support import DELIVERIES
from support.postgres import Postgres
from support.waiting import until

from .receivers import EXAMPLES, FORMER, RECEIVERS, Send
from .support import event, prepare

PAID = sum(each["status"] == 200 and '"data":{"id":"ord_1"' in each["body"] for each in DELIVERIES)
WAITING = "FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"


@pytest.fixture(scope="module", params=RECEIVERS)
def receiver(request: pytest.FixtureRequest, postgres: Postgres) -> Iterator[tuple[Send, PostgresDatabase]]:
    if request.param in ("go", "rust") and f"BILLCORE_INBOX_{request.param.upper()}" not in os.environ:
        pytest.skip(f"the receiver in {request.param} was not built: tests/run.sh inbox builds it")
    database = PostgresDatabase(postgres)
    prepare(database)
    database.execute("CREATE TABLE paid_orders (id text NOT NULL)")
    with RECEIVERS[request.param](database) as send:
        yield send, database


def at_once(send: Send, database: PostgresDatabase, number: int) -> tuple[Any, list[Future[int]]]:
    """Sends a delivery twice while an open transaction has the claim.

    Returns the transaction's connection and the futures of both answers, when both deliveries wait for the transaction.
    """
    body, signature = testing.event("order.paid", event_id=number, id=number)
    connection = database.connect()
    assert inbox.claim(connection, event(number))
    pool = ThreadPoolExecutor(2)
    answers = [pool.submit(send, body, signature) for _ in range(2)]
    until(lambda: len(database.execute(f"SELECT 1 {WAITING}")) == 2 or any(each.done() for each in answers))
    pool.shutdown(wait=False)
    return connection, answers


def paid(database: PostgresDatabase, number: int) -> int:
    return len(database.execute(f"SELECT id FROM paid_orders WHERE id = '{number}'"))


def test_two_at_once(receiver: tuple[Send, PostgresDatabase]) -> None:
    send, database = receiver
    connection, answers = at_once(send, database, 1)
    connection.rollback()
    assert [each.result() for each in answers] == [200, 200]
    assert paid(database, 1) == 1
    connection.close()


def test_connections_that_are_cut(receiver: tuple[Send, PostgresDatabase]) -> None:
    send, database = receiver
    connection, answers = at_once(send, database, 2)
    database.execute(f"SELECT pg_terminate_backend(pid) {WAITING}")
    assert [each.result() for each in answers] == [503, 503]
    connection.rollback()
    connection.close()
    body, signature = testing.event("order.paid", event_id=2, id=2)
    until(lambda: send(body, signature) == 200)  # pooled connections that were cut may fail once
    assert send(body, signature) == 200
    assert paid(database, 2) == 1


def test_an_effect_that_fails(receiver: tuple[Send, PostgresDatabase]) -> None:
    send, database = receiver
    body, signature = testing.event("order.paid", event_id=3, id=3)
    database.execute("ALTER TABLE paid_orders RENAME TO gone")
    assert send(body, signature) >= 500
    database.execute("ALTER TABLE gone RENAME TO paid_orders")
    assert [send(body, signature), send(body, signature)] == [200, 200]
    assert paid(database, 3) == 1


def test_receivers_in_all_languages_store_the_same_row(receiver: tuple[Send, PostgresDatabase]) -> None:
    send, database = receiver
    number = 10**29 + 4
    body, signature = testing.event("order.paid", event_id=number, id=4, reference_name="x" * 1_000_000)
    assert [send(body, signature), send(body, signature)] == [200, 200]
    assert paid(database, 4) == 1
    with database.connect() as connection:
        assert not inbox.claim(connection, event(number))


def test_a_test_hook_is_accepted_and_a_forged_delivery_refused(receiver: tuple[Send, PostgresDatabase]) -> None:
    send, _ = receiver
    hook = testing.event("test.hook")
    assert [send(*hook), send(*hook)] == [200, 200]
    assert send(hook[0], "0" * 64) == 401


def test_the_shared_deliveries(receiver: tuple[Send, PostgresDatabase]) -> None:
    """An event that can be claimed is claimed, whatever its data is. During a rotation both secrets are accepted."""
    send, database = receiver
    database.execute("TRUNCATE billcore_inbox, paid_orders")
    before = len(send.output())
    for secret in (testing.SECRET, FORMER):
        answers = {
            each["name"]: send(each["body"].encode(), webhooks.sign(each["body"].encode(), secret))
            for each in DELIVERIES
        }
        assert answers == {each["name"]: each["status"] for each in DELIVERIES}
    claimed = [each for each in DELIVERIES if each["status"] == 200 and "test.hook" not in each["body"]]
    assert database.execute("SELECT count(*) FROM billcore_inbox") == [(len(claimed),)]
    orders = database.execute("SELECT id, count(*) FROM paid_orders GROUP BY id ORDER BY id")
    assert orders == [("5", 1), ("ord_1", PAID)]
    assert "Traceback" not in send.output()[before:] and "panic" not in send.output()


def test_a_receiver_is_short() -> None:
    files = [file for file in EXAMPLES.rglob("*") if file.suffix in (".py", ".go", ".rs")]
    assert files and not [file.name for file in files if len(file.read_text().splitlines()) > 40]
