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
from collections.abc import Callable
from datetime import datetime
from typing import Any

from billcore_sandbox import clock
from billcore_sandbox.errors import Refusal
from billcore_sandbox.lifecycle import SUBJECTS
from billcore_sandbox.store import Account, Store
from billcore_sandbox.work import Open, Work

_log = logging.getLogger("billcore_sandbox")
# While a clock is moved, the event loop runs deliveries and requests after this number of jobs.
_SLICE = 25


class Jobs:
    """Runs the jobs of all accounts in one loop, except accounts with a frozen clock. move() also runs jobs."""

    def __init__(self, store: Store, effect: Open) -> None:
        self._store, self._effect = store, effect
        # Heap of (due in real time, account). An entry of the heap may be outdated; only the table `jobs` is reliable.
        self._soon: list[tuple[float, int]] = []
        self._changed = asyncio.Event()
        self._moving: dict[int, bool] = {}  # account whose clock is being moved -> whether the clock ran before
        self._task: asyncio.Task[None] | None = None
        self.runs: dict[str, Callable[[Work, int], None]] = {}  # kind -> function that runs such jobs

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run())
        self.wake()

    def stop(self) -> None:
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
                self._run_next(account, account.clock.now())
                self.look(account)
            except sqlite3.Error as error:  # such as a full disk: try again later
                _log.error("a job cannot be written to the database: %s", error)
                await asyncio.sleep(1)
                self.look(account)
            await asyncio.sleep(0)

    def _run_next(self, account: Account, until: datetime, moving: bool = False) -> dict[str, Any] | None:
        """Run the account's next job that is due by `until`; returns its action and object, or None if no job is due.

        moving: set the account's clock to the time of the job.
        """
        row = self._store.one(
            "SELECT * FROM jobs WHERE account = ? AND due <= ? ORDER BY due, seq LIMIT 1",
            account.number,
            clock.iso_precise(until),
        )
        if row is None:
            return None
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

    async def move(self, account: Account, target: datetime) -> list[Any]:
        """Move the account's clock to `target`, and run the jobs up to it; returns their actions, oldest first."""
        if account.number in self._moving:
            raise Refusal(409, "clock_moves", "Another request is moving this account's clock: wait for its answer.")
        happened: list[Any] = []
        runs = self._moving[account.number] = account.clock.frozen_at is None
        try:
            account.clock.freeze()
            while self._exists(account) and (done := self._run_next(account, target, moving=True)) is not None:
                if "delivery" not in done:
                    happened.append(done)
                if len(happened) % _SLICE == 0:
                    await asyncio.sleep(0)
            account.clock.frozen_at = target
        finally:
            if runs:
                account.clock.run()
            del self._moving[account.number]
            if self._exists(account):
                self._store.save_clock(account)
                self.look(account)
        return happened

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
