"""Two overlapping calls of charge(): the tests run their steps one by one, on a real database and a sandbox.

A step is one statement or one request, so two real processes can run their steps in any order that a test runs. The
tests try each order of the steps with at most a few switches between the two calls.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy

import billcore
from billcore import _clock
from billcore.journal import (
    AmbiguousChargeError,
    ChargePendingError,
    Journal,
    JournalError,
    UnresolvedChargeError,
    _steps,
    _table,
)
from billcore.testing import SandboxAccount

from .support import CHARGE, PAST, Scene, SqliteDatabase

DEADLINE, SETTLE = 30.0, 60.0
SWITCHES = 4 if os.environ.get("BILLCORE_PROOF") == "all" else 3
# The position of these statements does not matter, because they read only data that no other step changes: a test runs
# such a statement at once, as part of the previous step.
FIXED = (_table.READ_NOTE,)


class Actor:
    """One call of charge() that a test runs step by step."""

    def __init__(self, race: Race, key: str) -> None:
        self._journal = race.journal
        self._steps = race.steps(key)
        self._next: Any = next(self._steps)
        self.order: billcore.Order | None = None
        self.error: BaseException | None = None

    @property
    def ended(self) -> bool:
        return self._next is None

    def step(self) -> None:
        """Runs the next statement or request."""
        now, self._next = self._next, None
        try:
            try:
                if isinstance(now, _steps.Sql):
                    result = self._journal._store.run(now)
                else:
                    result = now.function(self._journal._client)
            except Exception as error:
                self._next = self._steps.throw(error)
            else:
                self._next = self._steps.send(result)
        except StopIteration as end:
            self.order = end.value
        except Exception as error:
            self.error = error
        if isinstance(self._next, _steps.Sql) and self._next.text in FIXED:
            self.step()

    def finish(self) -> None:
        while not self.ended:
            self.step()


class Race:
    """A journal whose calls a test runs step by step, and whose clocks the test moves."""

    def __init__(self, scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
        self.scene = scene
        self._keys = itertools.count(1)
        self._passed = 0.0
        monkeypatch.setattr(_clock, "now", lambda: time.clock_gettime(time.CLOCK_BOOTTIME) + self._passed)
        engine = sqlalchemy.create_engine(scene.database.url())  # an engine reuses its connections, which is faster
        self.journal = Journal(engine, scene.client, settle=SETTLE, timeout=DEADLINE)

    def new_key(self) -> str:
        """A key for a new product, whose list of orders is short and so is read fast."""
        key = f"k{next(self._keys)}"
        self.scene.product = self.scene.control.create_product(key, type="one_time")["id"]
        return key

    def steps(self, key: str) -> _steps.Steps:
        given = {"product_id": self.scene.product, "amount": 1500, "quantity": None, "vat": None, "description": key}
        return self.journal._charge({"key": key, "subscription": self.scene.subscription} | given)

    def passes(self, seconds: float) -> None:
        """Lets `seconds` pass, for the processes' clocks and in the database."""
        self._passed += seconds
        self.scene.database.age(seconds)

    def settle(self, key: str) -> str | None:
        """Calls again with the key until the charge is settled; returns the id of its order, None after a 402."""
        for _ in range(5):
            self.passes(PAST)
            actor = Actor(self, key)
            actor.finish()
            if actor.order is not None:
                return str(actor.order.id)
            if isinstance(actor.error, billcore.PaymentError):
                return None
        raise AssertionError(f"{key} is not settled: {actor.error!r}")

    def orders(self) -> dict[str, list[str]]:
        """The ids of the orders that the service made, by key."""
        charged = {effect["order_id"] for effect in self.scene.charges()}
        made: dict[str, list[str]] = {}
        for order in self.scene.client.subscriptions.orders(self.scene.subscription, per_page=200):
            if str(order.id) in charged:
                charged.remove(str(order.id))
                made.setdefault(str(order.metadata["description"]), []).append(str(order.id))
        assert not charged
        return made


