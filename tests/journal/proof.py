"""Charges from several processes, kills and stops them, and lets connections fail; then compares journal and ledger.

    BILLCORE_PROOF=all tests/run.sh journal

The program prints one line of counts for each database, and ends with an error if a charge was made twice or lost, or
if the ledger has a charge without a key.
"""

from __future__ import annotations

import argparse
import contextlib
import multiprocessing
import os
import random
import signal
import tempfile
import time
from collections import Counter
from pathlib import Path
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
from support.postgres import Postgres

from .support import CHARGE, Database, PostgresDatabase, SqliteDatabase

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


def prove(database: Database, sandbox: Sandbox, *, charges: int, workers: int, seed: int) -> dict[str, int]:
    """Runs the whole check; returns its counts. Raises AssertionError if the ledger is wrong."""
    rng = random.Random(seed)
    account = sandbox.new_account()
    control = account.control
    plan = account.ids["products"]["subscription"]
    subscriptions = []
    for _ in range(max(10, charges // 8)):
        order = control.checkout(plan)["order"]
        subscriptions.append(str(control.confirm(order["id"])["subscription"]["id"]))
    keys = [(f"key-{number}", subscriptions[number % len(subscriptions)]) for number in range(charges)]
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

    running = [start() for _ in range(workers)]
    stopped: list[tuple[float, int]] = []
    while any(worker.exitcode is None for worker in running):
        time.sleep(rng.uniform(0.02, 0.2))
        now = time.monotonic()
        for until, process in [each for each in stopped if each[0] <= now]:
            stopped.remove((until, process))
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGCONT)
        at = rng.randrange(workers)
        worker = running[at]
        if worker.exitcode not in (None, 0, -signal.SIGKILL):
            raise AssertionError(f"a worker ended with {worker.exitcode}")
        if worker.exitcode is not None or any(process == worker.pid for _, process in stopped):
            continue
        if counts["kills"] < charges // 3:
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
    assert len(rows) == charges
    assert sorted(recorded) == sorted(made), f"twice or lost: {set(made) ^ set(recorded)}"
    counts |= Counter({"charges": len(rows), "orders": len(made), "faults": sum(fired.values())})
    return dict(counts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (("charges", 300), ("workers", 3), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, Sandbox() as sandbox:
        server = Postgres()
        try:
            for database in (SqliteDatabase(Path(folder) / "charges.db"), PostgresDatabase(server)):
                database.migrate()
                begun = time.monotonic()
                counts = prove(database, sandbox, charges=given.charges, workers=given.workers, seed=given.seed)
                print(type(database).__name__, counts, f"{time.monotonic() - begun:.1f} s", flush=True)
        finally:
            server.close()


if __name__ == "__main__":
    main()
