"""Conditions under which a charge could be made twice: each once with the real service, databases and processes.

worlds.py simulates most of them many times.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any
from urllib.parse import urlsplit

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
from billcore.testing import Sandbox
from faults.outage import Network, network
from faults.proxy import Proxy
from support.children import child_environment
from support.stopped import build_stops
from support.waiting import GENEROUS, until

from .support import PAST, Scene, SqliteDatabase

__all__ = ["network"]

CHILD = """
import json, sqlite3, sys
import billcore
from billcore.journal import Journal, JournalError
given = json.loads(sys.argv[1])
def connect():
    if given["sqlite"]:
        return sqlite3.connect(given["where"], timeout=30)
    import psycopg
    return psycopg.connect(given["where"])
class Wait(billcore.Hooks):
    def on_request(self, attempt, /):
        if given["waits"] and attempt.method == "POST":
            print("ready", flush=True)
            sys.stdin.readline()
client = billcore.Client(
    base_url=given["base_url"], api_key=given["api_key"], max_retries=0, hooks=Wait(), allow_insecure_http=True
)
journal = Journal(connect, client, settle=60, timeout=given["timeout"])
try:
    print("order", journal.charge("k", given["subscription"], product_id=given["product"], amount=1500).id)
except JournalError as error:
    print(type(error).__name__, error.retry_after, error)