@pytest.fixture
def race(account: SandboxAccount, monkeypatch: pytest.MonkeyPatch) -> Iterator[Race]:
    """A race on SQLite. The steps run one after the other, so another database could run them only more slowly."""
    memory = Path("/dev/shm")  # not a disk, where commits are much slower
    with (
        tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder,
        billcore.Client(base_url=account.base_url, api_key=account.api_key, max_retries=0) as client,
    ):
        database = SqliteDatabase(Path(folder) / "charges.db")
        database.migrate()
        yield Race(Scene(database, account, client), monkeypatch)


def each_order_of_steps(play: Callable[[], tuple[Actor, Actor]]) -> Iterator[str]:
    """Runs two actors, which play() makes anew each time, in each order of their steps with at most SWITCHES switches.
    Yields each order as text."""
    turns: list[int] = [0]
    while True:
        actors = play()
        taken: list[tuple[int, bool]] = []
        while not all(actor.ended for actor in actors):
            free = not any(actor.ended for actor in actors)
            position = len(taken)
            turn = turns[position] if free and position < len(turns) else int(actors[0].ended)
            taken.append((turn, free))
            actors[turn].step()
        yield "".join(str(turn) for turn, _ in taken)
        order = [turn for turn, _ in taken]
        flips = [
            position
            for position, (turn, free) in enumerate(taken)
            if free and position > 0 and turn == 0 and _switches([*order[:position], 1]) <= SWITCHES
        ]
        if not flips:
            return
        turns = [*order[: flips[-1]], 1]


def _switches(turns: list[int]) -> int:
    return sum(one != other for one, other in itertools.pairwise(turns))


def fresh(race: Race, key: str) -> None:
    """The key was never used."""


def not_sent(race: Race, key: str) -> None:
    settings = race.journal._settings
    race.journal._settings = dataclasses.replace(settings, timeout=1e-6)
    Actor(race, key).finish()
    race.journal._settings = settings
    assert race.scene.database.state(key) == "not_sent"


def lost(race: Race, key: str) -> None:
    """The service made the order, but its answer was lost."""
    race.scene.control.fault("reset_after", method="POST", path=CHARGE)
    Actor(race, key).finish()
    assert race.scene.database.state(key) == "unknown"
    race.passes(PAST)


def empty(race: Race, key: str) -> None:
    """The request was lost, so the service made no order, but the client does not know that."""
    race.scene.control.fault("reset_before", method="POST", path=CHARGE)
    Actor(race, key).finish()
    race.passes(PAST)


def crashed(race: Race, key: str) -> None:
    """The process ended after it wrote the intent and before it sent the request."""
    actor = Actor(race, key)
    while race.scene.database.state(key) == "none":
        actor.step()
    race.passes(PAST)


def declined(race: Race, key: str) -> None:
    """The first attempt was lost, and the second attempt was answered with 402."""
    empty(race, key)
    race.scene.control.fault("status", method="POST", path=CHARGE, status=402)
    Actor(race, key).finish()
    race.scene.database.execute(f"UPDATE billcore_charges SET state = 'refused' WHERE key = '{key}'")
    race.passes(PAST)


@pytest.mark.parametrize(
    ("start", "fault"),
    [
        (fresh, None),
        (fresh, "reset_after"),
        (not_sent, None),
        (lost, None),
        (empty, None),
        (empty, "reset_after"),
        (crashed, None),
        (declined, None),
    ],
)
def test_two_calls_with_the_same_key(race: Race, start: Callable[[Race, str], None], fault: Any) -> None:
    """Two calls with one key make one order.

    start: makes the key's state before the calls. fault: the kind of the fault that happens to the next charge request.
    """
    key = ""

    def play() -> tuple[Actor, Actor]:
        nonlocal key
        key = race.new_key()
        start(race, key)
        if fault is not None:
            race.scene.control.fault(fault, method="POST", path=CHARGE)
        return Actor(race, key), Actor(race, key)

    found = {}
    for turns in each_order_of_steps(play):
        found[key] = (turns, race.settle(key))
    made = race.orders()
    assert len(found) >= 10
    for key, (turns, order) in found.items():
        assert made.get(key, []) == ([] if order is None else [order]), turns
        assert (order is None) == (start is declined)


