"""Effects that are stored completely or not at all, resets, and database files: own, damaged and foreign."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from billcore.testing import Sandbox
from billcore_sandbox import clock, outbox, seed
from billcore_sandbox.options import Options
from billcore_sandbox.service import products, subscriptions
from billcore_sandbox.service.calls import Call, Reply
from billcore_sandbox.service.endpoints import register
from billcore_sandbox.store import Store
from billcore_sandbox.work import Work
from billcore_sandbox.world import World
from sandbox.support import account, refused

TABLES = ("subscriptions", "orders", "products", "ledger", "deliveries")
BODY = b'{"product_id": 102, "amount": 100, "price": 1}'


def snapshot(store: Store) -> list[list[tuple[object, ...]]]:
    return [[tuple(row) for row in store.all(f"SELECT * FROM {table} ORDER BY 1")] for table in TABLES]


@pytest.mark.parametrize(("owner", "broken"), [(Work, "record"), (outbox, "emit")])
@pytest.mark.parametrize(
    ("operation", "number"),
    [
        (subscriptions.charge, "480001"),
        (subscriptions.cancel, "480001"),
        (subscriptions.change_product, "480001"),
        (products.update, "101"),
        (products.delete, "101"),
    ],
)
def test_an_effect_that_fails_midway_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, owner: object, broken: str, operation: Callable[[Call], Reply], number: str
) -> None:
    world = World(Options())
    with contextlib.closing(world.store):
        # Events are made only if an endpoint is registered.
        register(world, world.store.accounts[0], "https://shop.example/")
        call = Call(world, world.store.accounts[0], id=number, body=BODY, content_type="application/json")
        before = snapshot(world.store)

        def fail(*_: object, **__: object) -> None:
            raise RuntimeError("broken on purpose")

        with monkeypatch.context() as patched:
            patched.setattr(owner, broken, fail)
            with pytest.raises(RuntimeError, match="on purpose"):
                operation(call)
        assert snapshot(world.store) == before
        assert operation(call).status == 200
        assert snapshot(world.store) != before


@pytest.mark.parametrize("start", [None, datetime(2025, 3, 1, tzinfo=UTC)])
def test_a_reset_lays_the_data_out_anew(monkeypatch: pytest.MonkeyPatch, start: datetime | None) -> None:
    """After a reset, the dates of demo data are relative to the time of the reset, not to the start of the process."""
    now = datetime(2026, 1, 12, 9, tzinfo=UTC)
    for module in (clock, seed):
        monkeypatch.setattr(module, "real", lambda: now)
    world = World(Options(start=start))
    with contextlib.closing(world.store):
        world.reset()
        now += timedelta(days=3)
        world.reset()
        begin = now if start is None else start
        assert [each.clock.now() for each in world.store.accounts] == [begin, begin]
        (early,) = world.store.all("SELECT min(renews_at) AS renews_at FROM subscriptions WHERE status = 'active'")
        assert begin < clock.parse(early["renews_at"]) < begin + timedelta(days=3)


# ---- Files -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a sandbox's database."""
    path = tmp_path_factory.mktemp("filled") / "billing.db"
    Store(Options(db=str(path), seed=5)).close()
    return path.read_bytes()


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if not path.name.endswith("-shm")}


def foreign(mode: str) -> Callable[[Path, bytes], None]:
    def make(path: Path, filled: bytes) -> None:
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.executescript(f"PRAGMA journal_mode = {mode}; CREATE TABLE mine (x); INSERT INTO mine VALUES ('keep')")

    return make


def damaged(offset: int, garbage: bytes) -> Callable[[Path, bytes], Any]:
    return lambda path, filled: path.write_bytes(filled[:offset] + garbage + filled[offset + len(garbage) :])


def changed(sql: str) -> Callable[[Path, bytes], None]:
    def make(path: Path, filled: bytes) -> None:
        path.write_bytes(filled)
        with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute(f"UPDATE meta SET {sql}")

    return make


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path, filled: path.write_text("no database, but more than a few bytes\n" * 500), "not a SQLite databa"),
        (foreign("DELETE"), "is not a sandbox's database"),
        (foreign("WAL"), "is not a sandbox's database"),
        (damaged(4096, b"garbage " * 512), ""),
        (damaged(40960, b"\xff" * 16), ""),
        (lambda path, filled: path.write_bytes(filled[: len(filled) // 2]), ""),
        (changed("value = '99' WHERE key = 'version'"), "was made by another version"),
        (changed("key = 'sead' WHERE key = 'seed'"), "is damaged"),
        (changed("value = '6' WHERE key = 'seed'"), "was seeded with 6, not 5"),
    ],
)
def test_a_file_that_is_refused_is_not_changed(
    tmp_path: Path, filled: bytes, make: Callable[[Path, bytes], Any], message: str
) -> None:
    path = tmp_path / "billing.db"
    make(path, filled)
    before = contents(tmp_path)
    told = refused("--db", str(path), "--seed", "5")
    assert message in told and ("give another --db file" in told or "drop --seed" in told)
    assert contents(tmp_path) == before


def test_a_foreign_file_that_another_program_has_open_is_not_changed(tmp_path: Path) -> None:
    """SQLite keeps new data of an open file in a WAL file beside it."""
    own, left = tmp_path / "own.db", tmp_path / "left.db"
    with contextlib.closing(sqlite3.connect(own, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE mine (x)")
        for suffix in ("", "-wal"):  # as after a kill
            shutil.copy(f"{own}{suffix}", f"{left}{suffix}")
        before = contents(tmp_path)
        for path in (own, left):
            assert "is not a sandbox's database" in refused("--db", str(path))
        assert before.items() <= contents(tmp_path).items()


def test_a_file_serves_one_sandbox_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "billing.db"
    path.touch()  # an empty file is filled
    with Sandbox(db=path) as sandbox:
        assert account(sandbox).charge().status == 200
        assert "database is locked" in refused("--db", str(path))
        assert account(sandbox).charge().status == 200
    with Sandbox(db=path) as sandbox:
        assert len(sandbox.control.ledger("charge")) == 2