"""


def child(
    scene: Scene, timeout: float, *, at: str = "", network: Network | None = None, **environment: str
) -> subprocess.Popen[str]:
    """Charges in another process. at: the service's address; network: on the network's client host; the charge
    waits for a line before it is sent."""
    given = {
        "sqlite": isinstance(scene.database, SqliteDatabase),
        "where": scene.database.where(),
        "base_url": at or scene.account.base_url,
        "api_key": scene.account.api_key,
        "subscription": scene.subscription,
        "product": scene.product,
        "timeout": timeout,
        "waits": network is not None,
    }
    command = [sys.executable, "-c", CHILD, json.dumps(given)]
    return subprocess.Popen(
        command if network is None else network.on_client(*command),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=child_environment(**environment),
    )


@pytest.fixture(scope="module")
def stops(tmp_path_factory: pytest.TempPathFactory) -> str:
    return build_stops(tmp_path_factory.mktemp("stop"))


def test_an_outage_longer_than_timeout_and_settle(scene: Scene, network: Network) -> None:
    """The kernel still has the first charge when another process charges."""
    url = urlsplit(scene.account.base_url)
    assert url.hostname and url.port
    proxy = Proxy((url.hostname, url.port), listener=network.listener())
    at = f"http://{network.SERVER}:{proxy.port}{url.path}"
    try:
        with child(scene, 3.0, at=at, network=network) as process:
            assert process.stdin is not None and process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            network.fail()
            process.stdin.write("go on\n")
            process.stdin.flush()
            until(lambda: network.is_sending(proxy.port))
            assert process.stdout.readline().startswith("ChargePendingError")
            scene.database.age(PAST)
            order = scene.charge(scene.journal())
            network.recover()
            network.connect_from_client(proxy.port)
    finally:
        network.recover()
        proxy.close()
    assert [each["order_id"] for each in scene.charges()] == [str(order.id)]


def test_a_process_that_is_stopped_while_it_sends(scene: Scene, stops: str) -> None:
    """Another process goes on after the deadline and settle; then the first one sends. Both are told of two charges."""
    stopped = child(scene, 2.0, LD_PRELOAD=stops, BILLCORE_STOP="sending")
    how = os.waitid(os.P_PID, stopped.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    assert how is not None and how.si_status == signal.SIGSTOP
    scene.database.age(PAST)
    own = scene.charge(scene.journal())
    time.sleep(2.0)  # the deadline of the call passes
    os.kill(stopped.pid, signal.SIGCONT)
    said, _ = stopped.communicate(timeout=GENEROUS)
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
    stopped = child(scene, 2.0, LD_PRELOAD=stops, BILLCORE_STOP="sending")
    os.waitid(os.P_PID, stopped.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    scene.database.age(PAST)
    own = scene.charge(scene.journal())
    time.sleep(2.0)
    os.kill(stopped.pid, signal.SIGCONT)
    stopped.communicate(timeout=GENEROUS)
    scene.database.age(PAST)
    # Without settle only a person can say that there is no second charge.
    with pytest.raises(UnresolvedChargeError, match="may have charged twice"):
        scene.charge(scene.journal(settle=None))
    assert scene.charge(scene.journal()) == own
    assert scene.journal().open() == [] and len(scene.charges()) == 1


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


def test_the_total_of_an_order_has_a_fee(scene: Scene) -> None:
    """The first answer is lost, so the journal has not seen a total that contradicts its rule."""
    scene.control.fault("reset_after", operation="charge")
    with pytest.raises(ChargePendingError):
        scene.charge(scene.journal())
    # As if the service had added a fee to the total: the key wants less than the order has.
    scene.database.execute("UPDATE billcore_charges SET amount = 1450")
    scene.database.age(PAST)
    for _ in range(2):
        with pytest.raises(AmbiguousChargeError, match="it is not of the charge's sum"):
            scene.charge(scene.journal(), amount=1450)
    assert len(scene.charges()) == 1
    made = scene.charges()[0]["order_id"]
    with pytest.raises(JournalError, match="force=True"):
        scene.journal().resolve("k", made)
    scene.journal().resolve("k", made, force=True)
    assert str(scene.charge(scene.journal(), amount=1450).id) == made


def test_a_402_beside_an_order_with_a_fee(scene: Scene) -> None:
    scene.control.fault("reset_after", operation="charge")
    with pytest.raises(ChargePendingError):
        scene.charge(scene.journal())
    scene.database.execute("UPDATE billcore_charges SET amount = 1450, state = 'not_sent'")
    scene.database.age(PAST)
    scene.control.subscription(scene.subscription, "change_billing", declines=True)
    with pytest.raises(AmbiguousChargeError):
        scene.charge(scene.journal(), amount=1450)
    assert scene.database.state("k") == "not_sent"


def test_a_service_whose_totals_do_not_multiply(scene: Scene) -> None:
    with Sandbox(charge_total="amount") as sandbox:
        account = sandbox.new_account()
        with billcore.Client(base_url=account.base_url, api_key=account.api_key, max_retries=0) as client:
            scene = Scene(scene.database, account, client)
            scene.charge(scene.journal(), "answered", quantity=3)  # contradicts the rule
            account.control.fault("reset_after", operation="charge")
            with pytest.raises(ChargePendingError):
                scene.charge(scene.journal(), quantity=3)
            with pytest.raises(UnresolvedChargeError, match=r"accept_total_rule\(\)"):
                scene.charge(scene.journal(), quantity=3)
            scene.journal().accept_total_rule(field="total", per="amount")
            order = scene.charge(scene.journal(), quantity=3)
            assert [each["order_id"] for each in scene.charges()][1:] == [str(order.id)] and order.total == 1500


@pytest.mark.parametrize(
    ("wanted", "made"),
    [
        ({"amount": 1500}, {"amount": 1200, "vat": 2500}),  # 1500 with VAT
        ({"amount": 500, "quantity": 3}, {"amount": 500}),
        ({"amount": 500, "quantity": 3}, {"amount": 400, "vat": 2500}),
    ],
)
def test_orders_that_are_not_equal_are_not_adopted(scene: Scene, wanted: dict[str, Any], made: dict[str, Any]) -> None:
    scene.control.fault("reset_before", operation="charge")
    with pytest.raises(ChargePendingError):
        scene.charge(scene.journal(), **wanted)
    scene.client.subscriptions.charge(scene.subscription, product_id=scene.product, **made)
    with pytest.raises(ChargePendingError):
        scene.charge(scene.journal(), **wanted)
    scene.database.age(PAST)
    with pytest.raises(AmbiguousChargeError):
        scene.charge(scene.journal(), **wanted)


def test_a_refunded_order_is_not_adopted(scene: Scene) -> None:
    scene.control.fault("reset_after", operation="charge")
    with pytest.raises(ChargePendingError):
        scene.charge(scene.journal())
    scene.control.order(scene.charges()[0]["order_id"], "refund")
    scene.database.age(PAST)
    with pytest.raises(AmbiguousChargeError, match="not of its state"):
        scene.charge(scene.journal())


def test_the_services_clock_is_behind(scene: Scene) -> None:
    """The new order seems to be older than the orders of the baseline."""
    scene.control.advance(days=1)
    scene.client.subscriptions.charge(scene.subscription, product_id=scene.product, amount=1500)
    scene.control.freeze()
    scene.control.fault("reset_after", operation="charge")
    with pytest.raises(ChargePendingError):
        scene.charge(scene.journal())
    made = scene.charges()[-1]["order_id"]
    listed = [
        order.to_dict() for order in scene.client.subscriptions.orders(scene.subscription, product_id=scene.product)
    ]
    late = next(each for each in listed if each["id"] == made) | {"created_at": "2020-01-01T00:00:00Z"}
    others = [each for each in listed if each["id"] != made]
    page = {
        "total": len(listed),
        "count": len(listed),
        "per_page": 200,
        "current_page": 1,
        "total_pages": 1,
        "links": {},
    }
    body = {"data": [*others, late], "pagination": page}
    scene.control.fault("status", method="GET", path="/subscription/*/orders", status=200, body=body)
    scene.database.age(PAST)
    assert str(scene.charge(scene.journal()).id) == made


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


def test_an_answer_that_cannot_be_read_while_the_list_lags(scene: Scene) -> None:
    scene.control.fault("status", operation="charge", status=200, body="{", content_type="application/json")
    with pytest.raises(ChargePendingError) as raised:
        scene.charge(scene.journal())
    assert isinstance(raised.value.__cause__, billcore.DecodeError) and raised.value.retry_after is not None
    with pytest.raises(ChargePendingError):  # not listed yet
        scene.charge(scene.journal())
    with pytest.raises(ChargePendingError):
        scene.journal().resolve("k", None)
    order = scene.client.subscriptions.charge(scene.subscription, product_id=scene.product, amount=1500)
    assert scene.charge(scene.journal()) == order and scene.sent() == 2


def test_a_purchase_of_next_week_does_not_block_the_key(scene: Scene) -> None:
    scene.control.fault("reset_before", operation="charge")
    with pytest.raises(ChargePendingError):
        scene.charge(scene.journal())
    scene.database.age(PAST)
    journal = scene.journal()
    run = journal._store.run

    def ended(statement: Sql) -> object:
        if statement.text == _table.INTEND_AGAIN:
            raise JournalError("the process ends after its look-up")
        return run(statement)

    journal._store.run = ended  # type: ignore[method-assign]
    with pytest.raises(JournalError):
        scene.charge(journal)
    scene.client.subscriptions.charge(scene.subscription, product_id=scene.product, amount=1500)  # next week
    assert len(scene.charges()) == 1
    assert str(scene.charge(scene.journal()).id) == scene.charges()[1]["order_id"]
