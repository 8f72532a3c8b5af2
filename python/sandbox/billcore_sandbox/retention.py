"""How much of the history is kept: --keep-bytes in all, and with --keep at most N records of each list.

Deleted records are counted, so that nobody takes the records that are left for all of them.
"""

from __future__ import annotations

import contextlib
import sqlite3
from typing import NamedTuple

from billcore_sandbox import store_schema
from billcore_sandbox.options import Options
from billcore_sandbox.store import Store

IN_MEMORY, IN_FILE = 256 << 20, 4 << 30  # the defaults of --keep-bytes


class Kept(NamedTuple):
    """A list of records. kind: of their changes. key: their id. ended: the condition for records to delete."""

    kind: str
    key: str
    ended: str


LISTS = {
    "requests": Kept("request", "id", "id NOT IN (SELECT subject FROM jobs WHERE kind = 'request')"),
    "ledger": Kept("effect", "id", "1"),
    "state_changes": Kept("state", "id", "1"),
    "deliveries": Kept("delivery", "seq", store_schema.ENDED),
}
_MOST_AT_ONCE = 1000
_PAGE = 4096  # bytes of a page in SQLite
_PARTS = 16  # each step deletes this part of the history, so that the steps are few
_USUAL = 2000  # bytes of a record, with its changes and without large bodies


class Retention:
    """Deletes the oldest records."""

    def __init__(self, options: Options, store: Store) -> None:
        self._store, self._keep = store, options.keep
        default = IN_MEMORY if options.db is None else IN_FILE
        self.keep_bytes = default if options.keep_bytes is None else options.keep_bytes
        self._new = 0  # records since the last trim()
        self._unchecked = 0  # bytes, about, since the last look at the size, which takes time

    @property
    def size(self) -> int:
        """The size of the database without its initial data, in bytes."""
        (pages,) = self._store.db.execute("PRAGMA page_count").fetchone()
        (free,) = self._store.db.execute("PRAGMA freelist_count").fetchone()
        return int(pages - free - self._store.seeded_pages) * _PAGE

    def added(self, new: int, size: int) -> None:
        """Call this after `new` records were added, or `size` bytes to a record."""
        self._new += new
        self._unchecked += new * _USUAL + size
        # To find the oldest record that --keep allows takes time, so do it only after many new records.
        many = self._keep is not None and self._new >= min(_MOST_AT_ONCE, max(1, self._keep // 10))
        if many or self._unchecked > self.keep_bytes // _PARTS:
            self.trim()

    def trim(self) -> None:
        """Delete the oldest finished records, until the history is as small as --keep and --keep-bytes say."""
        self._new = self._unchecked = 0
        with contextlib.suppress(sqlite3.Error):  # such as a full disk: the next trim() deletes the records
            if self._keep is not None:
                for name, kept in LISTS.items():
                    sql = f"SELECT {kept.key} FROM {name} WHERE {kept.ended} ORDER BY {kept.key} DESC LIMIT 1 OFFSET ?"
                    if (row := self._store.one(sql, self._keep)) is not None:
                        self._forget(name, kept.key, kept.ended, row[0])
            while self.size > self.keep_bytes and self._forget_part():
                pass

    def forgotten(self, name: str, account: int | None = None) -> tuple[int, int]:
        """The number of deleted records of a list, and their greatest key; of one account, or of all."""
        where, args = ("1", ()) if account is None else ("account = ?", (account,))
        sql = f"SELECT sum(records), max(last) FROM forgotten WHERE list = ? AND {where}"
        records, last = self._store.db.execute(sql, (name, *args)).fetchone()
        return records or 0, last or 0

    def clear(self, account: int | None) -> dict[str, int]:
        """Delete all finished records, of one account or of all, as if the history began now; returns their numbers."""
        where, args = ("1", ()) if account is None else ("account = ?", (account,))
        with self._store.transaction() as db:
            deleted = {
                name: db.execute(f"DELETE FROM {name} WHERE {kept.ended} AND {where}", args).rowcount
                for name, kept in LISTS.items()
            }
            for table in ("forgotten", "changes"):
                db.execute(f"DELETE FROM {table} WHERE {where}", args)
            self._store.insert("changes", {"kind": "cleared", "account": account, "subject": 0})
            for name, kept in LISTS.items():  # the records that are not finished begin the new history
                db.execute(
                    "INSERT INTO changes (kind, account, subject, made)"
                    f" SELECT '{kept.kind}', account, {kept.key}, 1 FROM {name} WHERE {where} ORDER BY {kept.key}",
                    args,
                )
        return deleted

    def _forget_part(self) -> bool:
        """Delete the records of the oldest part of the history; false if the history is empty."""
        sql = "SELECT (SELECT min(id) FROM changes) AS first, (SELECT max(id) FROM changes) AS last"
        (row,) = self._store.all(sql)
        if row["first"] is None:
            return False
        cut = row["first"] + (row["last"] - row["first"]) // _PARTS
        with self._store.transaction():
            for name, kept in LISTS.items():
                # A change of a record comes after the record, so all these records were made before the cut.
                sql = "SELECT max(subject) AS last FROM changes WHERE id <= ? AND kind = ?"
                for each in self._store.all(sql, cut, kept.kind):
                    self._forget(name, kept.key, kept.ended, each["last"] or 0)
            self._forget("changes", "id", "1", cut)
        return True

    def _forget(self, table: str, key: str, ended: str, last: int) -> None:
        """Delete and count the finished records up to a key."""
        where = f"{key} <= ? AND {ended}"
        with self._store.transaction() as db:
            db.execute(
                "INSERT INTO forgotten (list, account, records, last)"
                f" SELECT '{table}', coalesce(account, 0), count(*), max({key}) FROM {table} WHERE {where} GROUP BY 2"
                " ON CONFLICT (list, account)"
                " DO UPDATE SET records = records + excluded.records, last = max(last, excluded.last)",
                (last,),
            )
            db.execute(f"DELETE FROM {table} WHERE {where}", (last,))
