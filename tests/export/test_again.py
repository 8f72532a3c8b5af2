"""Lists that failed, or may lack a record, are read again: at the end of the export, and by the next run."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from billcore.cli import main
from billcore.testing import SandboxAccount

from .support import client_of, export, full_disk_after, listed, pairs, refused, result, rows
from .test_killed import killed_before

TEXTS = ['"', "a\nb", 'a\r\n"b",c', "=1+1", '","', "\u2028", "plain"]


def many(account: SandboxAccount) -> str:
    """The list with the most orders: two pages, whose texts a format must quote."""
    id = str(account.ids["subscriptions"]["demo-many-orders"])
    path = f"/subscription/{id}/orders"
    account.control.fault("rows", path=path, insert=100, times=4)
    with client_of(account) as client:
        for _ in range(4):
            client.subscriptions.orders(id).first()
    return path


def by_list(account: SandboxAccount) -> list[tuple[str, str]]:
    with client_of(account) as client:
        return sorted(listed(client))


def refuse_wrong_manifest(folder: Path) -> None:
    """A killed process leaves no manifest.json, or one that is right."""
    if (folder / "manifest.json").exists():
        whole, plan = (json.loads((folder / name).read_bytes()) for name in ("manifest.json", "plan.json"))
        hashes = {name: file["sha256"] for name, file in whole["files"].items()}
        files = [each for relation in ("orders", "reads") for each in folder.glob(f"{relation}-*.jsonl")]
        assert hashes == {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in files}
        assert (whole["planned"], len(files)) == (plan["planned"], 2 * len(plan["parts"]))


def read(path: Path, name: str, relation: str = "orders") -> list[tuple[str, ...]]:
    """Pairs of ids, or the id and the verdict of each list, read by another program."""
    files = str(path / f"{relation}-*.{name}") if path.is_dir() else str(path)
    columns = "subscription_id, id" if relation == "orders" else "id, verdict"
    source = {
        "parquet": f"read_parquet('{files}')",
        "csv": f"read_csv('{files}', header = true, all_varchar = true, allow_quoted_nulls = false, "
        "quote = '\"', escape = '\"')",
        "jsonl": f"read_json('{files}', format = 'nd', columns = {{id: 'VARCHAR', subscription_id: 'VARCHAR', "
        "verdict: 'VARCHAR'})",
    }[name]
    return sorted(duckdb.execute(f"SELECT {columns} FROM {source}").fetchall())


@pytest.mark.parametrize("form", ["parquet", "jsonl", "csv", "spreadsheet"])
def test_lists_that_are_better_the_second_time(account: SandboxAccount, tmp_path: Path, form: str) -> None:
    for text in TEXTS:
        made = account.control.checkout(account.ids["products"]["subscription"], reference_name=text)
        account.control.confirm(made["order"]["id"])
    path, name = many(account), "csv" if form == "spreadsheet" else form
    others = [each for each in by_list(account) if each[0] not in path]
    account.control.fault("rows", path=path, query={"page": "2"}, delete=70)
    account.control.fault("status", path=f"/subscription/{others[-1][0]}/orders", status=403)
    arguments: tuple[object, ...] = ("orders", "-o", tmp_path / "out", "--format", name, "--lists-per-part", 3)
    done = export(account, *arguments, *(["--for-spreadsheet"] if form == "spreadsheet" else []), "--json")
    assert (done.returncode, done.stderr) == (0, "billcore export: 2 lists are not complete: reading again\n"), done
    wanted, found = by_list(account), json.loads(done.stdout)
    assert read(tmp_path / "out", name) == wanted
    assert (found["rows"], found["verdicts"]["complete"]["total"]) == (len(wanted), len(wanted))
    reads = read(tmp_path / "out", name, "reads")
    assert reads == sorted([("", "complete"), *((id, "complete") for id in {id for id, _ in wanted})])
    if name == "csv":
        texts = [
            row["reference_name"].lstrip("'") if form == "spreadsheet" else row["reference_name"]
            for file in sorted((tmp_path / "out").glob("orders-*"))
            for row in csv.DictReader(file.open(newline="", encoding="utf-8-sig"))
        ]
        assert {*TEXTS} <= {*texts} or form == "spreadsheet"
        marks = [file.read_bytes().count(b"\xef\xbb\xbf") for file in sorted((tmp_path / "out").glob("*.csv"))]
        assert {*marks} == {1 if form == "spreadsheet" else 0}
    again = export(account, *arguments, *(["--for-spreadsheet"] if form == "spreadsheet" else []), "--json")
    assert (again.returncode, json.loads(again.stdout)) == (0, found), "the files agree with their hashes"


@pytest.mark.parametrize("is_folder", [True, False])
def test_the_next_run_reads_the_lists_that_failed(account: SandboxAccount, tmp_path: Path, is_folder: bool) -> None:
    path, wanted = many(account), by_list(account)
    before = len(account.control.requests(operation="orders"))
    fault = account.control.fault("status", path=path, status=200, body="<html>", content_type="text/html", times=1000)
    output = tmp_path / ("out" if is_folder else "orders.jsonl")
    arguments = ("orders", "-o", output, "--format", "jsonl", "--lists-per-part", 3)
    done = export(account, *arguments)
    lines = done.stdout.splitlines()
    assert done.returncode == 3 and [line.split()[:2] for line in lines[2:4]] == [["complete", "5"], ["failed", "1"]]
    assert lines[4].startswith(f"failed {path.split('/')[2]}: GET {path}?page=1: ") and len(lines) == 5
    assert sorted(pairs(rows(output))) == [each for each in wanted if each[0] not in path]
    asked = [each["target"] for each in account.control.requests(operation="orders")]
    assert len([each for each in asked[before:] if path in each]) == 2, "once more, not three times"
    account.control.delete_fault(fault)
    if is_folder:
        assert result(account, *arguments)["rows"] == len(wanted)
        assert sorted(pairs(rows(output))) == wanted
        more = account.control.requests(operation="orders")[len(asked) :]
        assert more and all(path in each["target"] for each in more), "only this list is read again"


def test_each_list_fails(account: SandboxAccount, tmp_path: Path) -> None:
    for output in (tmp_path / "out", tmp_path / "orders.jsonl"):
        fault = account.control.fault("status", operation="orders", status=403, times=1000)
        arguments = ("orders", "-o", output, "--format", "jsonl")
        text = refused(account, 1, *arguments)
        assert "no list could be read: GET /subscription/" in text and ": 403 " in text and not output.is_file()
        account.control.delete_fault(fault)
        assert result(account, *arguments)["rows"] == 65 == len({*pairs(rows(output))})


@pytest.mark.parametrize("worse", [403, 404])
def test_a_worse_reading_loses_no_row(account: SandboxAccount, tmp_path: Path, worse: int) -> None:
    """The list was read up to its second page; then it cannot be read, or was deleted."""
    path = many(account)
    arguments = ("orders", "-o", tmp_path, "--format", "jsonl")
    cut = account.control.fault("status", path=path, query={"page": "2"}, status=410, times=1000)
    assert export(account, *arguments).returncode == 3
    before = pairs(rows(tmp_path))
    assert len([each for each in before if each[0] in path]) == 200
    account.control.delete_fault(cut)
    account.control.fault("status", path=path, status=worse, times=1000)
    done = export(account, *arguments)
    assert done.returncode == 3 and done.stdout.splitlines()[3].split()[:2] == ["possibly_missed", "1"]
    assert pairs(rows(tmp_path)) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda page: page["data"][0].update(vat_rate="25"),
        lambda page: page["data"].append("product"),
    ],
)
def test_a_product_that_cannot_be_read_once(
    account: SandboxAccount, tmp_path: Path, change: Callable[[Any], None]
) -> None:
    """Of a list that is the only one, the page before an odd one is kept until the list is read again."""
    account.control.fault("rows", operation="products.list", insert=100)
    with client_of(account) as client:
        client.products.list().first()
        page = client.request("GET", "/products", query={"page": 2}).json()
        count = len(client.products.list().collect())
    change(page)
    odd = account.control.fault("status", path="/products", query={"page": "2"}, status=200, body=page, times=1000)
    arguments = ("products", "-o", tmp_path / "out", "--format", "jsonl")
    done = export(account, *arguments)
    assert done.returncode == 3 and "possibly_missed products: " in done.stdout
    assert len(rows(tmp_path / "out", "products")) == 100
    account.control.delete_fault(odd)
    assert (
        result(account, *arguments)["rows"] == count == len({row["id"] for row in rows(tmp_path / "out", "products")})
    )


def test_a_disk_that_is_full_at_each_file_loses_no_row(account: SandboxAccount, tmp_path: Path) -> None:
    """A list was read in part. It is read again, but the disk is full; later the service refuses the list."""
    path = many(account)
    cut = account.control.fault("status", path=path, query={"page": "2"}, status=410, times=1000)
    assert export(account, "orders", "-o", tmp_path / "first", "--format", "jsonl").returncode == 3
    account.control.delete_fault(cut)
    before = pairs(rows(tmp_path / "first"))
    status, number = 1, 0
    while status == 1:
        output = tmp_path / str(number)
        shutil.copytree(tmp_path / "first", output)
        arguments = ("orders", "-o", output, "--format", "jsonl")
        with full_disk_after(number):
            status = export(account, *arguments).returncode
        if status == 1:
            refusal = account.control.fault("status", path=path, status=403, times=1000)
            export(account, *arguments)
            account.control.delete_fault(refusal)
            assert {*before} <= {*pairs(rows(output))}, number
        number += 1
    assert (status, number) == (0, 7), "two files again, the part's two files, part-00000.json, manifest.json"


def test_a_kill_before_each_step(account: SandboxAccount, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plan that lacks subscriptions, and a list that failed: the next run is killed."""
    monkeypatch.setenv("BILLCORE_BASE_URL", account.base_url)
    monkeypatch.setenv("BILLCORE_API_KEY", account.api_key)
    path = many(account)
    account.control.fault("rows", operation="subscriptions.list", insert=100)
    with client_of(account) as client:
        first_id = getattr(client.subscriptions.list().first(), "id", "")
    wanted, gone = by_list(account), 410
    faults = [
        account.control.fault("status", path="/subscriptions", query={"page": "2"}, status=gone, times=1000),
        account.control.fault("status", path=f"/subscription/{first_id}/orders", status=gone, times=1000),
    ]
    first = tmp_path / "first"
    arguments = ["export", "orders", "-o", str(first), "--format", "jsonl", "--lists-per-part", "40"]
    assert main(arguments) == 3
    assert len(json.loads((first / "plan.json").read_bytes())["parts"]) == 3
    assert path.split("/")[2] not in {row["id"] for row in rows(first, "reads")}
    for fault in faults:
        account.control.delete_fault(fault)
    number, died = 0, True
    while died:
        output = tmp_path / str(number)
        shutil.copytree(first, output)
        arguments[3] = str(output)
        died = killed_before(number, arguments)
        refuse_wrong_manifest(output)
        assert main(arguments) == 0, number
        refuse_wrong_manifest(output)
        assert (output / "manifest.json").exists(), number
        assert sorted(pairs(rows(output))) == wanted, number
        reads = rows(output, "reads")
        assert len(reads) == len({row["id"] for row in reads}) == 107, number
        assert {row["verdict"] for row in reads} == {"complete"}
        assert not [*output.rglob("*.tmp")], number
        number += 1
    assert number > 15
