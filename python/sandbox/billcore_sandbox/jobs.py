"""Jobs: work that runs when the clock of an account reaches a time. One loop runs all jobs in order.

A job is a row (account, due, kind, subject, cause); each object (kind, subject) has at most one job. A job runs when
the clock of its account reaches `due`, in real time or because the clock was moved. The effects of a
job have the time `due`.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import logging
import sqlite3
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from billcore_sandbox import clock
from billcore_sandbox.errors import Refusal
from billcore_sandbox.lifecycle import SUBJECTS
from billcore_sandbox.store import Account, Store
from billcore_sandbox.work import Open, Work

_log = logging.getLogger("billcore_sandbox")


class Jobs:
    """Runs the jobs of all accounts in one loop, except accounts with a frozen clock, whose jobs only a move runs."""

    def __init__(self, store: Store, effect: Open) -> None:
        self._store, self._effect = store, effect
        # Heap of (due in real time, account). An entry of the heap may be outdated; only the table `jobs` is reliable.
        self._soon: list[tuple[float, int]] = []
        self._changed = asyncio.Event()
        self._moving: dict[int, bool] = {}  # account whose clock is being moved -> whether the clock ran before
        self._task: asyncio.Task[None] | None = None
        self._stopped = False
        self.runs: dict[str, Callable[[Work, int], None]] = {}  # kind -> function that runs such jobs

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run())
        self.wake()

    def stop(self) -> None:
        self._stopped = True
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def wake(self) -> None:
        """Plan the next job of every account, after a start or a reset."""
        self._soon = []
        for account in self._store.accounts:
            self.look(account)

    def look(self, account: Account, due: datetime | None = None) -> None:
        """Plan the account's next job. due: the time of that job; without it, the table `jobs` is read."""
        if account.clock.frozen_at is not None:
            return
        if due is None:
            row = self._store.one("SELECT min(due) AS due FROM jobs WHERE account = ?", account.number)
            if row is None or row["due"] is None:
                return
            due = clock.parse(row["due"])
        heapq.heappush(self._soon, ((due - account.clock.offset).timestamp(), account.number))
        self._changed.set()

    async def _run(self) -> None:
        while True:
            self._changed.clear()
            wait = self._soon[0][0] - clock.real().timestamp() if self._soon else None
            if wait is None or wait > 0:
                # The computer's clock may be changed during the wait, so wait for an hour at most.
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), None if wait is None else min(wait, 3600.0))
                continue
            account = self._store.by_number.get(heapq.heappop(self._soon)[1])
            if account is None or account.clock.frozen_at is not None or account.number in self._moving:
                continue
            try:
                if (row := self.next_job(account, account.clock.now())) is not None:
                    self.run_job(account, row)
                self.look(account)
            except sqlite3.Error as error:  # such as a full disk: try again later
                _log.error("a job cannot be written to the database: %s", error)
                await asyncio.sleep(1)
                self.look(account)
            await asyncio.sleep(0)

    def next_job(self, account: Account, until: datetime) -> sqlite3.Row | None:
        """The account's next job that is due by `until`."""
        sql = "SELECT * FROM jobs WHERE account = ? AND due <= ? ORDER BY due, seq LIMIT 1"
        return self._store.one(sql, account.number, clock.iso_precise(until))

    def run_job(self, account: Account, row: sqlite3.Row) -> dict[str, Any]:
        """Run a job; returns its action and object. During a move, the account's clock then shows the job's time."""
        moving = account.number in self._moving
        happened = {"at": row["due"], row["kind"]: str(row["subject"]), "cause": row["cause"]}
        due = clock.parse(row["due"])
        if moving:
            account.clock.frozen_at = max(due, account.clock.now())
        try:
            with self._effect(account, due) as work:
                work.db.execute("DELETE FROM jobs WHERE seq = ?", (row["seq"],))
                if moving:
                    # Save the clock in the job's transaction, so that a kill keeps or loses both effect and time.
                    self._store.save_clock(account, runs=self._moving[account.number])
                self._perform(work, row["kind"], row["subject"], row["cause"])
        except sqlite3.Error:
            raise
        except Exception as error:
            self._store.db.execute("DELETE FROM jobs WHERE seq = ?", (row["seq"],))
            if isinstance(error, Refusal):  # the object has changed, and its new state does not allow the job's action
                happened["refused"] = error.message
            else:
                _log.error("job %s failed", happened, exc_info=error)
                happened["refused"] = "the sandbox itself failed: see its stderr"
        return happened

    @contextlib.contextmanager
    def moving(self, account: Account) -> Iterator[None]:
        """Freeze the account's clock during the block, which moves it. Raises Refusal 409 during another move."""
        if account.number in self._moving:
            raise Refusal(409, "clock_moves", "Another request is moving this account's clock: wait for its answer.")
        runs = self._moving[account.number] = account.clock.frozen_at is None
        account.clock.freeze()
        try:
            yield
        finally:
            if runs:
                account.clock.run()
            del self._moving[account.number]
            if self._exists(account):
                self._store.save_clock(account)
                self.look(account)

    def check(self, account: Account) -> None:
        """Raise Refusal if a move of the account's clock cannot go on."""
        if self._stopped:
            raise Refusal(503, "stopped", "The sandbox ends.")
        if not self._exists(account):
            message = "The account was deleted, or the sandbox was reset, while its clock moved."
            raise Refusal(409, "gone", message)

    def moves(self, account: Account | None) -> bool:
        """Whether the clock of the account, or of any account, is being moved."""
        return bool(self._moving) if account is None else account.number in self._moving

    def _exists(self, account: Account) -> bool:
        """False after the account was deleted or the sandbox was reset."""
        return self._store.by_number.get(account.number) is account

    def _perform(self, work: Work, kind: str, subject: int, cause: str) -> None:
        if kind == "delivery":
            work.new_deliveries.append(subject)
        elif kind in self.runs:
            self.runs[kind](work, subject)
        else:
            work.machine.fire(work, kind, work.row(SUBJECTS[kind].table, subject), cause)
