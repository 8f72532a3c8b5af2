"""`billcore export orders --since-last`: each run adds what is new, changed or gone, and loses nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from bench.since_last import simulate
from billcore import _ends
from billcore.cli import main
from billcore.testing import SandboxAccount
from support.waiting import LONG, until

from .support import Row, client_of, command, environment, export, refused
from .test_bad_input import full_disk
from .test_killed import killed_before

LINES = ("--format", "jsonl", "--since-last")


def view(lake: Path, form: str = "jsonl") -> list[tuple[str, str, str]]:
    """The current view, as python/docs/export.md defines it: list, id and state of each order."""
    read = {
        "jsonl": "read_json('{}', format = 'nd', columns = {{id: 'VARCHAR', subscription_id: 'VARCHAR', "
        "state: 'VARCHAR', observed_at: 'TIMESTAMP', change: 'VARCHAR'}})",
        "csv": "read_csv('{}', header = true, all_varchar = true)",
        "parquet": "read_parquet('{}')",
    }[form].format(lake / f"run-*/orders.{form}")
    return sorted(
        duckdb.execute(
            f"""SELECT subscription_id, id, state FROM {read}
            QUALIFY row_number() OVER (PARTITION BY subscription_id, id ORDER BY observed_at DESC) = 1
            AND change <> 'gone'"""
        ).fetchall()
    )


def service(account: SandboxAccount) -> list[tuple[str, str, str]]:
    with client_of(account) as client:
        return sorted(
            (str(subscription.id), str(order.id), str(order.state))
            for subscription in client.subscriptions.list()
            for order in client.subscriptions.orders(subscription.id, per_page=200)
        )


def added(lake: Path) -> list[Row]:
    """The rows of the newest run."""
    return [json.loads(line) for line in (sorted(lake.glob("run-*"))[-1] / "orders.jsonl").read_bytes().splitlines()]


def ran(account: SandboxAccount, lake: Path, *more: object) -> dict[str, Any]:
    done = export(account, "orders", "-o", lake, *LINES, *more, "--json")
    assert done.returncode == 0, done
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def requests(account: SandboxAccount) -> list[str]:
    return [each["target"] for each in account.control.requests(operation="orders")]


def grow(account: SandboxAccount, id: int | str, count: int) -> None:
    account.control.fault("rows", path=f"/subscription/{id}/orders", insert=count)
    with client_of(account) as client:
        client.subscriptions.orders(id).first()


def many(account: SandboxAccount) -> str:
    """A list of 1,000 orders and more: six pages or so."""
    id = str(account.ids["subscriptions"]["demo-many-orders"])
    for _ in range(10):
        grow(account, id, 100)
    return id


@pytest.mark.parametrize("form", ["jsonl", "csv", "parquet"])
def test_each_run_adds_what_changed(account: SandboxAccount, tmp_path: Path, form: str) -> None:
    arguments = ("orders", "-o", tmp_path, "--format", form, "--since-last")
    id = many(account)
    assert export(account, *arguments).returncode == 0
    assert view(tmp_path, form) == service(account)
    account.control.checkout(account.ids["products"]["subscription"], reference_name='=1,"\n')
    grow(account, id, 3)
    assert export(account, *arguments).returncode == 0
    assert view(tmp_path, form) == service(account)
    account.control.fault("rows", path=f"/subscription/{id}/orders", delete=2)
    with client_of(account) as client:
        client.subscriptions.orders(id).first()
    before = len(view(tmp_path, form))
    assert export(account, *arguments).returncode == 0
    assert len(view(tmp_path, form)) == before, "only a full run says what is gone"
    assert export(account, *arguments, "--full").returncode == 0
    assert view(tmp_path, form) == service(account)


def test_what_a_run_requests(account: SandboxAccount, tmp_path: Path) -> None:
    """Orders below the first page are open: the list of the open orders tells whether one has changed."""
    id = many(account)
    ran(account, tmp_path)
    before = len(requests(account))
    assert ran(account, tmp_path)["rows"] == 0
    asked = [each for each in requests(account)[before:] if f"/{id}/" in each]
    assert len([each for each in asked if "filter" not in each]) == 1, asked
    is_open = [
        row[2] not in ("paid", "payment_cancelled", "payment_refunded") for row in service(account) if row[0] == id
    ]
    assert len(asked) == 1 + -(-sum(is_open) // 200)
    before = len(requests(account))
    ran(account, tmp_path, "--refresh-since", 36500)
    pages = [each for each in requests(account)[before:] if f"/{id}/" in each and "filter" not in each]
    assert len(pages) > 5, "as far back as the days say"


def test_a_list_that_fails_keeps_its_state(account: SandboxAccount, tmp_path: Path) -> None:
    id = many(account)
    ran(account, tmp_path)
    for _ in range(5):
        grow(account, id, 90)
    path = f"/subscription/{id}/orders"
    fault = account.control.fault("status", path=path, query={"page": "2"}, status=403, times=1000)
    done = export(account, "orders", "-o", tmp_path, *LINES, "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 3 and found["verdicts"]["failed"]["lists"] == 1, done
    assert len(added(tmp_path)) == len({row["id"] for row in added(tmp_path)}) == 200
    account.control.delete_fault(fault)
    assert ran(account, tmp_path)["rows"] == 250, "the rows of the failed reading are not written again"
    assert view(tmp_path) == service(account)


def test_gone_needs_a_list_that_was_read_to_its_end(account: SandboxAccount, tmp_path: Path) -> None:
    id = many(account)
    ran(account, tmp_path)
    path = f"/subscription/{id}/orders"
    fault = account.control.fault("status", path=path, query={"page": "3"}, status=410, times=1000)
    done = export(account, "orders", "-o", tmp_path, *LINES, "--full", "--json")
    assert done.returncode == 3 and added(tmp_path) == [], "nothing new, and nothing gone"
    account.control.delete_fault(fault)
    assert ran(account, tmp_path, "--full")["rows"] == 0


def test_a_clock_that_was_set_back(account: SandboxAccount, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The row of a later run is the newer one, although the clock says otherwise."""
    monkeypatch.setenv("BILLCORE_BASE_URL", account.base_url)
    monkeypatch.setenv("BILLCORE_API_KEY", account.api_key)

    class Ahead(datetime):
        @classmethod
        def now(cls, tz: Any = None) -> Any:
            return datetime.now(tz) + timedelta(days=1000)

    made = account.control.checkout(account.ids["products"]["subscription"], billing="invoice")
    account.control.confirm(made["order"]["id"])
    with monkeypatch.context() as patched:
        patched.setattr(_ends, "datetime", Ahead)
        assert main(["export", "orders", "-o", str(tmp_path), *LINES]) == 0
    before = view(tmp_path)
    account.control.pay(made["order"]["id"])
    assert main(["export", "orders", "-o", str(tmp_path), *LINES]) == 0
    assert view(tmp_path) == service(account) != before


