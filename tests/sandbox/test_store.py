"""Effects that are stored completely or not at all, resets, and database files: own, old, damaged and foreign."""

from __future__ import annotations

import contextlib
import json
import shutil
import sqlite3
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from billcore.testing import Control, Sandbox
from billcore_sandbox import clock, events, seed, store_schema
from billcore_sandbox.errors import encode
from billcore_sandbox.options import Options
from billcore_sandbox.service import products, subscriptions
from billcore_sandbox.service.calls import Call, Reply
from billcore_sandbox.service.endpoints import register
from billcore_sandbox.store import Store
from billcore_sandbox.world import Work, World
from sandbox.support import Receiver, Service, account, refused

TABLES = ("subscriptions", "orders", "products", "ledger", "deliveries")
BODY = b'{"product_id": 102, "amount": 100, "price": 1}'


def snapshot(store: Store) -> list[list[tuple[object, ...]]]:
    return [[tuple(row) for row in store.all(f"SELECT * FROM {table} ORDER BY 1")] for table in TABLES]


@pytest.mark.parametrize("broken", ["record", "emit"])
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
    monkeypatch: pytest.MonkeyPatch, broken: str, operation: Callable[[Call], Reply], number: str
) -> None:
    world = World(Options())
    try:
        # Events are made only if an endpoint is registered.
        register(world, world.store.accounts[0], "https://shop.example/")
        call = Call(world, world.store.accounts[0], id=number, body=BODY, content_type="application/json")
        before = snapshot(world.store)

        def fail(*_: object, **__: object) -> None:
            raise RuntimeError("broken on purpose")

        with monkeypatch.context() as patched:
            patched.setattr(Work, broken, fail)
            with pytest.raises(RuntimeError, match="on purpose"):
                operation(call)
        assert snapshot(world.store) == before
        assert operation(call).status == 200
        assert snapshot(world.store) != before
    finally:
        world.store.close()


def test_a_reset_lays_the_data_out_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a reset, the dates of demo data are relative to the time of the reset, not to the start of the process."""
    now = datetime(2026, 1, 12, 9, tzinfo=UTC)
    for module in (clock, seed):
        monkeypatch.setattr(module, "real", lambda: now)
    for start in (None, datetime(2025, 3, 1, tzinfo=UTC)):
        world = World(Options(start=start))
        try:
            world.reset()
            now += timedelta(days=3)
            world.reset()
            begin = now if start is None else start
            assert [each.clock.now() for each in world.store.accounts] == [begin, begin]
            (early,) = world.store.all("SELECT min(renews_at) AS renews_at FROM subscriptions WHERE status = 'active'")
            assert begin < clock.parse(early["renews_at"]) < begin + timedelta(days=3)
        finally:
            world.store.close()


def test_many_clients_at_once(service: Service, control: Control) -> None:
    subscription, product = service.subscription("demo-active"), service.product()
    made: list[str] = []

    def charge() -> None:
        for _ in range(10):
            body = {"product_id": product["id"], "amount": 100}
            made.append(service.post(f"/subscription/{subscription['id']}/order", body).data["id"])

    threads = [threading.Thread(target=charge) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(made)) == 80
    assert sorted(effect["order_id"] for effect in control.ledger("charge")) == sorted(made)
    assert len(control.requests()) == 82


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a sandbox's database."""
    path = tmp_path_factory.mktemp("filled") / "billing.db"
    Store(Options(db=str(path), seed=5)).close()
    return path.read_bytes()


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def foreign(path: Path, mode: str = "DELETE") -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute(f"PRAGMA journal_mode = {mode}")
        db.execute("CREATE TABLE mine (x)")
        db.execute("INSERT INTO mine VALUES ('keep me')")


def change(path: Path, sql: str) -> None:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.executescript(sql)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.write_text("no database, but more than a few bytes\n" * 500), "is not a SQLite database"),
        (lambda path: path.write_text("x"), "is not a SQLite database"),
        (foreign, "is not a sandbox's database"),
        (lambda path: foreign(path, "WAL"), "is not a sandbox's database"),
    ],
    ids=["text", "one byte", "SQLite", "SQLite with a WAL"],
)
def test_a_foreign_file_is_refused_and_not_changed(tmp_path: Path, make: Callable[[Path], Any], message: str) -> None:
    path = tmp_path / "foreign"
    make(path)
    before = contents(tmp_path)
    assert refused("--db", str(path)) == f"billcore sandbox: {path} {message}: give another --db file"
    assert contents(tmp_path) == before


