"""Simulates the journal against services that lag, disagree about the time, lose answers and sell to others.

The journal's own statements and decisions run on SQLite; the service, all clocks and the persons are simulated. A
person knows the truth, so a charge that is made twice is the journal's mistake, and none of the person's.

BILLCORE_PROOF=all tests/run.sh journal simulates more keys.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property, partial
from types import SimpleNamespace
from typing import Any

import pytest

import billcore
from billcore.journal import AmbiguousChargeError, ChargePendingError, Journal, UnresolvedChargeError, _steps, _table

KEYS = 18_000 if os.environ.get("BILLCORE_PROOF") == "all" else 300
PRODUCT, AMOUNT = 7, 1500
TIMEOUT, SETTLE = 30.0, 60.0
PAGE = 200


@dataclass(frozen=True)
class World:
    """A service.

    Attributes:
        name: Name of the world.
        lag: Draws the seconds until an order is listed.
        nodes: How much the clocks of the service's nodes are ahead, in seconds; a node writes `created_at`.
        works_late: The probability that the service makes a charge later than the deadline, within `settle`.
        others: Purchases of others on the same subscription and product, per hour.
        equal: The share of these purchases that equal the charge.
        fee: Added to each total.
        history: Orders of the subscription and product before the first charge.
        stops: The probability that a process is stopped in the middle of sending, for longer than timeout + settle.
        sleeps: The probability that the machine sleeps between the record of a charge and the charge.
        outages: The probability that the network goes away with a charge, for up to four times timeout + settle.
        loses: The probability that the database loses the commits of the last minute, before a call.
        horizon: The journal's horizon.
    """

    name: str
    lag: Callable[[random.Random], float] = lambda rng: 0.0
    nodes: tuple[float, ...] = (0.0,)
    works_late: float = 0.0
    others: float = 0.0
    equal: float = 0.0
    fee: int = 0
    history: int = 5
    stops: float = 0.0
    sleeps: float = 0.0
    outages: float = 0.0
    loses: float = 0.0
    horizon: float | None = None


WORLDS = (
    World("quiet"),
    World("a long list", history=450, others=30),
    World("a list that lags", lag=lambda rng: rng.uniform(0, SETTLE), works_late=0.2),
    World("other purchases", others=20, equal=0.3),
    World("other purchases on a list that lags", lag=lambda rng: rng.uniform(0, SETTLE), others=20, equal=0.3),
    World("a fee", fee=50),
    World("a clock that is behind", nodes=(-7200.0, 0.0)),
    World("clocks that differ", nodes=(-30.0, 0.0, 30.0), others=60, history=450),
    World("a process that is stopped", stops=0.2, lag=lambda rng: rng.uniform(0, SETTLE)),
    World("a machine that sleeps", sleeps=0.2, works_late=0.2),
    World("outages", outages=0.3, lag=lambda rng: rng.uniform(0, SETTLE)),
    World("a database that goes back", loses=0.2, horizon=86400.0, history=0),
)


@dataclass
class Made:
    """An order that the service has made. tag: the key that it was made for; "" for a purchase of somebody else."""

    id: str
    total: int
    created: float
    listed: float
    tag: str

    @cached_property
    def order(self) -> Any:
        created = datetime.fromtimestamp(self.created, UTC)
        data = {"id": self.id, "total": self.total, "state": "paid", "created_at": created.isoformat()}
        more = {"created_at": created, "to_dict": lambda: data, "response_info": None}
        return SimpleNamespace(**(data | more))


@dataclass
class Service:
    """The simulated service of one subscription, with the clock of the simulation, and its client."""

    base_url = "http://localhost/account"
    world: World
    rng: random.Random
    now: float = 1e9
    made: list[Made] = field(default_factory=list)
    future: list[tuple[float, int, str, float]] = field(default_factory=list)  # (when, total, tag, listed by)
    ids: Iterator[int] = field(default_factory=lambda: itertools.count(1000))
    down_until: float = 0.0
    meanwhile: Callable[[], None] | None = None  # what another process does while the sender is stopped

    def __post_init__(self) -> None:
        self.subscriptions = self
        for number in range(self.world.history):
            at = self.now - 3600.0 * (self.world.history - number) / max(self.world.others, 1)
            self._make(at, AMOUNT + self.world.fee, "", at)  # equal to the charges, but older
        self._purchase(self.now)

    def passes(self, seconds: float) -> None:
        self.now += seconds
        while self.future and min(self.future)[0] <= self.now:
            due = min(self.future)
            self.future.remove(due)
            when, total, tag, by = due
            self._make(when, total, tag, by)
            if not tag:
                self._purchase(when)

    def orders(self, subscription: str, *, product_id: int, per_page: int, page: int) -> Any:
        if self.now < self.down_until:
            self.passes(TIMEOUT)
            raise billcore.BillcoreError("no answer")
        listed = [each for each in self.made if each.listed <= self.now]
        listed.sort(key=lambda each: (each.created, each.id), reverse=True)
        rows = listed[(page - 1) * per_page : page * per_page]
        headers = {"date": datetime.fromtimestamp(self.now, UTC).strftime("%a, %d %b %Y %H:%M:%S GMT")}
        found = SimpleNamespace(
            items=[each.order for each in rows],
            total=len(listed),
            per_page=per_page,
            current_page=page,
            total_pages=max(1, -(-len(listed) // per_page)),
            response_info=SimpleNamespace(headers=headers),
        )
        self.passes(self.rng.uniform(0, 0.5))
        return SimpleNamespace(pages=lambda: iter([found]))

    def charge(
        self, subscription: str, *, timeout: float, description: str, amount: int, quantity: int | None, **more: Any
    ) -> Any:
        total = amount * (quantity or 1) + self.world.fee
        deadline = self.now + timeout
        by = deadline + SETTLE  # the promise of `settle`
        if self.meanwhile is not None and self.rng.random() < self.world.stops:
            meanwhile, self.meanwhile = self.meanwhile, None
            self.passes(timeout + SETTLE + self.rng.uniform(0, 600))
            meanwhile()
            by = self.now + SETTLE
        if self.now < self.down_until or self.rng.random() < self.world.outages:
            if self.down_until < self.now:
                self.down_until = self.now + self.rng.uniform(0, 4 * (timeout + SETTLE))
                if self.rng.random() < 0.5:
                    self._make(self.now, total, description, by)
            self.passes(timeout)
            raise billcore.OutcomeUnknownError("POST", "/x", datetime.now(UTC))
        fate = self.rng.random()
        if fate < 0.4:
            made = self._make(self.now + 0.1, total, description, by)
            self.passes(0.2)
            if fate < 0.05:
                raise billcore.DecodeError("unreadable", 200)
            return made.order
        if fate < 0.65:  # the answer is lost
            self._make(self.now + self.rng.uniform(0, timeout), total, description, by)
        elif fate < 0.65 + self.world.works_late * 0.35:
            self.future.append((deadline + self.rng.uniform(0, SETTLE), total, description, by))
        elif fate > 0.97:
            raise billcore.PaymentError(402, None, "no", None, "", None, 1)
        self.passes(timeout if self.rng.random() < 0.5 else 0.3)
        raise billcore.OutcomeUnknownError("POST", "/x", datetime.now(UTC))

    def _make(self, at: float, total: int, tag: str, by: float) -> Made:
        """Makes an order at the time `at`, which is listed at the time `by` at the latest."""
        listed = min(at + self.world.lag(self.rng), by)
        made = Made(str(next(self.ids)), total, at + self.rng.choice(self.world.nodes), listed, tag)
        self.made.append(made)
        return made

    def _purchase(self, after: float) -> None:
        if self.world.others:
            total = AMOUNT + self.world.fee if self.rng.random() < self.world.equal else AMOUNT + self.rng.randint(1, 9)
            when = after + self.rng.expovariate(self.world.others / 3600)
            self.future.append((when, total, "", when + SETTLE))


class Simulated:
    """A journal on a service, with one connection and the simulation's clock."""

    def __init__(self, service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
        self.service, self._world = service, service.world
        self._connection = sqlite3.connect(":memory:", isolation_level=None)
        for text in _table.SCHEMA:
            self._connection.execute(text)
        monkeypatch.setattr("billcore._clock.now", lambda: service.now)
        client: Any = service
        self.journal = Journal(
            lambda: self._connection, client, settle=SETTLE, timeout=TIMEOUT, horizon=service.world.horizon
        )
        monkeypatch.setattr(self.journal._store, "run", self._sql)

    def charge(self, key: str) -> Any:
        return self.journal.charge(key, "s", product_id=PRODUCT, amount=AMOUNT, description=key)

    def _sql(self, step: _steps.Sql) -> Any:
        self.service.passes(0.01)
        try:
            cursor = self._connection.execute(step.text.replace("{now}", repr(self.service.now)), dict(step.parameters))
        except sqlite3.IntegrityError:
            return 0
        if step.text in (_table.INTEND, _table.INTEND_AGAIN) and self.service.rng.random() < self._world.sleeps:
            self.service.passes(TIMEOUT + SETTLE + self.service.rng.uniform(0, 600))
        return cursor.rowcount if cursor.description is None else cursor.fetchall()

    def settle(self, key: str, counts: Counter[str]) -> str | None:
        """Calls charge() until the key is settled, as a program does that obeys the errors; returns the order's id."""
        rng = self.service.rng
        for _ in range(200):
            if rng.random() < self._world.loses:
                self._connection.execute("DELETE FROM billcore_charges WHERE changed > ?", [self.service.now - 60])
                self.service.passes(TIMEOUT + SETTLE)  # as the promise asks
            self.service.meanwhile = partial(self._meanwhile, key)
            try:
                return str(self.charge(key).id)
            except billcore.PaymentError:
                return None
            except (AmbiguousChargeError, UnresolvedChargeError) as error:
                own = {each.id for each in self.service.made if each.tag == key}
                named = own.intersection(str(each.id) for each in getattr(error, "candidates", ()))
                counts["told"] += len(named) > 1 or "has another result for the key" in str(error)
                counts["asked a person"] += 1
                self.service.passes(4 * SETTLE + TIMEOUT)
                self._ask(key)
            except billcore.BillcoreError as error:
                after = getattr(error, "retry_after", 1.0)  # the client's errors of a look-up have none
                assert after is not None, error
                # Programs also call too early, and hours later.
                wait = rng.choice([after, rng.uniform(0, after)])
                self.service.passes(wait + (rng.expovariate(1 / 3600) if rng.random() < 0.1 else 0.01))
        raise AssertionError(f"{key} is never settled")

    def _meanwhile(self, key: str) -> None:
        with contextlib.suppress(billcore.BillcoreError):
            self.charge(key)

    def _ask(self, key: str) -> None:
        """A person, who knows which orders were made for the key, resolves it."""
        own = [each.id for each in self.service.made if each.tag == key and each.listed <= self.service.now]
        orders: list[str | None] = [*own]
        for order in orders or [None]:
            for _ in range(3):
                try:
                    self.journal.resolve(key, order, force=True)
                    return
                except (AmbiguousChargeError, ChargePendingError):
                    continue
                except billcore.BillcoreError as error:
                    assert "is resolved" in str(error) or self.service.now < self.service.down_until, error
                    break


@pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.name)
def test_a_key_is_charged_once_as_far_as_the_promise_goes(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """double: charged twice without a word; lost: charged without a record; foreign: settled with somebody else's
    order; told: calls that were told of two charges."""
    rng = random.Random(f"{world.name} 1")
    counts: Counter[str] = Counter()
    while counts["keys"] < KEYS:
        service = Service(world, rng)
        journal = Simulated(service, monkeypatch)
        for number in range(20):
            key = f"k{number}"
            told = counts["told"]
            order = journal.settle(key, counts)
            service.passes(rng.uniform(0, 600))
            own = [each.id for each in service.made if each.tag == key]
            counts["keys"] += 1
            counts["double"] += len(own) > 1 and counts["told"] == told
            counts["foreign"] += order is not None and order not in own
            counts["lost"] += order is None and bool(own)
    print(world.name, dict(counts))
    assert counts["double"] == counts["lost"] == 0
    assert counts["foreign"] == 0 or world.equal
