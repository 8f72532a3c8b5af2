"""What time does: jobs with a due time on their account's clock, run in order by one loop.

A job is a row (account, due, kind, subject, cause); an object has at most one. It runs when the clock of its account
reaches `due`, in real time or because the clock was moved. The clock shows the due time while a job runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import logging
from datetime import datetime
from typing import TYPE_CHECKING, Any

from billcore_sandbox import clock
from billcore_sandbox.errors import Refusal

if TYPE_CHECKING:
    from billcore_sandbox.store import Account
    from billcore_sandbox.world import Work, World

_log = logging.getLogger("billcore_sandbox")
# A clock that moves over many jobs lets deliveries and requests proceed after each of these.
_SLICE = 25


class Jobs:
    """The one loop. Clocks that stand still are left out; moving a clock runs its jobs at once."""

    def __init__(self, world: World) -> None:
        self._world = world
        # (due in real time, account). An entry may be outdated: the table of jobs is the truth.
        self._soon: list[tuple[float, int]] = []
        self._changed = asyncio.Event()
        self._moving: set[int] = set()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run())
        self.wake()

    def stop(self) -> None:
        if self._task is not None:
            self._task.cancel()
            self._task = None

    def wake(self) -> None:
        """Look at the jobs of every account, after a start or a reset."""
        self._soon = []
        for account in self._world.store.accounts:
            self.look(account)

    def look(self, account: Account, due: datetime | None = None) -> None:
        """Remember when the account's next job is due; `due` if the caller knows it."""
        if account.clock.frozen_at is not None:
            return
        if due is None:
            row = self._world.store.one("SELECT min(due) AS due FROM jobs WHERE account = ?", account.number)
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
                # A wall clock may be set; so look again after an hour at most.
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), None if wait is None else min(wait, 3600.0))
                continue
            account = self._world.store.find_number(heapq.heappop(self._soon)[1])
            if account is None or account.clock.frozen_at is not None or account.number in self._moving:
                continue
            self._run_next(account, account.clock.now())
            self.look(account)
            await asyncio.sleep(0)

    def _run_next(self, account: Account, until: datetime) -> dict[str, Any] | None:
        """Run the account's next job that is due; None if there is none."""
        row = self._world.store.one(
            "SELECT * FROM jobs WHERE account = ? AND due <= ? ORDER BY due, seq LIMIT 1",
            account.number,
            clock.iso_precise(until),
        )
        if row is None:
            return None
        happened = {"at": row["due"], row["kind"]: str(row["subject"]), "cause": row["cause"]}
        try:
            with self._world.effect(account, clock.parse(row["due"])) as work:
                work.db.execute("DELETE FROM jobs WHERE seq = ?", (row["seq"],))
                _perform(work, row["kind"], row["subject"], row["cause"])
        except Refusal as error:  # the object changed, so that time has no effect on it any more
            self._world.store.db.execute("DELETE FROM jobs WHERE seq = ?", (row["seq"],))
            happened["refused"] = error.message
        except Exception as error:
            self._world.store.db.execute("DELETE FROM jobs WHERE seq = ?", (row["seq"],))
            _log.error("job %s failed", happened, exc_info=error)
            happened["refused"] = "the sandbox itself failed: see its stderr"
        return happened

    async def move(self, account: Account, target: datetime) -> list[dict[str, Any]]:
        """Move the account's clock to `target`; returns what happened, oldest first."""
        if account.number in self._moving:
            raise Refusal(409, "clock_moves", "Another request is moving this account's clock: wait for its answer.")
        happened: list[dict[str, Any]] = []
        self._moving.add(account.number)
        frozen = account.clock.frozen_at is not None
        try:
            account.clock.freeze()
            while (done := self._run_next(account, target)) is not None:
                account.clock.frozen_at = max(clock.parse(done["at"]), account.clock.now())
                if done["cause"] != "deliver":
                    happened.append(done)
                if len(happened) % _SLICE == 0:
                    await asyncio.sleep(0)
            account.clock.frozen_at = target
        finally:
            if not frozen:
                account.clock.run()
            self._world.store.save_clock(account)
            self._moving.discard(account.number)
            self.look(account)
        return happened


def _perform(work: Work, kind: str, subject: int, cause: str) -> None:
    if kind == "delivery":
        work.new_deliveries.append(subject)
        return
    table = {"subscription": "subscriptions", "order": "orders"}[kind]
    work.machine.fire(work, kind, work.row(table, subject), cause)
