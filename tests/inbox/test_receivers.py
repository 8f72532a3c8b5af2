"""Tests the receivers of examples/inbox: two duplicates at once, cut connections, bad deliveries, senders that stop,
disconnect or announce too much, and a database that is down."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from billcore import inbox, testing, webhooks
from journal.support import PostgresDatabase
from serverless.support import DELIVERIES, disconnect, half_body, post_head, read_all
from support.postgres import Postgres
from support.waiting import GENEROUS, until

from .receivers import FORMER, RECEIVERS, Send
from .support import event, prepare

PAID = sum(each["status"] == 200 and '"data":{"id":"ord_1"' in each["body"] for each in DELIVERIES)
WAITING = "FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"

BUILT = [name for name in RECEIVERS if f"BILLCORE_INBOX_{name.upper()}" in os.environ or name not in ("go", "rust")]
Receiver = tuple[Send, PostgresDatabase]


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    """A server of its own, which a test kills."""
    made = Postgres()
    yield made
    made.close()


@pytest.fixture(scope="module")
def receivers(server: Postgres) -> Iterator[dict[str, Receiver]]:
    """All receivers, each with a database; they run at once, so that their time limits pass at once."""
    with contextlib.ExitStack() as stack:
        made = {}
        for name in BUILT:
            database = PostgresDatabase(server)
            prepare(database)
            database.execute("CREATE TABLE paid_orders (id text NOT NULL)")
            made[name] = (stack.enter_context(RECEIVERS[name](database)), database)
        yield made


@pytest.fixture(params=RECEIVERS)
def receiver(request: pytest.FixtureRequest, receivers: dict[str, Receiver]) -> Receiver:
    if request.param not in receivers:
        pytest.skip(f"the receiver in {request.param} was not built: tests/run.sh inbox builds it")
    return receivers[request.param]


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


def test_two_at_once(receiver: Receiver) -> None:
    send, database = receiver
    connection, answers = at_once(send, database, 1)
    connection.rollback()
    assert [each.result() for each in answers] == [200, 200]
    assert paid(database, 1) == 1
    connection.close()


def test_connections_that_are_cut(receiver: Receiver) -> None:
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


def test_an_effect_that_fails(receiver: Receiver) -> None:
    send, database = receiver
    body, signature = testing.event("order.paid", event_id=3, id=3)
    database.execute("ALTER TABLE paid_orders RENAME TO gone")
    assert send(body, signature) >= 500
    database.execute("ALTER TABLE gone RENAME TO paid_orders")
    assert [send(body, signature), send(body, signature)] == [200, 200]
    assert paid(database, 3) == 1


def test_receivers_in_all_languages_store_the_same_row(receiver: Receiver) -> None:
    send, database = receiver
    number = 10**29 + 4
    body, signature = testing.event("order.paid", event_id=number, id=4, reference_name="x" * 1_000_000)
    assert [send(body, signature), send(body, signature)] == [200, 200]
    assert paid(database, 4) == 1
    with database.connect() as connection:
        assert not inbox.claim(connection, event(number))


def test_a_test_hook_is_accepted_and_a_forged_delivery_refused(receiver: Receiver) -> None:
    send, _ = receiver
    hook = testing.event("test.hook")
    assert [send(*hook), send(*hook)] == [200, 200]
    assert send(hook[0], "0" * 64) == 401


def test_the_shared_deliveries(receiver: Receiver) -> None:
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


@pytest.fixture
def senders(receivers: dict[str, Receiver]) -> Iterator[dict[str, Send]]:
    """Sends to all receivers; none of them prints an unexpected error during the test."""
    sends = {name: send for name, (send, _) in receivers.items()}
    before = {name: len(send.output()) for name, send in sends.items()}
    yield sends
    for name, send in sends.items():
        printed = send.output()[before[name] :]
        assert not [word for word in ("Traceback", "panic", "goroutine") if word in printed], (name, printed)


@pytest.fixture
def ports(senders: dict[str, Send]) -> dict[str, int]:
    return {name: send.port for name, send in senders.items() if send.port is not None}


def test_senders_that_stop(ports: dict[str, int]) -> None:
    """Half a body is answered with 408 when the time limit has passed; half a head ends the connection."""
    halves = {name: half_body(port) for name, port in ports.items()}
    heads = {
        name: socket.create_connection(("127.0.0.1", ports[name]), GENEROUS) for name in ("go", "rust") if name in ports
    }
    for connection in heads.values():
        connection.sendall(b"POST /webhooks HTTP/1.1\r\nHo")
    assert {name: read_all(connection).split(" ")[1] for name, connection in halves.items()} == dict.fromkeys(
        ports, "408"
    )
    for connection in heads.values():
        read_all(connection)  # returns when the server has closed the connection


def test_an_announced_gigabyte_is_refused_with_413(ports: dict[str, int]) -> None:
    assert {name: post_head(port, 1 << 30).status for name, port in ports.items()} == dict.fromkeys(ports, 413)


def test_senders_that_disconnect(senders: dict[str, Send], ports: dict[str, int]) -> None:
    for port in ports.values():
        for sent in (0, 11):
            for reset in (False, True):
                disconnect(half_body(port, sent=sent), reset=reset)
    delivery = testing.event("order.paid", event_id=11, id=11)
    assert {name: send(*delivery) for name, send in senders.items()} == dict.fromkeys(senders, 200)


def test_a_database_that_is_down(senders: dict[str, Send], server: Postgres) -> None:
    delivery = testing.event("order.paid", event_id=12, id=12)
    server.kill()
    with ThreadPoolExecutor(len(senders)) as pool:
        for _ in range(2):  # with connections that are open, and with new connections
            answers = pool.map(lambda send: send(*delivery), senders.values())
            assert dict(zip(senders, answers, strict=True)) == dict.fromkeys(senders, 503)
    server.start()
    until(lambda: all(send(*delivery) == 200 for send in senders.values()))