def test_a_kill_before_each_step(account: SandboxAccount, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second run is killed: what readers see is that of the first run until all is there."""
    monkeypatch.setenv("BILLCORE_BASE_URL", account.base_url)
    monkeypatch.setenv("BILLCORE_API_KEY", account.api_key)
    first = tmp_path / "first"
    ran(account, first)
    before = view(first)
    grow(account, account.ids["subscriptions"]["demo-many-orders"], 3)
    wanted = service(account)
    number, died = 0, True
    while died:
        lake = tmp_path / str(number)
        shutil.copytree(first, lake)
        arguments = ["export", "orders", "-o", str(lake), *LINES, "--lists-per-part", "3"]
        died = killed_before(number, arguments)
        is_published = (lake / "run-00002").exists()
        assert view(lake) == (wanted if is_published else before), number
        assert main(arguments) == 0, number
        assert view(lake) == wanted, number
        written = [json.loads(line)["id"] for each in lake.glob("run-*/orders.jsonl") for line in each.open()]
        assert len(written) == len({*written}) == len(wanted), number
        assert {*os.listdir(lake)} - {"run-00003"} == {".lock", "run-00001", "run-00002"}, number
        number += 1
    assert number > 25


def test_two_runs_at_once(account: SandboxAccount, tmp_path: Path) -> None:
    ran(account, tmp_path)
    fault = account.control.fault("delay", operation="orders", delay=20.0, times=1000)
    arguments = command("orders", "-o", tmp_path, *LINES)
    with subprocess.Popen(arguments, env=environment(account), stdout=subprocess.DEVNULL) as running:
        until((tmp_path / ".next" / "plan.json").exists, LONG)
        text = refused(account, 1, "orders", "-o", tmp_path, *LINES)
        assert text == f"billcore export: {tmp_path}: another export is writing here: wait until it has ended\n"
        account.control.delete_fault(fault)
        running.kill()
    assert ran(account, tmp_path)["rows"] == 0
    assert view(tmp_path) == service(account)


def test_a_full_disk(account: SandboxAccount, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    arguments = ("orders", "-o", disk / "lake", *LINES, "--lists-per-part", 1)
    with full_disk(disk) as (problem, more):
        text = refused(account, 1, *arguments, **more)
        assert f": {problem}\n" in text and not [*disk.glob("lake/run-*")]
        if not more:
            subprocess.run(["mount", "-o", "remount,size=4m", str(disk)], check=True)
        ran(account, disk / "lake")
        assert view(disk / "lake") == service(account)


def test_what_is_refused(account: SandboxAccount, tmp_path: Path) -> None:
    assert "--since-last is for orders" in refused(account, 2, "products", "-o", tmp_path / "a", *LINES)
    assert "needs a folder" in refused(account, 2, "orders", "-o", tmp_path / "a.jsonl", "--since-last")
    assert "lacks state" in refused(account, 2, "orders", "-o", tmp_path / "a", *LINES, "--fields", "id,created_at")
    assert "needs --since-last" in refused(account, 2, "orders", "-o", tmp_path / "a.jsonl", "--full")
    ran(account, tmp_path / "lake")
    text = refused(account, 2, "orders", "-o", tmp_path / "lake", *LINES, "--fields", "id,created_at,state")
    assert "has an export whose fields is" in text
    refused(account, 2, "orders", "-o", tmp_path / "lake", "--format", "jsonl")
    state = tmp_path / "lake" / "run-00001" / "state.jsonl"
    state.write_bytes(state.read_bytes()[:-40])
    text = refused(account, 1, "orders", "-o", tmp_path / "lake", *LINES)
    assert text.endswith(
        "state.jsonl was changed after it was written: restore it, or remove this run's folder to repeat it\n"
    )


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_nights_with_kills(tmp_path: Path, form: str) -> None:
    """A shop lives for twelve nights; tests/bench/since_last.py simulates a year."""
    found = simulate(lists=60, nights=12, form=form, kill=0.02, seed=1, lake=tmp_path / "lake")
    assert (found["lost"], found["too_many"]) == (0, 0) and found["orders"] > 700, found