def test_a_foreign_file_that_another_program_has_open_is_not_changed(tmp_path: Path) -> None:
    """SQLite keeps new data of an open file in a WAL file beside it."""
    own = tmp_path / "own.db"
    with contextlib.closing(sqlite3.connect(own, isolation_level=None)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE mine (x)")
        left = tmp_path / "left.db"  # as after a kill
        for suffix in ("", "-wal"):
            shutil.copy(f"{own}{suffix}", f"{left}{suffix}")
        before = contents(tmp_path)
        for path in (own, left):
            assert "is not a sandbox's database" in refused("--db", str(path))
        after = contents(tmp_path)
    assert {name: after[name] for name in before if not name.endswith("-shm")} == {
        name: before[name] for name in before if not name.endswith("-shm")
    }


@pytest.mark.parametrize("offset", [100, 4096, 8192, 40960])
@pytest.mark.parametrize("garbage", [b"\xff" * 16, b"garbage " * 512], ids=["16 bytes", "a page"])
def test_a_damaged_file_is_refused_and_not_changed(tmp_path: Path, filled: bytes, offset: int, garbage: bytes) -> None:
    path = tmp_path / "billing.db"
    path.write_bytes(filled[:offset] + garbage + filled[offset + len(garbage) :])
    before = contents(tmp_path)
    told = refused("--db", str(path))
    assert "is damaged" in told or "is malformed" in told
    assert told.endswith("give another --db file")
    assert contents(tmp_path) == before


def test_half_a_file_is_refused_and_not_changed(tmp_path: Path, filled: bytes) -> None:
    path = tmp_path / "billing.db"
    path.write_bytes(filled[: len(filled) // 2])
    before = contents(tmp_path)
    assert "give another --db file" in refused("--db", str(path))
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        (f"UPDATE meta SET value = '{store_schema.VERSION + 1}' WHERE key = 'version'", "was made by a newer version"),
        ("DELETE FROM meta WHERE key = 'seed'", "is damaged"),
        ("UPDATE meta SET value = 'x' WHERE key = 'seed'", "is damaged"),
    ],
)
def test_a_file_that_this_version_does_not_understand(tmp_path: Path, filled: bytes, sql: str, message: str) -> None:
    path = tmp_path / "billing.db"
    path.write_bytes(filled)
    change(path, sql)
    before = contents(tmp_path)
    told = refused("--db", str(path))
    assert message in told and told.endswith("give another --db file")
    assert contents(tmp_path) == before


def test_another_seed_than_the_files_is_refused(tmp_path: Path, filled: bytes) -> None:
    path = tmp_path / "billing.db"
    path.write_bytes(filled)
    assert "was seeded with 5, not 6" in refused("--db", str(path), "--seed", "6")
    assert path.read_bytes() == filled


def test_a_folder_is_refused_as_a_database(tmp_path: Path) -> None:
    assert "cannot read" in refused("--db", str(tmp_path))
    assert "unable to open database file" in refused("--db", str(tmp_path / "missing" / "billing.db"))
    assert contents(tmp_path) == {}


def test_a_second_sandbox_on_one_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "billing.db"
    with Sandbox(db=path) as sandbox:
        assert account(sandbox).charge().status == 200
        assert "database is locked" in refused("--db", str(path))
        assert account(sandbox).charge().status == 200
        assert len(sandbox.control.ledger("charge")) == 2
    with Sandbox(db=path) as sandbox:
        assert len(sandbox.control.ledger("charge")) == 2


def test_an_empty_file_is_filled(tmp_path: Path) -> None:
    path = tmp_path / "billing.db"
    path.touch()
    with Sandbox(db=path) as sandbox:
        assert account(sandbox).charge().status == 200


SECRET = "0123456789abcdef0123456789abcdef"


def old_file(path: Path, hook: str) -> bytes:
    """Makes a database of version 1 with rows in each table; returns the body of a pending delivery to `hook`."""
    data = json.dumps({"id": "9100001"}).encode()
    began = "2025-05-02T09:00:00+00:00"
    body = encode(events.envelope(50_001, "order.paid", 4001, began, json.loads(data)))
    signature, price = events.sign(body, SECRET), (4001, 101, 1000, 2500, "DKK")
    paid = ("pay_1", None, 1, "[]", "{}")
    rows: dict[str, list[tuple[Any, ...]]] = {
        "meta": [("version", "1"), ("seed", "5")],
        "accounts": [(4001, "4bca41c5-2a0c-4c6d-8ab0-6ff9e3a9f4c1", "key_old")],
        "products": [
            (number, 4001, name, None, kind, 1000, "DKK", 25.0, interval, 0, None, "[]", 0, 0, 0, 0, deleted_at)
            for number, name, kind, interval, deleted_at in (
                (101, "Gym", "subscription", "month", None),
                (102, "Towel", "one_time", None, None),
                (103, "Gone", "subscription", "month", "2025-06-01T09:00:00+00:00"),
            )
        ],
        "product_groups": [(11, 4001, "Group", None), (12, 4001, "Gone", "2025-06-01T09:00:00+00:00")],
        "group_members": [(11, 101)],
        "subscriptions": [
            (*plan, began, None, renews_at, ends_at, None, name, None, status, cancelled, "card", 0, "[]", "{}")
            for plan, name, status, cancelled, renews_at, ends_at in (
                ((480_001, *price), "old-active", "active", 0, "2025-06-02T09:00:00+00:00", None),
                ((480_002, *price), "old-delayed", "delayed", 0, "2025-06-01T09:00:00+00:00", None),
                ((480_003, *price), "old-cancelled", "cancelled", 1, None, "2025-06-01T09:00:00+00:00"),
            )
        ],
        "orders": [
            (9_100_001, 4001, 480_001, 101, began, 1000, 1250, "DKK", "old-active", None, "paid", "card", *paid)
        ],
        "endpoints": [(1, 4001, hook, SECRET)],
        "deliveries": [(50_001, 50_001, 4001, 1, "order.paid", hook, began, data, body, signature, "pending", "[]")],
        "ledger": [(1, "2025-06-02T09:00:00.000000+00:00", 4001, "charge", '{"order_id": "9100001"}')],
    }
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.executescript(store_schema.VERSION_1)
        for table, values in rows.items():
            db.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(values[0]))})", values)
    return body


