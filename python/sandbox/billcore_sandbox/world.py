"""World: the state that all routes share, such as the store, the jobs and the deliveries.

A change, its ledger row, its jobs and its deliveries are written in one SQLite transaction: all or none. The
deliveries start after the commit.
"""

from __future__ import annotations

import secrets
import sqlite3
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

from billcore_sandbox import events
from billcore_sandbox.delivery import Dispatcher
from billcore_sandbox.faults import Faults
from billcore_sandbox.history import History
from billcore_sandbox.jobs import Jobs
from billcore_sandbox.lifecycle import Machine
from billcore_sandbox.options import SECRET_LENGTH, Options
from billcore_sandbox.store import Account, Store
from billcore_sandbox.strictness import Unknown
from billcore_sandbox.work import Given, Work


class World:
    """The state of a running sandbox, which all routes share."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.machine = Machine()
        self.store = Store(options)
        self.faults = Faults(self.store.seed)
        self.unknown = Unknown()
        self.history = History(options, self.store)
        self.dispatcher = Dispatcher(options, self.store, self.faults, self.history, self.effect)
        self.jobs = Jobs(self.store, self.effect)
        reach = self.dispatcher.may_reach
        self._given = Given(self.store, self.machine, self.faults, reach, self.new_secret)
        self.after_reset: list[Callable[[], object]] = []  # for example, register the receivers of --deliver
        self._held: list[Work] | None = None  # effects to announce at the end of together()
        self._request: int | None = None
        # Performs a recorded request again; returns the id of its record. Set by the recorder of requests.
        self.repeat: Callable[[sqlite3.Row], Awaitable[int]]

    def start(self) -> None:
        """Start the loop of jobs, and the deliveries that an earlier process left in the database file."""
        self.dispatcher.resume()
        self.jobs.start()

    def stop(self) -> None:
        self.jobs.stop()
        self.dispatcher.drop()
        self.history.stop()

    @contextmanager
    def effect(self, account: Account, now: datetime | None = None) -> Iterator[Work]:
        """Open an effect with the time `now` (default: the account's clock).

        The deliveries of the effect start after the commit.
        """
        with self.store.transaction():
            work = Work(self._given, account, now, self._request)
            yield work
            work.link()
        if self._held is None:
            self._announce([work])
        else:
            self._held.append(work)
        if work.next_due is not None:
            self.jobs.look(account, work.next_due)

    @contextmanager
    def serving(self, request: int) -> Iterator[None]:
        """All effects of the block belong to the request with this id."""
        self._request = request
        try:
            yield
        finally:
            self._request = None

    @contextmanager
    def together(self) -> Iterator[None]:
        """Make all effects of the block take effect together, or none of them if the block raises."""
        held: list[Work] = []
        self._held = held
        try:
            with self.store.transaction():
                yield
        finally:
            self._held = None
        self._announce(held)

    def _announce(self, done: list[Work]) -> None:
        """Start the deliveries of committed effects, and wake the requests that wait for them."""
        for work in done:
            self.dispatcher.start(work.new_deliveries)
            self.history.effects(work.recorded)

    def new_secret(self, endpoint: int, old: str | None = None) -> str:
        """A secret of 32 characters: random, or with --seed computed from the seed, the endpoint and its old secret."""
        if self.options.seed is None:
            return secrets.token_hex(SECRET_LENGTH // 2)
        what = f"endpoint {endpoint}" if old is None else f"endpoint {endpoint} after {old}"
        return events.sign(what.encode(), str(self.options.seed))[:SECRET_LENGTH]

    def reset(self) -> None:
        """Restore the demo data, and cancel pending deliveries."""
        self.dispatcher.drop()
        self.faults.clear()
        self.unknown.clear()
        self.store.reset()
        for register in self.after_reset:
            register()
        self.jobs.wake()
        self.history.reset()
