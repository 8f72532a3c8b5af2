"""Charges from several processes, kills and stops them, and lets connections fail; then compares journal and ledger.

BILLCORE_PROOF=all tests/run.sh journal makes more charges.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import random
import signal
import time
from collections import Counter
from typing import Any

import billcore
from billcore.journal import (
    AmbiguousChargeError,
    ChargeInProgressError,
    ChargePendingError,
    Journal,
    KeyReusedError,
    UnresolvedChargeError,
)
from billcore.testing import Sandbox, SandboxAccount

from .support import CHARGE, Database

CHARGES = 300 if os.environ.get("BILLCORE_PROOF") == "all" else 40
WORKERS = 3
SEED = 20261126
TIMEOUT, SETTLE = 2.0, 6.0  # seconds; the sandbox shows each charge in less than TIMEOUT + SETTLE
FAULTS: tuple[dict[str, Any], ...] = (
    {"kind": "reset_before"},
    {"kind": "reset_after"},
    {"kind": "half_body"},
    {"kind": "status", "status": 500, "effect": True},
    {"kind": "status", "status": 200, "body": "{", "content_type": "application/json", "effect": True},
    {"kind": "delay", "delay": TIMEOUT + 1},
    {"kind": "late", "delay": TIMEOUT + 1},
)

NEVER = (AmbiguousChargeError, KeyReusedError, UnresolvedChargeError, billcore.PaymentError)


def work(database: Database, account: SandboxAccount, charges: list[tuple[str, str]], seed: int) -> None:
    """Runs in one worker process: charges all keys, in random order, until each charge is done."""
    rng = random.Random(seed)
    left = rng.sample(charges, len(charges))
    product = account.ids["products"]["one_time"]
    with billcore.Client(base_url=account.base_url, api_key=account.api_key) as client:
        journal = Journal(database.connect, client, settle=SETTLE, timeout=TIMEOUT)
        while left:
            key, subscription = left.pop(0)
            try:
                journal.charge(key, subscription, product_id=product, amount=1500)
            except (ChargeInProgressError, ChargePendingError):
                left.append((key, subscription))
                time.sleep(rng.uniform(0, 0.02))
            except billcore.BillcoreError as error:
                assert not isinstance(error, NEVER), repr(error)
                left.append((key, subscription))


def test_no_charge_is_made_twice_or_lost(database: Database, sandbox: Sandbox) -> None:
    rng = random.Random(SEED)
    account = sandbox.new_account()
    control = account.control
    plan = account.ids["products"]["subscription"]
    subscriptions = []
    for _ in range(max(10, CHARGES // 8)):
        order = control.checkout(plan)["order"]
        subscriptions.append(str(control.confirm(order["id"])["subscription"]["id"]))
    keys = [(f"key-{number}", subscriptions[number % len(subscriptions)]) for number in range(CHARGES)]
    for number, fault in enumerate(FAULTS):
        control.fault(
            **fault, method="POST", path=CHARGE, times=10**6, probability=0.25 / len(FAULTS), optional=number > 1
        )
    fork = multiprocessing.get_context("fork")
    counts: Counter[str] = Counter()

    def start() -> Any:
        worker = fork.Process(target=work, args=(database, account, keys, rng.randrange(2**32)), daemon=True)
        worker.start()
        return worker

    running = [start() for _ in range(WORKERS)]
    stopped: list[tuple[float, int]] = []
    while any(worker.exitcode is None for worker in running):
        time.sleep(rng.uniform(0.02, 0.2))
        now = time.monotonic()
        for until, process in [each for each in stopped if each[0] <= now]:
            stopped.remove((until, process))
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)
        at = rng.randrange(WORKERS)
        worker = running[at]
        if worker.exitcode not in (None, 0, -signal.SIGKILL):
            raise AssertionError(f"a worker ended with {worker.exitcode}")
        if worker.exitcode is not None or any(process == worker.pid for _, process in stopped):
            continue
        if counts["kills"] < CHARGES // 3:
            if rng.random() < 0.1:
                os.kill(worker.pid, signal.SIGSTOP)
                stopped.append((now + TIMEOUT * 1.5, worker.pid))
                counts["stops"] += 1
            else:
                worker.kill()
                worker.join()
                counts["kills"] += 1
                running[at] = start()
    assert all(worker.exitcode == 0 for worker in running)
    fired = {f"{each['kind']} {each['id']}": each["fired"] for each in control.faults()}
    rows = database.execute("SELECT key, state, order_id FROM billcore_charges")
    made = [each["order_id"] for each in control.ledger("charge")]
    recorded = [str(order) for _, _, order in rows]
    assert {state for _, state, _ in rows} == {"charged"}, rows
    assert len(rows) == CHARGES
    assert sorted(recorded) == sorted(made), f"twice or lost: {set(made) ^ set(recorded)}"
    print(dict(counts), fired)
    assert counts["kills"] > 5 and sum(fired.values()) > 0
