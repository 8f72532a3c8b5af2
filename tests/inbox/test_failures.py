"""A database server that is killed at each step of handling an event."""

from __future__ import annotations

import psycopg
import pytest

from billcore import inbox
from journal.support import PostgresDatabase
from support.postgres import Postgres

from .support import event, prepare
from .test_drivers import effect


def handle(database: PostgresDatabase, number: int, down: str = "", server: Postgres | None = None) -> bool:
    """Handles an event; kills the database server before the step `down`."""

    def at(step: str) -> None:
        if server is not None and step == down:
            server.kill()

    connection = database.connect()
    try:
        at("claim")
        claimed = inbox.claim(connection, event(number))
        at("effect")
        if claimed:
            effect(connection)
        at("commit")
        connection.commit()
        at("answer")
    finally:
        connection.close()
    return claimed


def test_a_store_that_goes_down() -> None:
    server = Postgres()
    try:
        database = PostgresDatabase(server)
        prepare(database)
        for number, down in enumerate(("claim", "effect", "commit", "answer")):
            if down == "answer":
                assert handle(database, number, down, server)
            else:
                with pytest.raises(psycopg.OperationalError):
                    handle(database, number, down, server)
                with pytest.raises(psycopg.OperationalError):  # the server is still down
                    handle(database, number)
            server.start()
            assert handle(database, number) is (down != "answer")
            assert not handle(database, number)
            assert len(database.execute("SELECT * FROM effects")) == number + 1
    finally:
        server.close()
