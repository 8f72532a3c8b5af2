"""Conditions under which a charge could be made twice: each once with the real service, databases and processes.

test_worlds.py simulates most of them many times.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import Any

import pytest

import billcore
from billcore.journal import (
    AmbiguousChargeError,
    ChargePendingError,
    JournalError,
    UnresolvedChargeError,
    _table,
)
from billcore.journal._steps import Sql
from support.children import child_environment
from support.stopped import build_stops
from support.waiting import GENEROUS, until

from .support import PAST, Scene, on_sqlite

CHILD = """
import json, sqlite3, sys
import billcore, psycopg
from billcore.journal import Journal, JournalError
where, base_url, api_key, subscription, product = sys.argv[1:]
connect = (lambda: sqlite3.connect(where, timeout=30)) if where.startswith("/") else (lambda: psycopg.connect(where))
journal = Journal(connect, billcore.Client(base_url=base_url, api_key=api_key, max_retries=0), settle=60, timeout=2.0)
try:
    print("order", journal.charge("k", subscription, product_id=int(product), amount=1500).id)
except JournalError as error:
    print(type(error).__name__, error.retry_after, error)
"""


@pytest.fixture(scope="module")
def stops(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build_stops(tmp_path_factory.mktemp("stop"))


def charge_in_a_stopped_process(scene: Scene, stops: str) -> tuple[billcore.Order, str]:
    """Another process is stopped while it sends a charge. After the deadline and settle, this process charges, and the
    other one continues. Returns the order of this process, and what the other process printed."""
    account = scene.account
    given = [scene.database.where(), account.base_url, account.api_key, scene.subscription, str(scene.product)]
    stopped = subprocess.Popen(
        [sys.executable, "-c", CHILD, *given],
        stdout=subprocess.PIPE,
        text=True,
        env=child_environment(LD_PRELOAD=stops, BILLCORE_STOP="sending"),
    )
    how = os.waitid(os.P_PID, stopped.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    assert how is not None and how.si_status == signal.SIGSTOP
    scene.database.age(PAST)
    own = scene.charge(scene.journal())
    time.sleep(2.0)  # the deadline of the call passes
    os.kill(stopped.pid, signal.SIGCONT)
    return own, stopped.communicate(timeout=GENEROUS)[0]


def test_a_process_that_is_stopped_while_it_sends(scene: Scene, stops: str) -> None:
    """Both processes are told of two charges."""
    own, said = charge_in_a_stopped_process(scene, stops)
    # Either of two is right, because the kernel may have the answer already.
    told = said.startswith("ChargePendingError 60") and "another process has gone on" in said
    assert told or (said.startswith("AmbiguousChargeError") and "the journal has another result" in said)
    until(lambda: len(scene.charges()) == 2)
    journal = scene.journal()
    assert [each.key for each in journal.open()] == ["k"] and journal.get("k").late is not None  # type: ignore[union-attr]
    with pytest.raises(billcore.journal.ChargeInProgressError, match="'k' has an open charge"):
        scene.charge(journal, "another key")
    with pytest.raises(ChargePendingError):
        scene.charge(journal)
    scene.database.age(PAST)
    for _ in range(2):  # the callers in both processes
        with pytest.raises(AmbiguousChargeError, match="these may be two charges") as raised:
            scene.charge(journal)
    assert {str(order.id) for order in raised.value.candidates} == {each["order_id"] for each in scene.charges()}
    assert journal.resolve("k", own.id) == own
    assert scene.charge(journal) == own and journal.open() == []


def test_a_late_charge_that_the_service_did_not_make(scene: Scene, stops: str) -> None:
    scene.control.fault("reset_before", operation="charge", nth=2)
    own, _ = charge_in_a_stopped_process(scene, stops)
    scene.database.age(PAST)
    # Without settle only a person can say that there is no second charge.
    with pytest.raises(UnresolvedChargeError, match="may have charged twice"):
        scene.charge(scene.journal(settle=None))
    assert scene.charge(scene.journal()) == own
    assert scene.journal().open() == [] and len(scene.charges()) == 1


@on_sqlite
def test_a_machine_that_sleeps_before_the_charge_sends_nothing(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the clock that also runs while the machine is suspended tells that the time is over."""
    journal = scene.journal()
    scene.charge(journal, key="before")  # makes the tables
    awake, run = time.clock_gettime, journal._store.run

    def run_then_sleep(statement: Sql) -> object:
        result = run(statement)
        if statement.text == _table.INTEND:
            monkeypatch.setattr(
                time, "clock_gettime", lambda clock: awake(clock) + 3600 * (clock == time.CLOCK_BOOTTIME)
            )
        return result

    monkeypatch.setattr(journal._store, "run", run_then_sleep)
    with pytest.raises(JournalError, match="was not sent"):
        scene.charge(journal, key="k")
    assert len(scene.charges()) == 1


