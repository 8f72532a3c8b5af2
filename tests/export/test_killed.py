"""An export that is killed: the next run leaves no duplicate and no gap."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from billcore.cli import main
from billcore.testing import Sandbox, SandboxAccount
from support.waiting import LONG, until

from .support import client_of, command, environment, listed, pairs, rows

# Not open() and os.fsync(), which change nothing that the next process sees. os.open() follows each os.replace().
STEPS = (os.open, os.replace, os.rename, os.mkdir, os.unlink, os.rmdir)


def killed_before(number: int, arguments: list[str]) -> bool:
    """Runs a command in a child process, which kills itself before its step `number`; False if it has fewer steps."""
    child = os.fork()
    if child == 0:
        try:
            steps = iter(range(1_000_000))

            def count(_: FrameType, event: str, function: Any) -> None:
                if event == "c_call" and any(function is step for step in STEPS) and next(steps) == number:
                    os.kill(os.getpid(), signal.SIGKILL)

            sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115
            sys.setprofile(count)
            main(arguments)
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


@pytest.mark.parametrize("name", ["parts", "orders.jsonl"])
def test_a_kill_before_each_step(
    account: SandboxAccount, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("BILLCORE_BASE_URL", account.base_url)
    monkeypatch.setenv("BILLCORE_API_KEY", account.api_key)
    with client_of(account) as client:
        wanted = sorted(listed(client))
    number, died = 0, True
    while died:
        output = tmp_path / str(number) / name
        arguments = ["export", "orders", "-o", str(output), "--format", "jsonl", "--lists-per-part", "3"]
        died = killed_before(number, arguments)
        if output.is_file():  # FILE is not that of another export, whatever was left beside it
            assert main(["export", "products", "-o", str(output)]) == 2, number
        # If FILE and nothing else is there, the export was complete: the same command refuses to replace FILE.
        is_complete = output.is_file() and not any(output.with_name(f"{name}.parts").glob("*"))
        assert main(arguments) == (2 if is_complete else 0), number
        assert sorted(pairs(rows(output))) == wanted, number
        reads = rows(output, "reads") if output.is_dir() else rows(output.with_name("orders.reads.jsonl"))
        assert sorted(row["id"] for row in reads) == sorted({"", *(subscription for subscription, _ in wanted)})
        assert not [*output.parent.rglob("*.tmp")], number
        number += 1
    assert number > 15  # the plan, two parts of three files, the lock


def test_each_file_is_on_the_disk_before_and_after_it_gets_its_name(
    account: SandboxAccount, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BILLCORE_BASE_URL", account.base_url)
    monkeypatch.setenv("BILLCORE_API_KEY", account.api_key)
    steps: list[Any] = []
    sys.setprofile(lambda _, event, function: steps.append(function) if event == "c_call" else None)
    try:
        assert main(["export", "orders", "-o", str(tmp_path / "orders.csv")]) == 0
    finally:
        sys.setprofile(None)
    steps = [step for step in steps if step in (os.fsync, os.replace)]
    # The part's two files, part-00000.json, plan.json, joined.json, FILE, its reads and its manifest, after the folder
    # was made.
    assert steps.count(os.replace) == 8 and steps.count(os.fsync) == 8 * 2 + 1
    for number, step in enumerate(steps):
        if step is os.replace:
            assert os.fsync in steps[:number] and steps[number + 1] is os.fsync


@contextlib.contextmanager
def many_lists(folder: Path, count: int, per_page: int) -> Iterator[Sandbox]:
    """A sandbox with subscriptions of 12 orders each, but each 93rd with 366 orders: two pages."""
    seed = folder / "seed.toml"
    texts = [f'[[products]]\nname = "{each}"\ninterval = "{each}"\n' for each in ("month", "day")]
    texts.append('[[products]]\nname = "extra"\ntype = "one_time"\n')
    texts += [f'[[subscriptions]]\nproduct = "{"day" if number % 93 == 0 else "month"}"\n' for number in range(count)]
    seed.write_text("\n".join(texts))
    with Sandbox(seed_file=seed, subscriptions_per_page=per_page) as sandbox:
        for _ in range(73):  # one call of 365 days may take longer than its time limit
            sandbox.control.advance(days=5)
        yield sandbox


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    with many_lists(tmp_path_factory.mktemp("busy"), 626, 129) as sandbox:
        yield sandbox


@contextlib.contextmanager
def changing_lists(sandbox: Sandbox, stop_after: int | None = None) -> Iterator[None]:
    """Orders appear on first pages. stop_after: after so many requests for orders, all further ones fail."""
    control, faults = sandbox.control, []
    if stop_after is not None:  # before the other fault: of two faults, the older one happens to a request
        faults.append(control.fault("reset_before", operation="orders", nth=stop_after + 1, times=10**6))
    faults.append(
        control.fault("rows", operation="orders", query={"page": "1"}, insert=3, probability=0.2, times=10_000)
    )
    yield
    for fault in faults:
        control.delete_fault(fault)


def churn(sandbox: Sandbox, ids: list[str], stop: threading.Event) -> None:
    """Charges subscriptions until the export has ended."""
    rng = random.Random(1)
    with client_of(sandbox) as client:
        product = next(each.id for each in client.products.list() if each.type == "one_time")
        while not stop.is_set():
            client.subscriptions.charge(rng.choice(ids), product_id=product, amount=100)


def test_kills_while_626_lists_change(busy: Sandbox, tmp_path: Path) -> None:
    with client_of(busy) as client:
        before = listed(client)
    of: dict[str, set[str]] = defaultdict(set)
    for subscription, order in before:
        of[subscription].add(order)
    long = [subscription for subscription, orders in of.items() if len(orders) > 200]
    assert (len(of), len(long)) == (626, 7)
    # Two subscriptions vanish after they were planned; orders appear on the first page of one list each time.
    busy.control.fault("rows", operation="subscriptions.list", query={"page": "5"}, delete=2)
    grows = f"/subscription/{long[-1]}/orders"
    busy.control.fault("rows", path=grows, query={"page": "1"}, insert=1, times=10_000)
    stop = threading.Event()
    vanishing = [*of][:2]  # the fault deletes at the front of the list
    churning = threading.Thread(target=churn, args=(busy, [each for each in of if each not in vanishing], stop))
    churning.start()
    rng, kills = random.Random(2), 0
    arguments = command("orders", "-o", tmp_path / "out", "--format", "jsonl", "--lists-per-part", 26)
    try:
        while True:
            finished = len([*(tmp_path / "out").glob("part-*.json")])
            # A process that is not killed before finishes two parts.
            with changing_lists(busy, stop_after=65 if finished < 12 else None):
                running = subprocess.Popen(arguments, env=environment(busy), stdout=subprocess.PIPE, text=True)
                if finished >= 12:
                    printed = running.communicate()[0]
                    break
                until(lambda: len([*(tmp_path / "out").glob("part-*.json")]) > finished, LONG)  # noqa: B023
                until(lambda: rng.random() < 0.05)
                running.kill()
                running.communicate()
                kills += 1
    finally:
        stop.set()
        churning.join()
    found = pairs(rows(tmp_path / "out"))
    reads = [row for row in rows(tmp_path / "out", "reads") if row["id"]]
    verdicts = {row["id"]: row["verdict"] for row in reads}
    assert len(found) == len({*found}), "a duplicate"
    assert len(reads) == 626 and verdicts.keys() == of.keys()
    assert {each for each in verdicts if verdicts[each] == "not_found"} == {*vanishing}
    assert verdicts[long[-1]] == "possibly_missed"
    missing = {subscription for subscription, order in {*before} - {*found}}
    assert {verdicts[subscription] for subscription in missing} <= {"not_found", "possibly_missed"}
    assert running.returncode == 3 and kills > 4, printed
