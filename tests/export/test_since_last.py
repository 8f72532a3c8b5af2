"""`billcore export orders --since-last`: each run adds what is new, changed or gone, and loses nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pytest

from billcore import _ends
from billcore.cli import main
from billcore.testing import SandboxAccount
from support.waiting import LONG, until

from .support import Row, client_of, command, environment, export, full_disk_after, refused
from .test_killed import killed_before

PAGE = Path(__file__).resolve().parents[2] / "python/docs/export.md"
LINES = ("--format", "jsonl", "--since-last")


def view(lake: Path, form: str = "jsonl") -> list[tuple[str, str, str]]:
    """The current view, as python/docs/export.md defines it: list, id and state of each order."""
    source = {
        "jsonl": "read_json('{}', format = 'nd', columns = {{id: 'VARCHAR', subscription_id: 'VARCHAR', "
        "state: 'VARCHAR', observed_at: 'TIMESTAMP', change: 'VARCHAR'}})",
        "csv": "read_csv('{}', header = true, all_varchar = true)",
        "parquet": "read_parquet('{}')",
    }[form].format(lake / f"run-*/orders.{form}")
    [text] = re.findall(r"^In DuckDB:\n+```sql\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    with duckdb.connect() as connection:
        connection.execute(text.replace("'lake/run-*/orders.parquet'", source))
        return sorted(connection.execute("SELECT subscription_id, id, state FROM orders").fetchall())


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
    (tmp_path / ".lock").unlink()  # a copy, for example from an object store, has none
    account.control.checkout(account.ids["products"]["subscription"], reference_name='=1,"\n')
    grow(account, id, 3)
    assert export(account, *arguments).returncode == 0
    assert view(tmp_path, form) == service(account)
    account.control.fault("rows", path=f"/subscription/{id}/orders", delete=2)
    with client_of(account) as client:
        client.subscriptions.orders(id).first()
    before = len(view(tmp_path, form))
    (tmp_path / f"run-00001/reads.{form}").unlink()
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


def test_a_subscription_that_was_deleted(account: SandboxAccount, tmp_path: Path) -> None:
    ran(account, tmp_path)
    before = view(tmp_path)
    account.control.fault("rows", operation="subscriptions.list", delete=1)
    with client_of(account) as client:
        client.subscriptions.list().first()
    assert service(account) != before
    found = ran(account, tmp_path)
    assert (found["verdicts"]["not_found"]["lists"], found["complete"]) == (1, True)
    assert view(tmp_path) == before, "only a full run says what is gone"
    ran(account, tmp_path, "--full")
    assert view(tmp_path) == service(account)
    assert "not_found" not in ran(account, tmp_path)["verdicts"], "it is forgotten"


def test_a_list_that_is_not_found_although_its_subscription_is_listed(account: SandboxAccount, tmp_path: Path) -> None:
    ran(account, tmp_path)
    fault = account.control.fault("status", operation="orders", status=404, times=1000)
    assert export(account, "orders", "-o", tmp_path, *LINES, "--full").returncode == 3
    account.control.delete_fault(fault)
    assert view(tmp_path) == service(account), "nothing is gone"


def test_a_run_that_reads_more_does_not_continue_one_that_reads_less(account: SandboxAccount, tmp_path: Path) -> None:
    id = many(account)
    ran(account, tmp_path)
    with client_of(account) as client:
        [*_, last] = [str(each.id) for each in client.subscriptions.list()]
    assert last != id
    for more in ((), ("--refresh-since", 36500)):
        before = len(requests(account))
        fault = account.control.fault("status", path=f"/subscription/{last}/orders", status=401, times=1000)
        assert "5 of 6 parts" in refused(account, 1, "orders", "-o", tmp_path, *LINES, *more, "--lists-per-part", 1)
        account.control.delete_fault(fault)
        pages = [each for each in requests(account)[before:] if f"/{id}/" in each and "filter" not in each]
        assert (len(pages) > 5) == bool(more), pages
    before = len(requests(account))
    ran(account, tmp_path, "--refresh-since", 36500)
    assert all(f"/subscription/{last}/orders?" in each for each in requests(account)[before:])
    assert ran(account, tmp_path)["rows"] == 0


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
        refuse_bad_end(lake, wanted)
        number += 1
    assert number > 15


def refuse_bad_end(lake: Path, wanted: list[tuple[str, str, str]]) -> None:
    """Two runs have written each order once, and nothing is left of a run that was not finished."""
    assert view(lake) == wanted
    written = [json.loads(line)["id"] for each in lake.glob("run-*/orders.jsonl") for line in each.open()]
    assert len(written) == len({*written}) == len(wanted)
    assert {*os.listdir(lake)} - {"run-00003"} == {".lock", "run-00001", "run-00002"}


def test_a_disk_that_is_full_at_each_file(account: SandboxAccount, tmp_path: Path) -> None:
    first = tmp_path / "first"
    ran(account, first)
    before = view(first)
    grow(account, account.ids["subscriptions"]["demo-many-orders"], 3)
    wanted = service(account)
    status, number, files = 1, 0, []
    while status == 1:
        lake = tmp_path / str(number)
        shutil.copytree(first, lake)
        arguments = ("orders", "-o", lake, *LINES, "--lists-per-part", 4)
        with full_disk_after(number):
            done = export(account, *arguments)
        status = done.returncode
        if status == 1:
            problem, *more = done.stderr.splitlines()
            files += re.findall(rf"^billcore export: {lake}/\.next/(\S+)\.tmp: No space left on device$", problem)
            assert all(line.endswith("parts are finished: run the same command again to continue") for line in more)
            assert view(lake) == before and len(files) == number + 1, problem
            assert export(account, *arguments).returncode == 0, number
        refuse_bad_end(lake, wanted)
        number += 1
    part = ["orders-0000{}.jsonl", "reads-0000{}.jsonl", "state-0000{}.jsonl", "part-0000{}.json"]
    joined = ["joined/orders.jsonl", "joined/reads.jsonl", "joined/state.jsonl", "joined/manifest.json"]
    assert files == ["plan.json", *(name.format(number) for number in (0, 1) for name in part), *joined]


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


def test_what_is_refused(account: SandboxAccount, tmp_path: Path) -> None:
    assert "--since-last is for orders" in refused(account, 2, "products", "-o", tmp_path / "a", *LINES)
    assert "needs a folder" in refused(account, 2, "orders", "-o", tmp_path / "a.jsonl", "--since-last")
    assert "lacks state" in refused(account, 2, "orders", "-o", tmp_path / "a", *LINES, "--fields", "id,created_at")
    assert "needs --since-last" in refused(account, 2, "orders", "-o", tmp_path / "a.jsonl", "--full")
    ran(account, tmp_path / "lake")
    text = refused(account, 2, "orders", "-o", tmp_path / "lake", *LINES, "--fields", "id,created_at,state")
    assert "has an export whose fields is" in text
    refused(account, 2, "orders", "-o", tmp_path / "lake", "--format", "jsonl")
    lake = tmp_path / "lake"
    fault = account.control.fault("status", operation="orders", status=401, times=1000)
    refused(account, 1, "orders", "-o", lake, *LINES)
    account.control.delete_fault(fault)
    plan = lake / ".next" / "plan.json"
    plan.write_bytes(plan.read_bytes().replace(b"is_full", b"edited"))
    text = refused(account, 1, "orders", "-o", lake, *LINES)
    assert text.endswith(f"plan.json was changed after it was written: restore it, or remove {lake}/.next\n")
    shutil.rmtree(lake / ".next")
    for _ in range(3):
        ran(account, lake)
    for number in (4, 3):
        shutil.rmtree(lake / f"run-0000{number}")
    assert "is absent: restore it, or the newer runs, or export" in refused(account, 1, "orders", "-o", lake, *LINES)
    shutil.rmtree(lake)
    ran(account, lake)
    state = lake / "run-00001" / "state.jsonl"
    state.write_bytes(state.read_bytes()[:-40])
    text = refused(account, 1, "orders", "-o", tmp_path / "lake", *LINES)
    assert text.endswith(
        "state.jsonl was changed after it was written: restore it, or remove this run's folder to repeat it\n"
    )
