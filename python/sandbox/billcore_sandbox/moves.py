"""Moves of a clock: it shows each due time in turn, so that a receiver that calls the sandbox sees the state of then.

At each due time, the jobs of this time run, and the first attempts of their deliveries end. A retry is a job too, so
it happens at its own due time.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from billcore_sandbox import clock
from billcore_sandbox.delivery import Dispatcher
from billcore_sandbox.jobs import Jobs
from billcore_sandbox.store import Account

# The event loop runs deliveries and requests after this number of jobs.
_SLICE = 25


@dataclass(slots=True)
class Move:
    """A move to `target`: how far it came, and what happened.

    happened: the actions of jobs, oldest first. unanswered: the endpoints that let an attempt time out; the move waits
    for none of them a second time. arrived: false if the move stopped at an earlier time, because its time-out ended.
    """

    account: Account
    target: datetime
    happened: list[Any] = field(default_factory=list)
    unanswered: set[int] = field(default_factory=set)
    arrived: bool = False


async def move(
    jobs: Jobs, dispatcher: Dispatcher, account: Account, target: datetime, *, settles: bool, timeout: float
) -> Move:
    """Move the account's clock to `target`, for at most `timeout` real seconds.

    settles: false runs all jobs before the move waits for deliveries. Raises Refusal if the clock is being moved, and
    if the account is deleted or the sandbox ends during the move.
    """
    deadline = asyncio.get_running_loop().time() + timeout
    with jobs.moving(account), dispatcher.watching(account.number) as unanswered:
        done = Move(account, target, unanswered=unanswered)
        done.arrived = await _go(jobs, dispatcher, done, settles, deadline)
        return done


async def _go(jobs: Jobs, dispatcher: Dispatcher, move: Move, settles: bool, deadline: float) -> bool:
    """Returns whether the clock has arrived at the target before the event loop's clock reached `deadline`."""
    account, count, time = move.account, 0, asyncio.get_running_loop().time
    while True:
        job = jobs.next_job(account, move.target)
        if job is None and not settles:
            _show(account, move.target)
        is_later = job is None or (settles and job["due"] > clock.iso_precise(account.clock.now()))
        if is_later and dispatcher.is_busy(account.number):
            # Afterwards, look for the next job again: an attempt may have scheduled an earlier one.
            if not await dispatcher.settle(account.number, deadline):
                return False
        elif job is None:
            _show(account, move.target)
            return True
        else:
            happened = jobs.run_job(account, job)
            if "delivery" not in happened:
                move.happened.append(happened)
            count += 1
            if time() >= deadline:
                return False
            if count % _SLICE == 0:
                await asyncio.sleep(0)
        jobs.check(account)


def _show(account: Account, target: datetime) -> None:
    # The clock may have run on after the target was computed, and must not go back.
    account.clock.frozen_at = max(target, account.clock.now())
