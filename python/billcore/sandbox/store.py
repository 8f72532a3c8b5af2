"""The store: one SQLite connection, seeded once, with a transaction that holds an effect and its ledger row together.

Threads: everything runs on the event loop's thread; a statement takes microseconds, so none is sent elsewhere.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from billcore.sandbox import schema, seed
from billcore.sandbox.options import DEFAULT_SEED


class StoreError(Exception):
    """The database file cannot be used; the text says why and what to do."""


@dataclass(frozen=True, slots=True)
class Account:
    """number: as events show it. uuid: as the base URL shows it."""

    number: int
    uuid: str
    api_key: str


class Store:
    """Owns the connection. `path` None: in memory. `seed_wanted` None: the file's own seed, or the default one."""

    def __init__(self, path: str | None, seed_wanted: int | None) -> None:
        self.path = path
        self._pristine: sqlite3.Connection | None = None
        try:
            self.db = self._open(path)
            self.seed = self._fill(seed_wanted)
        except sqlite3.Error as error:
            raise StoreError(f"cannot use the database {path}: {error}; give another --db file") from None
        self.accounts: list[Account] = [
            Account(row["number"], row["uuid"], row["api_key"])
            for row in self.db.execute("SELECT * FROM accounts ORDER BY number")
        ]
        self._by_uuid = {account.uuid: account for account in self.accounts}
        self._by_key = {account.api_key: account for account in self.accounts}
        self._by_number = {account.number: account for account in self.accounts}

    @staticmethod
    def _open(path: str | None) -> sqlite3.Connection:
        db = sqlite3.connect(path if path is not None else ":memory:", isolation_level=None, timeout=0.5)
        db.row_factory = sqlite3.Row
        if path is not None:
            # One sandbox per file: a second one would hand out the same ids. The lock is taken by the first write.
            db.execute("PRAGMA locking_mode = EXCLUSIVE")
            db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("BEGIN IMMEDIATE")
            db.execute("COMMIT")
        return db

    def _fill(self, seed_wanted: int | None) -> int:
        """Seed an empty database; check that a filled one is ours. Returns its seed."""
        tables = {row["name"] for row in self.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:
            chosen = DEFAULT_SEED if seed_wanted is None else seed_wanted
            seed.create(self.db, chosen)
            return chosen
        if "meta" not in tables:
            raise StoreError(f"{self.path} is no sandbox database: give another --db file")
        meta = {row["key"]: row["value"] for row in self.db.execute("SELECT key, value FROM meta")}
        if meta.get("version") != schema.VERSION:
            raise StoreError(f"{self.path} was made by another version of the sandbox: give another --db file")
        stored = int(meta["seed"])
        if seed_wanted not in (None, stored):
            raise StoreError(
                f"{self.path} was seeded with {stored}, not {seed_wanted}: drop --seed or give another file"
            )
        return stored

    def reset(self) -> None:
        """Back to the seeded state, in one step: a pristine copy, kept from the first time on, replaces everything."""
        if self._pristine is None:
            self._pristine = sqlite3.connect(":memory:", isolation_level=None)
            seed.create(self._pristine, self.seed)
        self._pristine.backup(self.db)

    def close(self) -> None:
        if self._pristine is not None:
            self._pristine.close()
        self.db.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield self.db
        except BaseException:
            self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def one(self, sql: str, *args: Any) -> sqlite3.Row | None:
        row: sqlite3.Row | None = self.db.execute(sql, args).fetchone()
        return row

    def all(self, sql: str, *args: Any) -> list[sqlite3.Row]:
        return self.db.execute(sql, args).fetchall()

    def account_by_uuid(self, uuid: str) -> Account | None:
        return self._by_uuid.get(uuid)

    def account_by_key(self, key: str) -> Account | None:
        return self._by_key.get(key)

    def account_by_number(self, number: int) -> Account:
        return self._by_number[number]
