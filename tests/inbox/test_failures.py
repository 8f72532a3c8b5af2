"""A database server that is killed at each step, and a process that hangs while its transaction holds the claim."""

from __future__ import annotations

import multiprocessing
import os
import signal
from typing import Any

import psycopg
import pytest

from billcore import inbox
from journal.support import Database, PostgresDatabase
from support.postgres import Postgres
from support.waiting import until

from .support import event, prepare
from .test_drivers import effect


def handle(database: Database, down: str = "", server: Postgres | None = None) -> bool:
    """Handles an event; kills the database server before the step `down`."""

    def at(step: str) -> None:
        if server is not None and step == down:
            server.kill()

    connection = database.connect()
    try:
        at("claim")
        claimed = inbox.claim(connection, event())
        at("effect")
        if claimed:
            effect(connection)
        at("commit")
        connection.commit()
        at("answer")
    finally:
        connection.close()
    return claimed


@pytest.mark.parametrize("down", ["claim", "effect", "commit", "answer"])
def test_a_store_that_goes_down(down: str) -> None:
    server = Postgres()
    try:
        database = PostgresDatabase(server)
        prepare(database)
        if down == "answer":
            assert handle(database, down, server)
        else:
            with pytest.raises(psycopg.OperationalError):
                handle(database, down, server)
            with pytest.raises(psycopg.OperationalError):  # the server is still down
                handle(database)
        server.start()
        assert handle(database) is (down != "answer")
        assert not handle(database)
        assert len(database.execute("SELECT * FROM effects")) == 1
    finally:
        server.close()


def hang(database: Database, told: Any) -> None:
    connection = database.connect()
    told.send(inbox.claim(connection, event()))
    os.kill(os.getpid(), signal.SIGSTOP)


def test_a_worker_that_hangs(database: Database) -> None:
    told, child = multiprocessing.Pipe(duplex=False)
    worker = multiprocessing.get_context("fork").Process(target=hang, args=(database, child), daemon=True)
    worker.start()
    assert told.recv() and worker.pid is not None
    other = database.connect()
    other.execute("SET lock_timeout = '10ms'" if isinstance(database, PostgresDatabase) else "PRAGMA busy_timeout = 10")
    other.commit()
    for _ in range(2):
        with pytest.raises(
            inbox.InboxBusyError, match=r"another transaction is at work .*: roll back and let the sender"
        ):
            inbox.claim(other, event())
        other.rollback()
    worker.kill()
    worker.join()

    def claims() -> bool:
        try:
            return inbox.claim(other, event())
        except inbox.InboxBusyError:  # the database has not yet noticed that the process was killed
            other.rollback()
            return False

    until(claims)
    effect(other)
    other.commit()
    other.close()
    assert not handle(database)
    assert len(database.execute("SELECT * FROM effects")) == 1
