"""Finds the records that a wait needs. It reads each change of the history once, however often the wait asks."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from billcore_sandbox.control.common import account_number
from billcore_sandbox.control.lists import Conditions, clause
from billcore_sandbox.errors import Refusal
from billcore_sandbox.retention import LISTS
from billcore_sandbox.world import World


class Matches:
    """The records of a list, after the key `since`, that meet the conditions.

    column: a column that `fits` needs, which may refuse further records; found() has its values.
    """

    def __init__(
        self,
        world: World,
        name: str,
        uuid: str | None,
        since: int,
        conditions: Conditions,
        column: str,
        fits: Callable[[str], bool] = lambda _: True,
    ) -> None:
        self._world, self._name, self._uuid, self._since = world, name, uuid, since
        self._column, self._fits = column, fits
        self._kind, self._key, _ = LISTS[name]
        where = {"account = ?": account_number(world, uuid), f"{self._key} > ?": since or None, **conditions}
        self._where, self._args = clause(where)
        self._seen, self._found = 0, dict[int, str]()
        self._read_all()

    def found(self) -> dict[int, str]:
        """The records that match now: their keys, and their values of `column`. Raises Refusal 404 or 409."""
        self._check()
        last = self._world.store.last_id("changes")
        if self._seen < last:
            sql = "SELECT DISTINCT kind, subject FROM changes WHERE id > ? AND kind IN (?, 'cleared')"
            rows = self._world.store.all(sql, self._seen, self._kind)
            self._seen = last
            if any(row["kind"] == "cleared" for row in rows):
                self._read_all()
            else:
                for row in rows:
                    self._read(row["subject"])
        return self._found

    def rows(self) -> list[sqlite3.Row]:
        """The rows of the records that match now, oldest first."""
        found, sql = self.found(), f"SELECT * FROM {self._name} WHERE {self._where} ORDER BY {self._key}"
        return [row for row in self._world.store.all(sql, *self._args) if row[self._key] in found]

    def _read_all(self) -> None:
        self._seen = self._world.store.last_id("changes")
        sql = f"SELECT {self._key}, {self._column} FROM {self._name} WHERE {self._where}"
        self._found = {row[0]: row[1] for row in self._world.store.all(sql, *self._args) if self._fits(row[1])}

    def _read(self, key: int) -> None:
        """Look again at a record that has changed."""
        sql = f"SELECT {self._column} FROM {self._name} WHERE {self._where} AND {self._key} = ?"
        row = self._world.store.one(sql, *self._args, key)
        if row is not None and self._fits(row[0]):
            self._found[key] = row[0]
        else:
            self._found.pop(key, None)

    def _check(self) -> None:
        """Refuse to count when records after `since` have been deleted: they may have matched."""
        account = account_number(self._world, self._uuid)
        records, last = self._world.history.retention.forgotten(self._name, account)
        if last > self._since:
            what = f"{records} {self._name} were deleted because the history was full, so this wait cannot count them"
            where = f"raise --keep-bytes (or --keep), or send since: {last} or more"
            raise Refusal(409, "forgotten", f"{what}: {where}.", details={"forgotten": records, "since": last})
