"""A database that is down, full, locked or of another version: no charge is lost or made twice, errors are one line."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import sqlalchemy

import billcore
from billcore.journal import ChargeInProgressError, JournalError, _store, _table

from .support import CHARGE, Scene, SqliteDatabase, is_one_sentence, on_sqlite, once, settled


def impatient(scene: Scene) -> Callable[[], Any]:
    """A connection function whose SQLite connections wait for a lock only 50 ms."""
    if isinstance(scene.database, SqliteDatabase):
        return lambda: sqlite3.connect(scene.database.where(), timeout=0.05)
    return scene.database.connect


def test_the_database_is_down_at_the_intent(scene: Scene) -> None:
    scene.journal().open()
    once(scene, "GET", scene.database.goes_down)
    with pytest.raises(JournalError) as raised:
        scene.charge(scene.journal(impatient(scene)))
    scene.database.comes_up()
    assert is_one_sentence(raised.value) and raised.value.key == "k"
    assert scene.database.state("k") == "none" and scene.sent() == 0
    settled(scene)


OUTCOMES: dict[str, dict[str, Any]] = {
    "charged": {},
    "lost": {"kind": "reset_after"},
    "refused": {"kind": "status", "status": 422},
    "unreadable": {"kind": "status", "status": 200, "effect": True, "body": "{", "content_type": "application/json"},
}


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_the_database_is_down_at_the_outcome(scene: Scene, outcome: str) -> None:
    scene.journal().open()
    if OUTCOMES[outcome]:
        scene.control.fault(**OUTCOMES[outcome], method="POST", path=CHARGE)
    once(scene, "POST", scene.database.goes_down)
    with pytest.raises(JournalError) as raised:
        scene.charge(scene.journal(impatient(scene)))
    scene.database.comes_up()
    assert is_one_sentence(raised.value) and raised.value.key == "k"
    assert scene.database.state("k") == "sending"
    if outcome == "charged":
        assert raised.value.order is not None and "was made" in str(raised.value)
        assert str(raised.value.order.id) == scene.charges()[0]["order_id"]
    else:
        assert raised.value.order is None and isinstance(raised.value.__cause__, billcore.BillcoreError)
        assert raised.value.outcome_unknown == (outcome in ("lost", "unreadable"))
    with pytest.raises(ChargeInProgressError):
        scene.charge(scene.journal())
    settled(scene)


@pytest.mark.parametrize(
    ("statement", "text"),
    [
        # Not a unique index: the journal must not take the refusal for that of a row that exists.
        ("ALTER TABLE billcore_charges ADD region text CHECK (region IS NOT NULL)", "the journal's database failed: "),
        ("DELETE FROM billcore_journal", "version of no billcore"),
        ("UPDATE billcore_journal SET value = '1'", "version 1, and this billcore knows version 2: use one version"),
    ],
)
def test_a_schema_that_is_not_the_journals(scene: Scene, statement: str, text: str) -> None:
    scene.database.execute(statement)
    with pytest.raises(JournalError, match=text) as raised:
        scene.charge(scene.journal())
    assert is_one_sentence(raised.value) and scene.sent() == 0


def test_tables_are_made_only_on_request(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    """In a database that lost its tables, each key would be charged again."""
    for table in ("billcore_charges", "billcore_journal"):
        scene.database.execute(f"DROP TABLE {table}")
    for _ in range(2):
        with pytest.raises(JournalError, match=r"do not exist in this database: .* create=True"):
            scene.charge(scene.journal())
    assert scene.sent() == 0
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda number: scene.journal(create=True).open(), range(6)))
    assert [each.levelname for each in caplog.records if "has made its tables" in each.message] == ["WARNING"]
    assert scene.charge(scene.journal()).total == 1500


@pytest.mark.parametrize("statement", [_table.INTEND, _table.CERTAIN], ids=["intent", "outcome"])
def test_a_count_of_rows_that_is_neither_0_nor_1(scene: Scene, statement: str) -> None:
    """As in psycopg's pipeline mode. An intent that may not be stored sends nothing."""
    journal = scene.journal()
    session = _store._DriverSession

    class Piped(session):  # type: ignore[misc,valid-type]
        def execute(self, text: str, parameters: Any) -> Any:
            found = super().execute(text, parameters)
            return -1 if text.startswith(statement[:30]) else found

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_store, "_DriverSession", Piped)
        with pytest.raises(JournalError, match="reports -1 changed rows"):
            scene.charge(journal)
    assert scene.sent() == (statement == _table.CERTAIN)
    settled(scene)


@on_sqlite
@pytest.mark.parametrize(
    "source",
    [lambda: sqlite3.connect("file:shared?mode=memory&cache=shared", uri=True), sqlalchemy.create_engine("sqlite://")],
    ids=["shared", "engine"],
)
def test_a_database_in_memory(scene: Scene, source: Any) -> None:
    with pytest.raises(JournalError, match="in memory survives nothing: give it a database file"):
        scene.charge(scene.journal(source))
    assert scene.sent() == 0


@on_sqlite
def test_the_caller_has_locked_the_file(scene: Scene) -> None:
    scene.journal().open()
    scene.database.goes_down()
    sources: list[Any] = [
        impatient(scene),
        sqlalchemy.create_engine(scene.database.url(), connect_args={"timeout": 0.05}),
    ]
    for source in sources:
        with pytest.raises(JournalError, match="locked, maybe by a transaction of your own: end it, then call again"):
            scene.charge(scene.journal(source))
    scene.database.comes_up()
    settled(scene)
