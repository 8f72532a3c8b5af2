"""A sandbox that is killed while it moves a clock, a full disk, and two requests that move a clock at once."""

from __future__ import annotations

import sqlite3
import subprocess
import threading
from collections import Counter
from contextlib import AbstractContextManager, closing, suppress
from pathlib import Path
from typing import Any

import pytest

from billcore.testing import Control, ControlError, Sandbox
from sandbox.support import started
from support.waiting import GENEROUS, until

SUBSCRIPTIONS = 40
SEED_FILE = '[[products]]\nname = "Gym"\ninterval = "month"\n' + "".join(
    f'[[subscriptions]]\nproduct = "Gym"\nreference_id = "c{number}"\n' for number in range(SUBSCRIPTIONS)
)


def serving(folder: Path, most_bytes: int | None = None) -> AbstractContextManager[tuple[subprocess.Popen[str], Any]]:
    """A sandbox with 40 monthly subscriptions in a database file."""
    (folder / "seed.toml").write_text(SEED_FILE)
    options = (f"--db={folder}/billing.db", f"--seed-file={folder}/seed.toml", "--start=2026-01-12T09:00:00Z")
    return started(*options, most_bytes=most_bytes)


def move(control: Control) -> threading.Thread:
    def run() -> None:
        with suppress(Exception):  # the test kills the sandbox during the call
            control.advance(days=40)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_killed_while_a_clock_moves_it_renews_each_period_once(tmp_path: Path) -> None:
    for kills in range(1, 6):
        with serving(tmp_path) as (process, ready):
            control = Control(ready["control_url"], timeout=GENEROUS)
            before = len(control.ledger("renew"))
            moving = move(control)
            with suppress(Exception):
                until(lambda: len(control.ledger("renew")) > before + kills)  # noqa: B023  within this round
            process.kill()
            moving.join()
    with serving(tmp_path) as (_, ready):
        control = Control(ready["control_url"], timeout=GENEROUS)
        state = control.state()["accounts"][0]
        assert not state["frozen"]
        renewals = control.ledger("renew")
        assert all(renewal["at"] <= state["now"] for renewal in renewals), "the clock is not before what happened"
        control.advance(days=31)
        renewals = control.ledger("renew")
        assert len({renewal["order_id"] for renewal in renewals}) == len(renewals)
        assert len({*Counter(renewal["subscription_id"] for renewal in renewals).values()}) == 1, "each as often"


def test_two_moves_of_one_clock_do_not_mix() -> None:
    with Sandbox() as sandbox:
        sandbox.control.freeze()
        answers: list[object] = []

        def run() -> None:
            try:
                answers.append(len(sandbox.control.advance(days=60)["happened"]))
            except ControlError as error:
                answers.append(error.code)

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        moves = [answer for answer in answers if answer != "clock_moves"]
        assert moves and all(isinstance(answer, int) for answer in moves)
        renewals = sandbox.control.ledger("renew")
        assert len({renewal["order_id"] for renewal in renewals}) == len(renewals)


def test_a_full_disk_is_one_sentence_and_nothing_is_half_done(tmp_path: Path) -> None:
    file = tmp_path / "billing.db"
    with serving(tmp_path, 3_000_000) as (process, ready):
        control = Control(ready["control_url"], timeout=GENEROUS)
        with pytest.raises(ControlError, match=r"^500 storage: The sandbox cannot write its database: .+\.$"):
            for _ in range(1000):
                control.advance(days=31)
        process.terminate()
        _, told = process.communicate(timeout=GENEROUS)
        assert told.startswith("billcore sandbox: the database cannot be written: ") and "Traceback" not in told
    with closing(sqlite3.connect(file)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    with serving(tmp_path) as (_, ready):
        control = Control(ready["control_url"], timeout=GENEROUS)
        control.advance(days=31)
        counts = Counter(renewal["subscription_id"] for renewal in control.ledger("renew"))
        assert len(counts) == SUBSCRIPTIONS and len({*counts.values()}) == 1