@pytest.mark.parametrize("faults", [(), ("reset_after", "reset_after"), ("reset_before", "reset_after")])
def test_two_keys_of_one_product(race: Race, faults: tuple[Any, ...]) -> None:
    """The charges are equal, so only the rule that one key at a time may be open keeps their orders apart."""
    keys = ("", "")

    def play() -> tuple[Actor, Actor]:
        nonlocal keys
        first = race.new_key()
        keys = (first, f"{first} too")
        for fault in faults:
            race.scene.control.fault(fault, method="POST", path=CHARGE)
        return Actor(race, keys[0]), Actor(race, keys[1])

    found = {}
    for turns in each_order_of_steps(play):
        for key in keys * 4:  # try again: while a charge with one key is open, the other key is refused
            race.passes(PAST)
            actor = Actor(race, key)
            actor.finish()
            if actor.order is not None:
                found[key] = (turns, str(actor.order.id))
        assert {*keys} <= found.keys(), turns
    made = race.orders()
    assert len(found) > 20
    for key, (turns, order) in found.items():
        assert made[key] == [order], turns


FAULTS: dict[str, dict[str, Any]] = {
    "none": {},
    "lost before": {"kind": "reset_before"},
    "lost after": {"kind": "reset_after"},
    "half an answer": {"kind": "half_body"},
    "500 after the work": {"kind": "status", "status": 500, "effect": True},
    "unreadable": {"kind": "status", "status": 200, "effect": True, "body": "{", "content_type": "application/json"},
    "422": {"kind": "status", "status": 422},
    "402": {"kind": "status", "status": 402},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_one_call_is_stopped_before_each_step(race: Race, fault: str) -> None:
    """While a call of charge() is stopped, another process calls charge() at once, after the deadline, or after settle.

    After the other process's call, the stopped call continues, or is dropped.
    """
    found = {}
    for passed, goes_on in itertools.product((0.0, DEADLINE + 1, PAST), (True, False)):
        for before in itertools.count():
            key = race.new_key()
            if FAULTS[fault]:
                race.scene.control.fault(**FAULTS[fault], method="POST", path=CHARGE)
            first = Actor(race, key)
            for _ in range(before):
                if not first.ended:
                    first.step()
            if first.ended:
                race.settle(key)
                break
            race.passes(passed)
            for _ in range(2):
                Actor(race, key).finish()
            if goes_on:
                first.finish()
            found[key] = (passed, goes_on, before, race.settle(key))
    made = race.orders()
    assert len(found) >= 6 * 5
    for key, (*where, order) in found.items():
        assert made.get(key, []) == ([] if order is None else [order]), where
    assert fault == "402" or all(order is not None for *_, order in found.values())


def test_two_calls_find_the_order_of_an_answer_that_could_not_be_read(race: Race) -> None:
    unread: dict[str, Any] = {"status": 200, "body": "{", "content_type": "application/json", "effect": True}
    actors: list[Actor] = []

    def play() -> tuple[Actor, Actor]:
        key = race.new_key()
        race.scene.control.fault("status", operation="charge", **unread)
        with pytest.raises(ChargePendingError):
            race.scene.charge(race.journal, key, description=key)
        actors[:] = [Actor(race, key), Actor(race, key)]
        return actors[0], actors[1]

    for order in each_order_of_steps(play):
        assert [actor.error for actor in actors] == [None, None], order
        assert actors[0].order == actors[1].order


def test_an_answer_beats_what_a_person_asserted(race: Race) -> None:
    """A person asserts that no order was made, while the process is stopped between the answer and its record."""
    first = Actor(race, "k")
    while not race.scene.charges():
        first.step()
    race.passes(PAST)
    with pytest.raises(AmbiguousChargeError):
        race.journal.resolve("k", None)  # shows the order
    assert race.journal.resolve("k", None) is None
    first.finish()
    assert race.scene.database.state("k") == "charged"
    assert first.order is not None and race.settle("k") == str(first.order.id)
    assert len(race.scene.charges()) == 1


def test_an_answer_after_a_person_has_named_another_order(race: Race) -> None:
    scene = race.scene
    other = scene.client.subscriptions.charge(scene.subscription, product_id=scene.product, amount=2000)
    first = Actor(race, "k")
    while len(scene.charges()) == 1:
        first.step()
    race.passes(PAST)
    race.journal.resolve("k", other.id, force=True)
    first.finish()
    assert isinstance(first.error, AmbiguousChargeError) and "another result" in str(first.error)
    assert [order.id for order in first.error.candidates][1] == other.id


def test_an_order_that_another_key_has_already(race: Race) -> None:
    """Somebody assigns the order of a stopped charge to another key; the stopped charge is never repeated."""
    race.scene.charge(race.journal, "other")
    first = Actor(race, "k")
    while len(race.scene.charges()) == 1:
        first.step()
    race.passes(PAST)
    made = race.scene.charges()[1]["order_id"]
    race.scene.database.execute(f"UPDATE billcore_charges SET order_id = '{made}' WHERE key = 'other'")
    first.finish()
    assert isinstance(first.error, AmbiguousChargeError) and "another" in str(first.error)
    race.passes(PAST)
    again = Actor(race, "k")
    again.finish()
    assert isinstance(again.error, JournalError) and race.scene.sent() == 2
    assert race.scene.database.state("k") == "unread"


def stopped_before(race: Race, key: str, statement: str) -> None:
    """A process ends before this statement of its call."""
    actor = Actor(race, key)
    while not isinstance(actor._next, _steps.Sql) or actor._next.text != statement:
        actor.step()


def test_a_purchase_of_next_week_does_not_block_the_key(race: Race) -> None:
    """A process ends after its look-up, before it sends the charge again."""
    empty(race, "k")
    stopped_before(race, "k", _table.INTEND_AGAIN)
    scene = race.scene
    bought = scene.client.subscriptions.charge(scene.subscription, product_id=scene.product, amount=1500)
    assert race.settle("k") not in (None, str(bought.id)) and len(scene.charges()) == 2


def test_the_sum_is_noted_before_the_outcome(race: Race) -> None:
    """If a process ends after it noted a wrong total, a later look-up must not accept an order with another total."""
    scene = race.scene
    order = scene.client.subscriptions.charge(scene.subscription, product_id=scene.product, amount=5)
    scene.control.fault("status", operation="charge", status=200, body={"data": order.to_dict()})
    stopped_before(race, "k", _table.CERTAIN)
    race.passes(PAST)
    again = Actor(race, "k")
    again.finish()
    assert isinstance(again.error, UnresolvedChargeError) and "has not the sum" in str(again.error)


def test_threads(scene: Scene) -> None:
    """Sixteen threads charge four keys of four products, with a shared or a separate journal: one charge per key."""
    products = [scene.product] + [scene.control.create_product(f"p{n}", type="one_time")["id"] for n in range(3)]
    barrier = threading.Barrier(16)
    shared = scene.journal()

    def charge(number: int) -> str:
        barrier.wait()
        journal = shared if number % 2 else scene.journal()
        which = number % 4
        while True:
            try:
                return str(scene.charge(journal, f"k{which}", product_id=products[which]).id)
            except JournalError as error:
                assert "may be in flight" in str(error)
                threading.Event().wait(0.01)

    with ThreadPoolExecutor(16) as pool:
        orders = Counter(pool.map(charge, range(16)))
    assert list(orders.values()) == [4, 4, 4, 4]
    assert sorted(orders) == sorted(each["order_id"] for each in scene.charges())
