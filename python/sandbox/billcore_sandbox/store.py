"""The store: one SQLite connection with demo data. An effect and its ledger row are written in one transaction.

All statements run in the event loop's thread, because a statement takes only microseconds.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

from billcore_sandbox import clock, seed, seed_file, store_schema
from billcore_sandbox.clock import Clock
from billcore_sandbox.options import DEFAULT_SEED, Options

_MAGIC = b"SQLite format 3\x00"
# Tables whose ids do not repeat after a reset or a restart, unless --seed is given.
_UNIQUE = ("subscriptions", "orders", "deliveries")
_OF_ACCOUNTS = (
    "jobs orders subscriptions product_groups products endpoints api_keys requests ledger deliveries late_requests"
    " state_changes changes forgotten"
)
# A reset makes a new pristine copy if the last copy is older than this, because the times of the demo data are
# relative to the creation of the copy.
_PRISTINE = timedelta(hours=1)


class StoreError(Exception):
    """The database file cannot be used; the message says why and what to do."""


@dataclass(slots=True)
class Account:
    """An account. number: its id in events. uuid: its id in the base URL.

    requests, window_ends: the requests in the current window of its rate limit, and the end of the window.
    """

    number: int
    uuid: str
    api_key: str
    options: Options
    clock: Clock = field(default_factory=Clock)
    requests: int = 0
    window_ends: datetime | None = None


class Store:
    """Owns the SQLite connection and the accounts."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self.path = options.db
        self._identity: str | None = None  # what the UUIDs and keys of the first accounts are made from; None: the seed
        self._pristine: sqlite3.Connection | None = None
        self._pristine_begin = self._begin()
        # Read the seed file only once: later changes of the file must not affect a reset.
        self._fill_first: seed.Fill | None = None
        if options.seed_file is not None:
            self._fill_first = partial(seed_file.fill, seed_file.read(options.seed_file))
        try:
            if self.path is not None:
                _check_file(self.path)
            self.db = _open(self.path)
            self.seed = self._fill()
        except sqlite3.Error as error:
            raise StoreError(f"cannot use the database {self.path}: {error}; give another --db file") from None
        self._load_accounts()
        self._skip_used_ids({})
        self._begin_history()

    def _fill(self) -> int:
        """Seed an empty database; returns the seed of the database."""
        wanted = self._options.seed
        if not self._tables():
            chosen = DEFAULT_SEED if wanted is None else wanted
            self._identity = secrets.token_hex(32) if wanted is None else None
            seed.create(self.db, chosen, self._begin(), self._options, self._fill_first, self._identity)
            return chosen
        meta = {row["key"]: row["value"] for row in self.db.execute("SELECT key, value FROM meta")}
        self._identity = meta.get("identity")
        try:
            stored = int(meta["seed"])
        except (KeyError, ValueError):
            raise StoreError(f"the database {self.path} is damaged: give another --db file") from None
        if wanted not in (None, stored):
            raise StoreError(f"{self.path} was seeded with {stored}, not {wanted}: drop --seed or give another file")
        return stored

    def _tables(self) -> set[str]:
        return {row["name"] for row in self.db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def _begin(self) -> datetime:
        """The time at which the demo accounts begin."""
        return self._options.start if self._options.start is not None else clock.real().replace(microsecond=0)

    def _load_accounts(self) -> None:
        self.by_uuid: dict[str, Account] = {}
        self.by_number: dict[int, Account] = {}
        for row in self.db.execute("SELECT * FROM accounts ORDER BY number"):
            frozen = None if row["frozen_at"] is None else clock.parse(row["frozen_at"])
            shown = Clock(timedelta(microseconds=row["offset_us"]), frozen)
            options = self._options.replaced(json.loads(row["options"]))
            self.know(Account(row["number"], row["uuid"], row["api_key"], options, shown))

    def know(self, account: Account) -> None:
        """Add an account whose row exists."""
        self.by_uuid[account.uuid] = account
        self.by_number[account.number] = account

    @property
    def accounts(self) -> list[Account]:
        return [*self.by_number.values()]

    def forget(self, account: Account) -> None:
        """Delete an account with all its data, also its ledger, requests and deliveries."""
        number = account.number
        with self.transaction():
            of_groups = "group_id IN (SELECT id FROM product_groups WHERE account = ?)"
            self.db.execute(f"DELETE FROM group_members WHERE {of_groups}", (number,))
            for table in _OF_ACCOUNTS.split():
                self.db.execute(f"DELETE FROM {table} WHERE account = ?", (number,))
            self.db.execute("DELETE FROM accounts WHERE number = ?", (number,))
        del self.by_uuid[account.uuid], self.by_number[number]

    def save_clock(self, account: Account, *, runs: bool = False) -> None:
        """Write the account's clock to its row. runs: store the clock as running, although it is frozen during
        a move."""
        shown, frozen = account.clock, account.clock.frozen_at
        if runs and frozen is not None:
            shown, frozen = Clock(frozen - clock.real()), None
        self.db.execute(
            "UPDATE accounts SET offset_us = ?, frozen_at = ? WHERE number = ?",
            (
                shown.offset // timedelta(microseconds=1),
                None if frozen is None else clock.iso_precise(frozen),
                account.number,
            ),
        )

    def _skip_used_ids(self, used: dict[str, int]) -> None:
        """Make new ids greater than all ids that were used before a reset or by an earlier run."""
        if self._options.seed is not None:
            return
        least = int(time.time() * 100_000)  # more ids per second than the sandbox can make
        for number, table in enumerate(_UNIQUE):
            # Each table has its own range of ids, so a program that confuses an order's id with a subscription's fails.
            seq = max(least + number * 10**15, used.get(table, 0))
            self.db.execute("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", (seq, table))

    def reset(self) -> None:
        """Restore the demo data in one step: a pristine copy, kept for later resets, replaces the whole database."""
        begin = self._begin()
        if self._pristine is None or begin - self._pristine_begin > _PRISTINE:
            fresh = sqlite3.connect(":memory:", isolation_level=None)
            seed.create(fresh, self.seed, begin, self._options, self._fill_first, self._identity)
            self._pristine, self._pristine_begin = fresh, begin
        used = {row["name"]: row["seq"] for row in self.db.execute("SELECT name, seq FROM sqlite_sequence")}
        self._pristine.backup(self.db)
        self._load_accounts()
        if self._options.start is not None:
            for account in self.accounts:
                account.clock.set(self._options.start)
                self.save_clock(account)
        self._skip_used_ids(used)
        self._begin_history()

    def _begin_history(self) -> None:
        """Give the history a name of its own, unless an earlier process did: ids of changes begin again with 1."""
        self.db.execute("INSERT OR IGNORE INTO meta VALUES ('history', ?)", (secrets.token_hex(4),))
        meta = {row["key"]: row["value"] for row in self.db.execute("SELECT key, value FROM meta")}
        self.history, self.seeded_pages = str(meta["history"]), int(meta["pages"])

    @property
    def cursor(self) -> str:
        """Where the history ends now: the stream of a reader who gives this text begins with the next change."""
        return f"{self.history}-{self.last_id('changes')}"

    def close(self) -> None:
        if self._pristine is not None:
            self._pristine.close()
        self.db.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A transaction, which may be nested: all its statements take effect, or none if the block raises."""
        inner = self.db.in_transaction
        self.db.execute("SAVEPOINT one" if inner else "BEGIN IMMEDIATE")
        try:
            yield self.db
        except BaseException:
            self.db.execute("ROLLBACK TO one" if inner else "ROLLBACK")
            if inner:
                self.db.execute("RELEASE one")
            raise
        self.db.execute("RELEASE one" if inner else "COMMIT")

    def one(self, sql: str, *args: Any) -> sqlite3.Row | None:
        row: sqlite3.Row | None = self.db.execute(sql, args).fetchone()
        return row

    def all(self, sql: str, *args: Any) -> list[sqlite3.Row]:
        return self.db.execute(sql, args).fetchall()

    def count(self, source: str, *args: Any) -> int:
        """The number of rows of `SELECT … FROM source`."""
        return int(self.db.execute(f"SELECT count(*) FROM {source}", args).fetchone()[0])

    def insert(self, table: str, columns: dict[str, Any]) -> int:
        """Add a row; returns its id."""
        marks = ", ".join("?" * len(columns))
        sql = f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})"
        return self.db.execute(sql, tuple(columns.values())).lastrowid or 0

    def update(self, table: str, number: int, columns: dict[str, Any]) -> None:
        names = ", ".join(f"{name} = ?" for name in columns)
        self.db.execute(f"UPDATE {table} SET {names} WHERE id = ?", (*columns.values(), number))

    def last_id(self, table: str) -> int:
        """The greatest id that a row of the table has, or had before it was deleted."""
        row = self.one("SELECT seq FROM sqlite_sequence WHERE name = ?", table)
        return 0 if row is None else int(row["seq"])

    def account_by_key(self, key: str) -> Account | None:
        row = self.one("SELECT account FROM api_keys WHERE key = ? AND state = 'valid'", key)
        return None if row is None else self.by_number.get(row["account"])

    def uuid_of(self, number: int) -> str | None:
        account = self.by_number.get(number)
        return None if account is None else account.uuid


def _check_file(path: str) -> None:
    """Refuse a file that is not a sandbox's database, without changing it."""
    file = Path(path)
    try:
        with file.open("rb") as opened:
            head = opened.read(len(_MAGIC))
    except FileNotFoundError:
        return
    except OSError as error:
        raise StoreError(f"cannot read {path}: {error.strerror}; give another --db file") from None
    if not head:
        return
    if head != _MAGIC:
        raise StoreError(f"{path} is not a SQLite database: give another --db file")
    # A killed process leaves a WAL file, whose data SQLite must read. If there is no WAL file, immutable=1 makes sure
    # that SQLite writes nothing.
    immutable = "" if Path(path + "-wal").exists() else "&immutable=1"
    uri = f"file:{quote(str(file.resolve()))}?mode=ro{immutable}"
    with contextlib.closing(sqlite3.connect(uri, uri=True, isolation_level=None, timeout=0.5)) as db:
        names = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if names and not {"meta", "accounts", "deliveries"} <= names:
            raise StoreError(f"{path} is not a sandbox's database: give another --db file")
        if names:
            version = db.execute("SELECT value FROM meta WHERE key = 'version'").fetchone()
            if version != (str(store_schema.VERSION),):
                raise StoreError(f"{path} was made by another version of the sandbox: give another --db file")


def _open(path: str | None) -> sqlite3.Connection:
    db = sqlite3.connect(path if path is not None else ":memory:", isolation_level=None, timeout=0.5)
    db.row_factory = sqlite3.Row
    if path is not None:
        # Lock the file: a second sandbox would make the same ids. SQLite takes the lock at the first write.
        db.execute("PRAGMA locking_mode = EXCLUSIVE")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = NORMAL")
        db.execute("BEGIN IMMEDIATE")
        db.execute("COMMIT")
        (found,) = db.execute("PRAGMA integrity_check(1)").fetchone()
        if found != "ok":
            raise StoreError(f"the database {path} is damaged: give another --db file")
    return db