def test_a_file_of_version_1_is_brought_up_to_date_and_served(tmp_path: Path, receiver: Receiver) -> None:
    path = tmp_path / "billing.db"
    body = old_file(path, receiver.url)
    for start in ("first", "second"):
        with Sandbox(db=path) as sandbox:
            service, control = account(sandbox), sandbox.control
            assert (service.api_key, control.state()["seed"]) == ("key_old", 5)
            assert [product["name"] for product in service.products()] == ["Gym", "Towel"]
            assert service.get("/product/103").status == 404
            assert service.subscription("old-cancelled")["status"] == "cancelled"
            if start == "first":
                assert receiver.wait(1)[0].body == body
                assert receiver.received[0].headers["Service-Signature"] == events.sign(body, SECRET)
                assert control.ledger()[0]["kind"] == "charge"
                order = service.charge("old-active").data
                assert int(order["id"]) > 9_100_001
                renewed = control.renew("480001")["subscription"]
                assert datetime.fromisoformat(renewed["renews_at"]) > datetime.now(UTC)
                assert control.renew("480002")["subscription"]["status"] == "active"
                assert service.post("/product/101", {"price": 2000}).status == 200
                control.advance(days=70)
                assert service.subscription("old-active")["renews_at"] > renewed["renews_at"]
                names = [item["event"] for item in control.wait_for_deliveries()]
                assert {"subscription.renewed", "product-group.updated"} <= {*names}
                assert control.create_account()["number"] == 4002
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT value FROM meta WHERE key = 'version'").fetchone() == (str(store_schema.VERSION),)
