"""Delivery of events: real HTTP POSTs, at least once, retried until a 2xx or until the schedule is used up.

Each endpoint has a queue, so that a slow or broken receiver does not delay the others. A queue makes as many attempts
at once as the endpoint's `concurrency` allows, and begins the first attempts in the order of their events. A retry is a
job on the account's clock and does not delay later events. While an endpoint is paused or disabled, its queue waits.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import sqlite3
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from urllib.parse import urlsplit

from billcore_sandbox import attempts, event_faults, outbox
from billcore_sandbox.faults import Faults
from billcore_sandbox.history import History
from billcore_sandbox.options import Options, is_loopback
from billcore_sandbox.receiver import LOST, Pool
from billcore_sandbox.store import Account, Store
from billcore_sandbox.work import Open

_log = logging.getLogger("billcore_sandbox")
_MOST = 128  # attempts at once, to all receivers together: each attempt needs a file descriptor


class Dispatcher:
    """Starts and records deliveries. The store's rows are authoritative; the queues have only attempts that are due."""

    def __init__(self, options: Options, store: Store, faults: Faults, history: History, effect: Open) -> None:
        self.options, self.store, self.faults, self.history, self.effect = options, store, faults, history, effect
        self.pool = Pool()
        self._queues: dict[int, _Queue] = {}
        self.under_way = 0
        self._starved: dict[_Queue, None] = {}  # queues that wait because _MOST attempts are running, in order
        self._unanswered: dict[int, set[int]] = {}  # account whose clock moves -> endpoints that did not answer in time
        self._progress = asyncio.Event()
        self._told: set[str] = set()

    def may_reach(self, url: str) -> bool:
        """False for a URL whose deliveries are held back: not loopback, and not allowed by an option."""
        options, host = self.options, urlsplit(url).hostname or ""
        reaches = options.deliver_anywhere or is_loopback(host) or any(_fits(host, each) for each in options.deliver_to)
        if not reaches and host not in self._told:
            self._told.add(host)
            _log.warning("deliveries to %s are held back: allow them with --deliver-to %s", host, host)
        return reaches

    def start(self, seqs: list[int]) -> None:
        """Put deliveries, whose rows have been committed, into the queues of their endpoints."""
        groups: dict[int, list[int]] = {}  # deliveries of one group are attempted at the same moment
        queues: dict[int, _Queue] = {}
        for seq in seqs:
            row = self.store.one("SELECT endpoint_id, account, together FROM deliveries WHERE seq = ?", seq)
            if row is None:
                continue
            group = seq if row["together"] is None else row["together"]
            if group in groups:
                groups[group].append(seq)
                continue
            number = row["endpoint_id"]
            queue = queues[number] = self._queues.get(number) or _Queue(self, row["account"], number)
            self._queues[number] = queue
            groups[group] = [seq]
            queue.waiting.append(groups[group])
        for queue in queues.values():
            queue.proceed()

    def look(self, endpoint: int) -> None:
        """Begin the attempts in the queue of an endpoint whose settings or state have changed."""
        if (queue := self._queues.get(endpoint)) is not None:
            queue.proceed()

    def has_room(self, queue: _Queue) -> bool:
        """Whether a queue may begin an attempt; if not, done() calls the queue's proceed() later."""
        if self.under_way < _MOST:
            return True
        self._starved[queue] = None
        return False

    def done(self, queue: _Queue, *, timed_out: bool) -> None:
        """Count an attempt that has ended."""
        self.under_way -= 1
        if timed_out and queue.account in self._unanswered:
            self._unanswered[queue.account].add(queue.endpoint)
            self.rested()
        while self._starved and self.under_way < _MOST:
            queue = next(iter(self._starved))
            del self._starved[queue]
            queue.proceed()

    def rested(self) -> None:
        """Call this when a queue has no attempt that is due any more: every settle() checks its condition again."""
        self._progress.set()

    def resume(self) -> None:
        """Attempt the deliveries that an earlier process left pending in the database file and that have no job."""
        waiting = "SELECT subject FROM jobs WHERE kind = 'delivery'"
        sql = f"SELECT seq FROM deliveries WHERE state = 'pending' AND seq NOT IN ({waiting}) ORDER BY seq"
        self.start([row["seq"] for row in self.store.all(sql)])

    def waits(self, endpoint: int, seq: int) -> bool:
        """Whether a delivery is in the queue of its endpoint, and its attempt has not begun."""
        return endpoint in self._queues and any(seq in group for group in self._queues[endpoint].waiting)

    @contextmanager
    def watching(self, account: int) -> Iterator[set[int]]:
        """Collect the account's endpoints that let an attempt time out: settle() does not wait for them again.

        A receiver in the thread that moves the clock cannot answer before the move ends, so the move must not wait for
        each of its deliveries.
        """
        self._unanswered[account] = set()
        try:
            yield self._unanswered[account]
        finally:
            del self._unanswered[account]

    def is_busy(self, account: int) -> bool:
        """Whether an attempt of the account is due, except to the endpoints that watching() has collected.

        Deliveries to a paused or disabled endpoint are not due.
        """
        ignored = self._unanswered.get(account, ())
        queues = self._queues.values()
        return any(each.due and each.account == account and each.endpoint not in ignored for each in queues)

    async def settle(self, account: int, deadline: float) -> bool:
        """Wait until the account is not busy; False if the event loop's clock reaches `deadline` before."""
        try:
            async with asyncio.timeout_at(deadline):
                while self.is_busy(account):
                    self._progress.clear()
                    await self._progress.wait()
        except TimeoutError:
            return False
        return True

    def count_pending(self, account: Account) -> int:
        own = "endpoint_id IN (SELECT id FROM endpoints WHERE account = ?)"
        return self.store.count(f"deliveries WHERE state = 'pending' AND {own}", account.number)

    def forget(self, endpoints: list[int]) -> None:
        """Cancel the attempts and close the connections of an account's endpoints, because the account is deleted."""
        for endpoint in endpoints:
            if (queue := self._queues.pop(endpoint, None)) is not None:
                self._starved.pop(queue, None)
                queue.stop()
        self._progress.set()

    def drop(self) -> None:
        """Cancel all attempts without recording them."""
        self._starved.clear()
        for queue in self._queues.values():
            queue.stop()
        self._queues.clear()
        self._progress.set()


