"""Tests each row of the table in python/docs/inbox.md: a second claim while the first transaction is open."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from billcore import inbox
from journal.support import PostgresDatabase, SqliteDatabase
from support.waiting import GENEROUS, until

from .support import event


def second(claim: Callable[[], Any]) -> Callable[[], Any]:
    """Starts a claim in a thread; returns a function that waits for the claim, and returns or raises its result."""
    pool = ThreadPoolExecutor(1)
    result = pool.submit(claim)
    pool.shutdown(wait=False)
    return lambda: result.result(GENEROUS)


def waits(database: PostgresDatabase) -> bool:
    sql = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
    return bool(database.execute(sql))


@pytest.mark.parametrize("end", ["commit", "rollback", "close"])
def test_postgresql_waits_for_the_first(postgresql: PostgresDatabase, end: str) -> None:
    first, other = postgresql.connect(), postgresql.connect()
    assert inbox.claim(first, event())
    ended = second(lambda: inbox.claim(other, event()))
    until(lambda: waits(postgresql))
    getattr(first, end)()
    assert ended() is (end != "commit")
    other.commit()
    first.close()
    other.close()
    assert len(postgresql.execute("SELECT * FROM billcore_inbox")) == 1


@pytest.mark.parametrize("setting", ["lock_timeout", "statement_timeout"])
def test_a_time_out(postgresql: PostgresDatabase, setting: str) -> None:
    with postgresql.connect() as first, postgresql.connect() as other:
        other.execute(f"SET {setting} = '10ms'")
        inbox.claim(first, event())
        with pytest.raises(inbox.InboxBusyError, match="roll back") as raised:
            inbox.claim(other, event())
        assert isinstance(raised.value.__cause__, psycopg.Error)
        other.rollback()


def test_a_failed_serialization(postgresql: PostgresDatabase) -> None:
    with postgresql.connect() as first, postgresql.connect() as other:
        other.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        other.execute("SELECT count(*) FROM billcore_inbox")
        inbox.claim(first, event())
        first.commit()
        with pytest.raises(inbox.InboxBusyError, match="serialize"):
            inbox.claim(other, event())
        other.rollback()
        assert not inbox.claim(other, event())


def test_a_deadlock(postgresql: PostgresDatabase) -> None:
    with postgresql.connect() as first, postgresql.connect() as other:
        for each in (first, other):
            each.execute("SET deadlock_timeout = '10ms'")
        inbox.claim(first, event(1))
        inbox.claim(other, event(2))

        def crossed() -> Any:
            try:
                return inbox.claim(other, event(1))
            finally:
                other.rollback()

        ended = second(crossed)
        until(lambda: waits(postgresql))
        results: list[Any] = []
        for claim in (lambda: inbox.claim(first, event(2)), ended):
            try:
                results.append(claim())
            except inbox.InboxBusyError as error:
                assert "deadlock" in str(error)
                results.append("busy")
                first.rollback()
        assert "busy" in results


def test_a_lock_of_an_object(postgresql: PostgresDatabase) -> None:
    with postgresql.connect() as first, postgresql.connect() as other:
        inbox.lock(first, "subscription:1")
        inbox.lock(first, "subscription:1")
        inbox.lock(other, "subscription:2")
        ended = second(lambda: inbox.lock(other, "subscription:1"))
        until(lambda: waits(postgresql))
        first.commit()
        ended()


def test_sqlite_has_one_writer(sqlite: SqliteDatabase) -> None:
    first, other = sqlite.connect(), sqlite.connect()
    other.execute("PRAGMA busy_timeout = 10")
    assert inbox.claim(first, event())
    inbox.lock(first, "subscription:1")
    with pytest.raises(inbox.InboxBusyError, match="locked"):
        inbox.claim(other, event())
    first.rollback()
    assert inbox.claim(other, event())
    other.commit()
    assert not inbox.claim(first, event())
    first.close()
    other.close()


def test_a_lock_without_a_claim_waits_for_sqlites_writer(sqlite: SqliteDatabase) -> None:
    first, other = sqlite.connect(), sqlite.connect()
    other.execute("PRAGMA busy_timeout = 10")
    inbox.lock(first, "order:1")
    with pytest.raises(inbox.InboxBusyError, match="locked"):
        inbox.lock(other, "order:1")
    first.commit()
    inbox.lock(other, "order:1")
    first.close()
    other.close()
