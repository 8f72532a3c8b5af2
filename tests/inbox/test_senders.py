"""Senders that stop, disconnect or announce too much, and a database that is down: the receivers of examples/inbox."""

from __future__ import annotations

import contextlib
import os
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from billcore import testing
from journal.support import PostgresDatabase
from serverless.support import disconnect, half_body, post_head, read_all
from support.postgres import Postgres
from support.waiting import GENEROUS, until

from .receivers import RECEIVERS, Send
from .support import prepare

BUILT = [name for name in RECEIVERS if f"BILLCORE_INBOX_{name.upper()}" in os.environ or name not in ("go", "rust")]


@pytest.fixture(scope="module")
def server() -> Iterator[Postgres]:
    """A server of its own, which a test kills."""
    made = Postgres()
    yield made
    made.close()


@pytest.fixture(scope="module")
def receivers(server: Postgres) -> Iterator[dict[str, Send]]:
    """All receivers at once, so that their time limits pass at once."""
    database = PostgresDatabase(server)
    prepare(database)
    database.execute("CREATE TABLE paid_orders (id text NOT NULL)")
    with contextlib.ExitStack() as stack:
        yield {name: stack.enter_context(RECEIVERS[name](database)) for name in BUILT}


@pytest.fixture(scope="module")
def ports(receivers: dict[str, Send]) -> dict[str, int]:
    return {name: send.port for name, send in receivers.items() if send.port is not None}


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


def test_senders_that_disconnect(receivers: dict[str, Send], ports: dict[str, int]) -> None:
    for port in ports.values():
        for sent in (0, 11):
            for reset in (False, True):
                disconnect(half_body(port, sent=sent), reset=reset)
    delivery = testing.event("order.paid", event_id=1, id=1)
    assert {name: send(*delivery) for name, send in receivers.items()} == dict.fromkeys(receivers, 200)
    no_errors(receivers)


def test_a_database_that_is_down(receivers: dict[str, Send], server: Postgres) -> None:
    delivery = testing.event("order.paid", event_id=2, id=2)
    server.kill()
    with ThreadPoolExecutor(len(receivers)) as pool:
        for _ in range(2):  # with connections that are open, and with new connections
            answers = pool.map(lambda send: send(*delivery), receivers.values())
            assert dict(zip(receivers, answers, strict=True)) == dict.fromkeys(receivers, 503)
    server.start()
    until(lambda: all(send(*delivery) == 200 for send in receivers.values()))
    no_errors(receivers)


def no_errors(receivers: dict[str, Send]) -> None:
    for name, send in receivers.items():
        assert not [word for word in ("Traceback", "panic", "goroutine") if word in send.output()], (
            name,
            send.output(),
        )
