"""What a kill of the process leaves behind, and two requests that move one clock at once."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections import Counter
from contextlib import AbstractContextManager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from billcore.testing import Control, ControlError, Sandbox
from sandbox.support import Receiver, Service, account, attempted, events, make, names, of_ready, started
from support.waiting import GENEROUS, until

SUBSCRIPTIONS = 40
SEED_FILE = '[[products]]\nname = "Gym"\ninterval = "month"\n' + "".join(
    f'[[subscriptions]]\nproduct = "Gym"\nreference_id = "c{number}"\n' for number in range(SUBSCRIPTIONS)
)
BEGIN = datetime(2031, 1, 31, 9, tzinfo=UTC)


def serving(folder: Path) -> AbstractContextManager[tuple[subprocess.Popen[str], Any]]:
    """A sandbox with 40 monthly subscriptions in a database file."""
    (folder / "seed.toml").write_text(SEED_FILE)
    options = (f"--db={folder}/billing.db", f"--seed-file={folder}/seed.toml", "--start=2026-01-12T09:00:00Z")
    return started(*options)


def advance(control: Control) -> None:
    with suppress(Exception):  # the test kills the sandbox during the call
        control.advance(days=40)


def test_killed_while_a_clock_moves_it_renews_each_period_once(tmp_path: Path, receiver: Receiver) -> None:
    for kills in range(1, 6):
        with serving(tmp_path) as (process, ready):
            control = of_ready(ready)[1]
            if kills == 1:
                control.create_endpoint(receiver.url)
            before = len(control.ledger("renew"))
            moving = threading.Thread(target=advance, args=(control,))
            moving.start()
            with suppress(Exception):
                until(lambda: len(control.ledger("renew")) > before + kills)  # noqa: B023  within this round
            process.kill()
            moving.join()
    with serving(tmp_path) as (_, ready):
        control = of_ready(ready)[1]
        state = control.state()["accounts"][0]
        assert not state["frozen"]
        renewals = control.ledger("renew")
        assert all(renewal["at"] <= state["now"] for renewal in renewals), "the clock is not before what happened"
        control.advance(days=31)
        renewals = control.ledger("renew")
        assert len({renewal["order_id"] for renewal in renewals}) == len(renewals)
        assert len({*Counter(renewal["subscription_id"] for renewal in renewals).values()}) == 1, "each as often"
        sent = {each["id"] for each in control.wait_for_deliveries(GENEROUS)}
        assert len(sent) == 3 * len(renewals) and sent == {each.event["id"] for each in receiver.received}


def test_two_moves_of_one_clock_do_not_mix() -> None:
    with Sandbox() as sandbox:
        sandbox.control.freeze()
        answers: list[object] = []

        def move() -> None:
            try:
                answers.append(len(sandbox.control.advance(days=60)["happened"]))
            except ControlError as error:
                answers.append(error.code)

        threads = [threading.Thread(target=move) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        moves = [answer for answer in answers if answer != "clock_moves"]
        assert moves and all(isinstance(answer, int) for answer in moves)
        renewals = sandbox.control.ledger("renew")
        assert len({renewal["order_id"] for renewal in renewals}) == len(renewals)


def test_an_effect_is_whole_or_not_at_all_when_the_process_is_killed(tmp_path: Path) -> None:
    db = tmp_path / "billing.db"
    with started("--db", str(db)) as (process, ready):
        service, control = of_ready(ready)
        control.create_endpoint("https://shop.example/")
        control.fault("reset_after", operation="charge")
        with pytest.raises(ConnectionResetError):
            service.charge()
        process.kill()
        process.wait(GENEROUS)
    with Sandbox(db=db) as sandbox:
        (charge,) = sandbox.control.ledger("charge")
        assert account(sandbox).get(f"/order/{charge['order_id']}").data["state"] == "paid"
        assert [each["event"] for each in sandbox.control.deliveries()] == ["order.confirmed", "order.paid"]


def test_nothing_is_lost_when_the_process_is_killed(tmp_path: Path, receiver: Receiver) -> None:
    """A renewal and a late charge wait for the clock. One delivery is being attempted; the others wait for `after`, for
    a retry, for the faults that hold them, or for the end of a pause."""
    db = tmp_path / "billing.db"
    receiver.script = [500]
    with Receiver() as silent:
        silent.hold()
        with Sandbox(db=db, seed=5, delivery_timeout=GENEROUS) as sandbox:
            made = sandbox.new_account(demo=False)
            control, service = made.control, Service(made.accounts[0])
            control.freeze()
            control.advance(to=BEGIN)
            bought = control.checkout(control.create_product("Gym", type="subscription")["id"])
            control.confirm(bought["order"]["id"])
            control.advance(days=10)
            subscription, towel = bought["subscription"]["id"], control.create_product("Towel", type="one_time")["id"]
            control.fault("late", operation="charge", delay=86400)
            with pytest.raises(ConnectionError):
                service.post(f"/subscription/{subscription}/order", {"product_id": towel, "amount": 900})
            live = control.create_endpoint(receiver.url, retry_schedule=[120])["id"]
            make(control, "a")
            attempted(control, 1)
            control.redeliver(control.deliveries()[0]["id"], after=60)
            control.endpoint(live, "disable")
            paused = control.create_endpoint(receiver.url + "&paused", paused=True)["id"]
            control.fault("event_delay", delay=180)
            control.fault("event_duplicate", concurrent=True)
            make(control, "late", "twice")
            control.endpoint(live, "enable")
            control.endpoint(paused, "disable")
            control.fault("event_reorder", delay=3600)
            make(control, "held")
            control.test_hook(control.create_endpoint(silent.url)["id"])
            until(lambda: silent.waiting == 1)
            sandbox.control.advance(days=3)
            before = control.ledger(), control.deliveries(), control.requests(), control.endpoints()
            accounts, keys = [each.base_url.rpartition("/")[2] for each in sandbox.accounts], control.keys()
            os.kill(sandbox.pid, signal.SIGKILL)
        silent.open()
        with Sandbox(db=db, delivery_timeout=GENEROUS) as sandbox:
            control = Control(sandbox.control_url, account=service.account, timeout=GENEROUS)
            until(lambda: control.deliveries()[-1]["state"] == "delivered")
            assert [each["state"] for each in before[1]] == ["pending"] * 7
            assert control.deliveries()[:-1] == before[1][:-1]
            assert (control.ledger(), control.requests(), control.endpoints()) == (before[0], before[2], before[3])
            uuids = [each.base_url.rpartition("/")[2] for each in sandbox.accounts]
            assert (uuids, control.keys()) == ([*accounts, service.account], keys)
            state = sandbox.control.state()
            assert (state["seed"], control.state()["accounts"][0]["frozen"]) == (5, True)
            assert datetime.fromisoformat(control.state()["accounts"][0]["now"]) == BEGIN + timedelta(days=10)
            assert datetime.fromisoformat(state["accounts"][0]["now"]) > datetime.now(UTC) + timedelta(days=2)
            control.endpoint(paused, "enable")
            for move, sent in (
                (lambda: control.advance(seconds=60), ["a"]),  # redelivered
                (lambda: control.advance(seconds=60), ["a"]),  # retried
                (lambda: control.change_endpoint(paused, paused=False), ["twice", "twice"]),
                (lambda: make(control, "next"), ["held", "next", "next"]),
                (lambda: control.advance(seconds=60), ["late"]),
            ):
                count = len(receiver.received)
                move()
                receiver.wait(count + len(sent))
                assert sorted(names(receiver.received[count:])) == sent
            count = len(receiver.received)
            moved = control.advance(days=18)["happened"]
            assert [each["cause"] for each in moved] == ["late", "renew"]
            assert [each["amount"] for each in control.ledger("charge")] == [900]
            (charge,) = [each for each in control.requests() if each["operation"] == "subscriptions.charge"]
            assert (charge["status"], charge["late"] and charge["late"]["status"]) == (None, 200)
            control.wait_for_deliveries(GENEROUS)
            assert {*events(receiver.received[count:])} >= {"order.paid", "subscription.renewed"}
            sandbox.control.reset()
            assert (sandbox.control.ledger(), account(sandbox).charge().status) == ([], 200)
