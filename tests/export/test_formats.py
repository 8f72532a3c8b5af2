"""The three formats hold the same rows, whichever program reads them."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import polars
import pyarrow
import pyarrow.parquet
import pytest

from billcore.testing import Sandbox, SandboxAccount

from .support import Row, client_of, refused, result, rows

ODD = ["", "null", "a,b;\t'c'", 'say "hi"\\', "two\nlines\r\n", "\u2028 ÆØÅ \U0001f600", "=1+1", "\\."]
TEXTS = ("id", "reference_name", "state", "remote_id", "subscription_id")
COLUMNS = ("created_at", "total", *TEXTS)


def by_duckdb(folder: Path, name: str) -> Iterable[Row]:
    types = {"created_at": "TIMESTAMPTZ", "total": "BIGINT", **dict.fromkeys(TEXTS, "VARCHAR")}
    options = {
        "parquet": "",
        "jsonl": f", format = 'newline_delimited', columns = {types}",
        "csv": f", header = true, types = {types}, allow_quoted_nulls = false",
    }[name]
    function = "read_json" if name == "jsonl" else f"read_{name}"
    names = ", ".join(COLUMNS).replace("created_at", "epoch_us(created_at)")
    found = duckdb.execute(f"SELECT {names} FROM {function}('{folder}/orders-*.{name}'{options})").fetchall()
    return (dict(zip(COLUMNS, row, strict=True)) for row in found)


def by_polars(folder: Path, name: str) -> Iterable[Row]:
    files = f"{folder}/orders-*.{name}"
    types = dict.fromkeys(TEXTS, polars.String)
    if name == "parquet":
        return polars.read_parquet(files).to_dicts()
    if name == "jsonl":
        of = {**types, "created_at": polars.String, "total": polars.Int64}
        return (
            row for file in sorted(folder.glob("orders-*")) for row in polars.read_ndjson(file, schema=of).to_dicts()
        )
    return polars.read_csv(files, schema_overrides=types).to_dicts()


def normal(row: Row) -> tuple[Any, ...]:
    at = row["created_at"]
    at = datetime.fromisoformat(at) if isinstance(at, str) else at
    return (at if isinstance(at, int) else round(at.timestamp() * 1e6), *(row[name] for name in COLUMNS[1:]))


def test_each_reader_sees_the_rows_of_the_service(account: SandboxAccount, tmp_path: Path) -> None:
    for text in ODD:
        made = account.control.checkout(
            account.ids["products"]["subscription"],
            reference_name=text,
            metadata={"text": text, "nested": [1.5, None, {"a": True}]},
        )
        account.control.confirm(made["order"]["id"])
    with client_of(account) as client:
        orders = {
            str(order.id): {**order.to_dict(), "subscription_id": str(subscription.id)}
            for subscription in client.subscriptions.list()
            for order in client.subscriptions.orders(subscription.id)
        }
    wanted = sorted(map(normal, orders.values()))
    assert {*ODD} < {order["reference_name"] for order in orders.values()}
    for name in ("parquet", "jsonl", "csv"):
        folder = tmp_path / name
        found = result(account, "orders", "-o", folder, "--format", name, "--lists-per-part", 4)
        assert found["rows"] == len(wanted) and len([*folder.glob("part-*.json")]) == 4
        for reader in (by_duckdb, by_polars):
            assert sorted(map(normal, reader(folder, name))) == wanted, (name, reader)
    for row in rows(tmp_path / "jsonl"):
        assert row == {**orders[row["id"]], "created_at": row["created_at"], "more": None}
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", row["created_at"])
    for file in sorted((tmp_path / "csv").glob("orders-*")):
        with file.open(newline="", encoding="utf-8") as lines:
            for line in csv.DictReader(lines):
                assert json.loads(line["metadata"]) == orders[line["id"]]["metadata"]


@pytest.mark.parametrize("name", ["parquet", "jsonl", "csv"])
def test_one_file_has_the_rows_of_all_parts(account: SandboxAccount, tmp_path: Path, name: str) -> None:
    options = ("--fields", "total,id", "--lists-per-part", 2)
    result(account, "orders", "-o", tmp_path / "parts", "--format", name, *options)
    file = tmp_path / f"orders.{name}"
    result(account, "orders", "-o", file, *options)
    assert {each.name for each in tmp_path.iterdir()} == {
        *("parts", file.name, f"orders.reads.{name}", f"{file.name}.manifest.json")
    }
    for relation, one in (("orders", file), ("reads", tmp_path / f"orders.reads.{name}")):
        parts = sorted((tmp_path / "parts").glob(f"{relation}-*"))
        query = "SELECT CAST(row AS VARCHAR) FROM (SELECT * EXCLUDE (as_of) FROM '{}') row"
        query = query if relation == "reads" else query.replace(" EXCLUDE (as_of)", "")
        whole = duckdb.execute(query.format(one)).fetchall()
        of_parts = [row for part in parts for row in duckdb.execute(query.format(part)).fetchall()]
        assert sorted(whole) == sorted(of_parts) and len(whole) > 3
    assert [row[0] for row in duckdb.execute(f"DESCRIBE FROM '{file}'").fetchall()] == [
        "total",
        "id",
        "subscription_id",
    ]


def test_csv_for_a_spreadsheet(account: SandboxAccount, tmp_path: Path) -> None:
    formulas = ["=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(1)", "\t=1+1", "\r=1+1"]
    for name in [*formulas, *ODD]:
        made = account.control.checkout(account.ids["products"]["subscription"], reference_name=name)
        account.control.confirm(made["order"]["id"])
    options = ("--fields", "id,total,reference_name", "--lists-per-part", 5)
    result(account, "orders", "-o", tmp_path / "plain.csv", *options)
    result(account, "orders", "-o", tmp_path / "sheet.csv", *options, "--for-spreadsheet")
    plain, sheet = ((tmp_path / name).read_bytes() for name in ("plain.csv", "sheet.csv"))
    mark = b"\xef\xbb\xbf"
    assert sheet.startswith(mark) and sheet.count(mark) == 1
    assert (tmp_path / "sheet.reads.csv").read_bytes().startswith(mark)
    before, after = ([*csv.reader(io.StringIO(each.decode("utf-8-sig"), newline=""))] for each in (plain, sheet))
    assert len([row for row in after if row[2].startswith("'")]) == 7
    assert not [row for row in after if row[2].startswith(("=", "+", "-", "@", "\t", "\r"))]
    assert sorted([a, b, c.replace("'", "")] for a, b, c, _ in after) == sorted(
        [a, b, c.replace("'", "")] for a, b, c, _ in before
    )
    # A folder has only one kind of csv.
    folder = ("orders", "-o", tmp_path / "out", "--format", "csv")
    result(account, *folder, "--for-spreadsheet")
    assert "an export whose for_spreadsheet is True, not False" in refused(account, 2, *folder)
    text = refused(account, 2, "orders", "-o", tmp_path / "x.jsonl", "--for-spreadsheet")
    assert text == "billcore export: --for-spreadsheet needs the format csv, not jsonl\n"


def test_products_and_subscriptions(account: SandboxAccount, tmp_path: Path) -> None:
    product = account.control.create_product("odd rate", vat_rate=12.25)["id"]
    result(account, "products", "-o", tmp_path / "products.jsonl")
    found = {row["id"]: row for row in rows(tmp_path / "products.jsonl")}
    with client_of(account) as client:
        wanted = {each.id: each.to_dict() | {"more": None} for each in client.products.list()}
        subscription = next(iter(client.subscriptions.list())).to_dict()
    assert found == wanted
    text = (tmp_path / "products.jsonl").read_text("utf-8")
    assert [
        json.loads(line, parse_float=Decimal)["vat_rate"] for line in text.splitlines() if f'"id":{product},' in line
    ] == [Decimal("12.25")]
    # The signed URLs are written only if they are named.
    result(account, "subscriptions", "-o", tmp_path / "subscriptions.jsonl")
    urls = {"update_card_url", "invoices_url", "cancel_url"}
    assert rows(tmp_path / "subscriptions.jsonl")[0].keys() == subscription.keys() - urls | {"more"}
    result(account, "subscriptions", "-o", tmp_path / "urls.jsonl", "--fields", "id,cancel_url")
    assert rows(tmp_path / "urls.jsonl")[0] == {each: subscription[each] for each in ("id", "cancel_url")}


@pytest.mark.parametrize("name", ["parquet", "jsonl", "csv"])
def test_unknown_fields_are_kept_without_signed_urls(account: SandboxAccount, tmp_path: Path, name: str) -> None:
    known = {"status": "active", "cancel_url": "https://billing.example/c?sig=1"}
    new = {"seats": 3, "portal": {"name": "a\nb", "url": "https://billing.example/p?sig=1"}}
    redacted = {"seats": 3, "portal": {"name": "a\nb", "url": "[redacted]"}}
    records = [{"id": "1", **known, **new}, {"id": "2", **known}]
    body = {"data": records, "pagination": {"total": 2, "current_page": 1, "total_pages": 1}}
    account.control.fault("status", operation="subscriptions.list", status=200, body=body, times=10)
    file, whole = tmp_path / f"default.{name}", tmp_path / f"whole.{name}"
    result(account, "subscriptions", "-o", file)
    result(account, "subscriptions", "-o", whole, "--fields", "id,cancel_url,more")
    for path, wanted in ((file, redacted), (whole, new)):
        more = [row for (row,) in duckdb.execute(f"SELECT more FROM '{path}'").fetchall()]
        assert [json.loads(row) if isinstance(row, str) else row for row in more] == [wanted, None]
    assert duckdb.execute(f"DESCRIBE FROM '{file}'").fetchall()[-1][0] == "more" and b"sig=" not in file.read_bytes()


def test_row_groups_are_large_whatever_the_lists_are(account: SandboxAccount, tmp_path: Path) -> None:
    result(account, "orders", "-o", tmp_path / "orders.parquet", "--lists-per-part", 1)
    for name in ("orders.parquet", "orders.reads.parquet"):
        assert pyarrow.parquet.ParquetFile(tmp_path / name).num_row_groups == 1


def test_one_manifest_says_what_a_folder_has(account: SandboxAccount, tmp_path: Path) -> None:
    arguments = ("orders", "-o", tmp_path, "--format", "jsonl", "--lists-per-part", 2)
    found = result(account, *arguments)
    whole = json.loads((tmp_path / "manifest.json").read_bytes())
    assert {name: whole[name] for name in ("rows", "lists", "verdicts", "complete", "base_url")} == {
        **{name: found[name] for name in ("rows", "lists", "verdicts", "complete")},
        "base_url": account.base_url,
    }
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", whole["planned_at"])
    contents = {path.name: path.read_bytes() for path in tmp_path.glob("*.jsonl")}
    assert whole["files"] == {
        name: {"rows": data.count(b"\n"), "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for name, data in contents.items()
    }
    assert sum(file["rows"] for name, file in whole["files"].items() if name.startswith("orders-")) == found["rows"]
    # While a part is read again, there is no manifest, because it would be wrong.
    (tmp_path / "part-00001.json").unlink()
    account.control.fault("status", path="/subscription/*/orders", status=401, times=10_000)
    assert refused(account, 1, *arguments) and not (tmp_path / "manifest.json").exists()


def test_an_account_without_subscriptions(sandbox: Sandbox, tmp_path: Path) -> None:
    account = sandbox.new_account(demo=False)
    for name in ("parquet", "jsonl", "csv"):
        found = result(account, "orders", "-o", tmp_path / f"orders.{name}", "--fields", "id,created_at")
        assert (found["lists"], found["rows"]) == (0, 0)
    assert (tmp_path / "orders.csv").read_text() == "id,created_at,subscription_id\n"
    assert (tmp_path / "orders.jsonl").read_bytes() == b""
    schema = pyarrow.parquet.read_schema(tmp_path / "orders.parquet")
    assert schema.names == ["id", "created_at", "subscription_id"] and schema.field("created_at").type.tz == "UTC"
    [read] = rows(tmp_path / "orders.reads.jsonl")
    assert datetime.fromisoformat(read.pop("as_of")).tzinfo == UTC
    assert read == {"id": "", "pages": 1, "total": 0, "verdict": "complete", "reason": ""}