def _fits(host: str, allowed: str) -> bool:
    if host.lower() == allowed.lower():
        return True
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(allowed, strict=False)
    except ValueError:
        return False


class _Queue:
    """The attempts of one endpoint that are due, in the order in which they begin."""

    def __init__(self, dispatcher: Dispatcher, account: int, endpoint: int) -> None:
        self._dispatcher = dispatcher
        self.account = account
        self.endpoint = endpoint
        self.waiting: deque[list[int]] = deque()
        self._tasks: set[asyncio.Task[bool]] = set()
        self.due = 0  # attempts that run, or wait only for other attempts
        self._stopped = False

    def stop(self) -> None:
        self._stopped = True
        self.waiting.clear()
        for task in self._tasks:
            task.cancel()
        self._dispatcher.pool.close(self.endpoint)

    def proceed(self) -> None:
        """Begin the attempts that the limits allow, and update the number of attempts that are due."""
        if self._stopped:
            return
        endpoint = self._settings()
        goes = endpoint is not None and endpoint["state"] == "enabled" and not endpoint["paused"]
        if endpoint is None or endpoint["state"] == "deleted":
            self.waiting.clear()
            self._dispatcher.pool.close(self.endpoint)
        elif goes:
            while self.waiting and len(self._tasks) < endpoint["concurrency"] and self._dispatcher.has_room(self):
                self._begin(endpoint, self.waiting.popleft())
        self.due = len(self._tasks) + (len(self.waiting) if goes else 0)
        if self.due == 0:
            self._dispatcher.rested()

    def _settings(self) -> sqlite3.Row | None:
        return self._dispatcher.store.one("SELECT * FROM endpoints WHERE id = ?", self.endpoint)

    def _begin(self, endpoint: sqlite3.Row, group: list[int]) -> None:
        """Attempt the deliveries of a group that are still pending, all at the same moment."""
        sql = "SELECT * FROM deliveries WHERE seq = ? AND state = 'pending'"
        rows = [row for seq in group if (row := self._dispatcher.store.one(sql, seq)) is not None]
        meeting = asyncio.Barrier(len(rows)) if len(rows) > 1 else None
        for row in rows:
            task = asyncio.get_running_loop().create_task(self._attempt(endpoint, row, meeting))
            self._tasks.add(task)
            task.add_done_callback(self._end)
        self._dispatcher.under_way += len(rows)

    def _end(self, task: asyncio.Task[bool]) -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            _log.error("an attempt failed", exc_info=error)
        timed_out = not task.cancelled() and error is None and task.result()
        self._dispatcher.done(self, timed_out=timed_out)
        self.proceed()

    async def _attempt(self, endpoint: sqlite3.Row, row: sqlite3.Row, meeting: asyncio.Barrier | None) -> bool:
        """Make an attempt and record it; returns whether it timed out."""
        account = self._dispatcher.store.by_number[self.account]
        options = account.options
        facts = event_faults.facts(account.uuid, row["event"], self.endpoint)
        fault = self._dispatcher.faults.take(
            event_faults.ATTEMPT_KINDS, facts, lambda each: event_faults.fits(each.kind, row["body"])
        )
        connection = self._dispatcher.pool.take(self.endpoint)
        try:
            made = [await attempts.make(options, account, endpoint, row, fault, connection, meeting)]
            if made[0]["error"] == LOST:
                made.append(await attempts.make(options, account, endpoint, row, fault, connection))
        except BaseException:
            connection.close()
            raise
        self._dispatcher.pool.give(self.endpoint, connection, endpoint["concurrency"])
        try:
            self._record(account, row["seq"], made)
        except sqlite3.Error as error:  # for example, the disk is full: the delivery stays pending
            _log.error("an attempt of a delivery cannot be written to the database: %s", error)
            await asyncio.sleep(1)
            self.waiting.append([row["seq"]])
        return bool(made[-1]["error"] == attempts.late(options))

    def _record(self, account: Account, seq: int, made: list[attempts.Record]) -> None:
        """Add attempts to a delivery, and set its state: delivered, failed, or pending with a scheduled retry."""
        endpoint = self._settings()
        if endpoint is None:  # the account was deleted meanwhile
            return
        schedule = json.loads(endpoint["retry_schedule"] or "null")
        schedule = account.options.retry_schedule if schedule is None else schedule
        with self._dispatcher.effect(account) as work:
            row = work.db.execute("SELECT * FROM deliveries WHERE seq = ?", (seq,)).fetchone()
            if row is None:
                return
            records = [*json.loads(row["attempts"]), *made]
            # A delivery is not pending any more if its endpoint was deleted during the attempt.
            state, reason, used = row["state"], row["reason"], attempts.retries(records)
            if attempts.succeeded(made[-1]):
                state, reason = "delivered", None
            elif state == "pending" and used >= len(schedule):
                state = "failed"
            elif state == "pending":
                work.schedule("delivery", seq, "deliver", work.now + timedelta(seconds=schedule[used]))
            for number in range(len(records) - len(made), len(records)):
                work.change("attempt", seq, number=number + 1)
            work.db.execute(
                "UPDATE deliveries SET state = ?, reason = ?, attempts = ? WHERE seq = ?",
                (state, reason, json.dumps(records), seq),
            )
            outbox.release(work, self.endpoint, seq)
        self._dispatcher.history.attempts(seq, made)