@on_sqlite
@pytest.mark.parametrize(
    ("wanted", "made", "is_refunded"),
    [
        ({"amount": 1450}, {"amount": 1500}, False),  # as if the service had added a fee
        ({"amount": 1500}, {"amount": 1200, "vat": 2500}, False),  # 1500 with VAT
        ({"amount": 500, "quantity": 3}, {"amount": 500}, False),
        ({"amount": 500, "quantity": 3}, {"amount": 400, "vat": 2500}, False),
        ({"amount": 1500}, {"amount": 1500}, True),
    ],
)
def test_orders_that_are_not_equal_are_not_adopted(
    scene: Scene, wanted: dict[str, Any], made: dict[str, Any], is_refunded: bool
) -> None:
    scene.control.fault("reset_before", operation="charge")
    with pytest.raises(ChargePendingError):
        scene.charge(scene.journal(), **wanted)
    order = scene.client.subscriptions.charge(scene.subscription, product_id=scene.product, **made)
    if is_refunded:
        scene.control.order(order.id, "refund")
    with pytest.raises(ChargePendingError):
        scene.charge(scene.journal(), **wanted)
    scene.database.age(PAST)
    for _ in range(2):
        with pytest.raises(AmbiguousChargeError, match="not of the charge's sum, or not of its state"):
            scene.charge(scene.journal(), **wanted)
    assert len(scene.charges()) == 1


@pytest.mark.parametrize("refused", [False, True], ids=["new", "refused before the backup"])
@pytest.mark.parametrize("made", [True, False])
def test_a_database_that_went_back(scene: Scene, made: bool, refused: bool) -> None:
    """A backup is restored. With a horizon, a person decides about an order that a lost row may have made."""
    if refused:
        scene.control.fault("status", operation="charge", status=422, effect=False)
        with pytest.raises(billcore.ValidationError):
            scene.charge(scene.journal())
    backup = scene.database.backup()
    if made:
        scene.charge(scene.journal())
    else:  # somebody else's purchase
        scene.client.subscriptions.charge(scene.subscription, product_id=scene.product, amount=1500)
    scene.database = backup
    journal = scene.journal(horizon=3600)
    for _ in range(2):
        with pytest.raises(AmbiguousChargeError, match="no key owns them") as raised:
            scene.charge(journal)
    assert [str(each.id) for each in raised.value.candidates] == [scene.charges()[0]["order_id"]]
    assert [each.state for each in journal.open()] == ["held"]
    if made:
        journal.resolve("k", raised.value.candidates[0].id)
    else:
        journal.resolve("k", None)
    order = scene.charge(journal)
    assert len(scene.charges()) == 1 + (not made) and str(order.id) == scene.charges()[-1]["order_id"]


@on_sqlite
def test_an_order_before_the_horizon(scene: Scene) -> None:
    scene.charge(scene.journal(), "old")
    scene.database.execute("DELETE FROM billcore_charges")
    days = 86400.0
    scene.control.advance(seconds=30 * days)
    with pytest.raises(AmbiguousChargeError):
        scene.charge(scene.journal(horizon=31 * days), "held")
    scene.journal().resolve("held", None)
    assert scene.charge(scene.journal(horizon=29 * days)).total == 1500
    assert scene.charge(scene.journal(horizon=1e6), "another", amount=7).total == 7, "not an equal order"
