"""compare() on small exports: what each result contains, the types of the user's table, and refused input."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from datetime import timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pyarrow
import pytest

from billcore import InvalidArgumentError, reconcile
from billcore.cli._folder import write

from .support import order, orders, read, write_export, write_joined, write_table

FORMATS = ["parquet", "jsonl", "csv"]
LIST = [order(1), order(2), order(3), order(4, total=2**50, reference_id='"x", '), order(5, 2, reference_id="")]
READS = [read("1"), read("2", "possibly_missed"), read("3", "not_found", 0)]


@pytest.fixture(params=FORMATS)
def export(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    none, first, second = orders(), orders(*LIST[:2]), orders(*LIST[2:])
    parts = [
        (none, pyarrow.Table.from_pylist([read("")])),
        (first, pyarrow.Table.from_pylist(READS[:1])),
        (second, pyarrow.Table.from_pylist(READS[1:])),
    ]
    write_export(tmp_path / "ex-port", parts, request.param)
    return write_export(tmp_path / "ex*port", parts, request.param)


@pytest.fixture
def one(tmp_path: Path) -> Path:
    return write_export(tmp_path / "export", [(orders(*LIST), pyarrow.Table.from_pylist(READS[:1]))], "parquet")


def results(export: Path, table: Any, **options: Any) -> dict[str, list[dict[str, Any]]]:
    with reconcile.compare(export, table, **options) as found:
        rows = {name: list(found.rows(name)) for name in found.counts}
        assert found.counts == {name: len(each) for name, each in rows.items()}
    return {name: each for name, each in rows.items() if each}


def test_missing_differing_and_unknown_orders_are_told_apart(export: Path) -> None:
    strange = [order(8, 1), order(9, 2), order(10, 7)]  # in a complete list, in one with a gap, in one nobody read
    table = orders(LIST[0], order(3, state="confirmed", total=1), *LIST[3:], LIST[4], *strange)
    found = results(export, table)
    assert [row["id"] for row in found.pop("unknown")] == ["8"]
    assert found == {
        "missing": [LIST[1] | {"metadata": found["missing"][0]["metadata"]}],
        "differing": [
            {"id": "3", "field": "total", "exported": "1503", "recorded": "1"},
            {"id": "3", "field": "state", "exported": "paid", "recorded": "confirmed"},
        ],
        "duplicates": [{"id": "5", "records": 2}],
        "unverifiable": READS[1:],
    }
    # Without the column subscription_id, one list with a gap hides which rows are unknown.
    assert "unknown" not in results(export, table.drop_columns(["subscription_id"]))


def test_a_file_instead_of_a_folder(tmp_path: Path) -> None:
    for extension in FORMATS:
        file = write_joined(tmp_path / f"orders.{extension}", orders(*LIST), pyarrow.Table.from_pylist(READS[:1]))
        assert [row["id"] for row in results(file, orders(*LIST[1:]))["missing"]] == ["1"]
        assert results(file, orders(*LIST)) == {}


def test_an_export_without_rows(tmp_path: Path) -> None:
    for extension in FORMATS:
        reads = pyarrow.Table.from_pylist([read(""), read("1", total=0)])
        folder = write_export(tmp_path / extension, [(orders(), reads)], extension)
        assert results(folder, orders()) == {}
        assert [row["id"] for row in results(folder, orders(LIST[0]))["unknown"]] == ["1"]


def psql(rows: list[dict[str, Any]], path: Path) -> Any:
    """As psql's \\copy writes it in a time zone that changes its clocks."""
    lines = ["id,created_at,total,reference_id,state"]
    for row in rows:
        local = row["created_at"].astimezone(timezone(timedelta(hours=2)))
        reference = "" if row["reference_id"] is None else '"' + row["reference_id"].replace('"', '""') + '"'
        lines.append(f"{row['id']},{local:%Y-%m-%d %H:%M:%S}+02,{row['total']}.00,{reference},{row['state']}")
    (path / "orders.csv").write_text("\n".join(lines) + "\n")
    return path / "orders.csv"


def json_lines(rows: list[dict[str, Any]], path: Path) -> Any:
    file = duckdb.connect()
    changed = [{**row, "id": int(row["id"]), "total": f"{row['total']}"} for row in rows]
    file.register("rows", pyarrow.Table.from_pylist(changed))
    file.execute(f"COPY rows TO '{path / 'mine.jsonl'}' (FORMAT json)")
    return [path / "mine.jsonl"]


def decimals(rows: list[dict[str, Any]], path: Path) -> Any:
    changed = [
        {
            **row,
            "id": int(row["id"]),
            "total": Decimal(row["total"]),
            "created_at": row["created_at"].replace(tzinfo=None),
            "subscription_id": Decimal(row["subscription_id"]),
        }
        for row in rows
    ]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(changed), path / "mine.parquet")
    return str(path / "*.parquet")


def floats(rows: list[dict[str, Any]], path: Path) -> Any:
    return pandas.DataFrame([{**row, "total": float(row["total"])} for row in rows])


def only_null(rows: list[dict[str, Any]], path: Path) -> Any:
    return (
        pyarrow.Table.from_pylist(rows).drop_columns(["remote_id"]).append_column("remote_id", pyarrow.nulls(len(rows)))
    )


def relation(rows: list[dict[str, Any]], path: Path) -> Any:
    connection = duckdb.connect()
    connection.register("rows", orders(*rows))
    return connection.sql("SELECT *, CAST(id AS HUGEINT) AS id_, strftime(created_at, '%xT%X') AS at FROM rows")


def renamed(rows: list[dict[str, Any]], path: Path) -> Any:
    changed = [{'Order "Id"': row["id"], "cents": row["total"], "total": 7} for row in rows]
    return polars.DataFrame(changed)


@pytest.mark.parametrize(
    ("given", "columns"),
    [
        (psql, None),
        (json_lines, None),
        (decimals, None),
        (floats, None),
        (relation, {"id": "id_", "total": "TOTAL", "created_at": "at"}),
        (renamed, {"id": 'Order "Id"', "total": "cents"}),
        (floats, ["id", "total"]),
        (only_null, None),
    ],
)
def test_the_types_of_the_table(
    one: Path, tmp_path: Path, given: Callable[[list[dict[str, Any]], Path], Any], columns: Any
) -> None:
    assert results(one, given(LIST, tmp_path), columns=columns) == {}
    other = given([*LIST[1:], {**LIST[0], "total": 99}], tmp_path)
    [difference] = results(one, other, columns=columns)["differing"]
    assert (difference["id"], difference["field"], float(difference["recorded"])) == ("1", "total", 99.0)


@pytest.mark.parametrize("field", ["created_at", "state", "reference_id"])
@pytest.mark.parametrize("given", [psql, json_lines, decimals, floats])
def test_another_value_of_each_type(one: Path, tmp_path: Path, given: Any, field: str) -> None:
    other = {"created_at": LIST[1]["created_at"] + timedelta(seconds=1), "state": "", "reference_id": None}[field]
    rows = [LIST[0], {**LIST[1], field: other}, *LIST[2:]]
    [difference] = results(one, given(rows, tmp_path))["differing"]
    assert (difference["id"], difference["field"]) == ("2", field)


def test_signed_urls_are_compared_only_if_they_are_named(tmp_path: Path) -> None:
    row = {"id": "1", "status": "active", "cancel_url": "https://billing.example/1"}
    reads = pyarrow.Table.from_pylist([read("")])
    file = write_joined(tmp_path / "subscriptions.csv", pyarrow.Table.from_pylist([row]), reads)
    table = pyarrow.Table.from_pylist([{**row, "cancel_url": "https://billing.example/2"}])
    assert results(file, table) == {}
    [difference] = results(file, table, columns=["id", "cancel_url"])["differing"]
    assert (difference["field"], difference["recorded"]) == ("cancel_url", "https://billing.example/2")


def test_rows_without_an_id(one: Path) -> None:
    nameless = order(7, id=None)
    for count in (1, 2):
        found = results(one, orders(*LIST, *[nameless] * count))
        assert found["duplicates"] == [{"id": None, "records": count}] and "missing" not in found


def test_an_export_without_an_id(tmp_path: Path) -> None:
    """If it were accepted, the caller would record an order without an id again after each comparison."""
    for number, id in enumerate((None, "")):
        parts = [(orders(LIST[0], order(2, id=id)), pyarrow.Table.from_pylist(READS[:1]))]
        export = write_export(tmp_path / f"export{number}", parts, "parquet")
        assert "a record without an id" in refused(export, orders(*LIST))


def refused(export: Path, table: Any, **options: Any) -> str:
    with pytest.raises(InvalidArgumentError) as raised:
        reconcile.compare(export, table, **options)
    text = str(raised.value)
    assert 0 < len(text) < 300 and "\n" not in text
    return text


def replace(file: Path, old: str, new: str) -> None:
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda folder: (folder / "part-00000.json").unlink(), "0 of 1 parts are finished: run the same"),
        (lambda folder: (folder / "plan.json").unlink(), "no readable plan.json: pass a folder of"),
        (lambda folder: (folder / "part-00000.json").write_text("{"), "part-00000.json was changed"),
        (lambda folder: replace(folder / "plan.json", '["1"]', '["2"]'), "plan.json was changed"),
        (lambda folder: write_table(folder / "orders-00000.parquet", orders(LIST[0])), "orders-0.* was changed"),
        (lambda folder: write_table(folder / "reads-00000.parquet", orders(LIST[0])), "reads-0.* was changed"),
    ],
)
def test_an_export_that_is_not_finished_or_was_changed(one: Path, change: Any, message: str) -> None:
    change(one)
    assert re.search(message, refused(one, orders(*LIST)))


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 4])


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("orders.csv", cut, "orders.csv was changed after it was written: restore it, or export again"),
        ("orders.reads.csv", Path.unlink, "orders.reads.csv was changed"),
        ("orders.csv.manifest.json", cut, "manifest.json was changed"),
        ("orders.csv.manifest.json", lambda file: replace(file, '"rows": 5', '"rows": 4'), "manifest.json was changed"),
        ("orders.csv.manifest.json", Path.unlink, "manifest.json is absent: pass a folder or FILE of"),
    ],
)
def test_a_file_that_was_changed(tmp_path: Path, name: str, change: Any, message: str) -> None:
    file = write_joined(tmp_path / "orders.csv", orders(*LIST), pyarrow.Table.from_pylist(READS[:1]))
    change(tmp_path / name)
    assert message in refused(file, orders(*LIST))


@pytest.mark.parametrize(
    "edit",
    [
        lambda content: content.pop("files"),
        lambda content: content.update(files={}),
        lambda content: content.update(files=["orders.csv"]),
        lambda content: [file.pop("bytes") for file in content["files"].values()],
    ],
)
def test_a_manifest_with_its_own_hash_and_other_content(one: Path, tmp_path: Path, edit: Any) -> None:
    """Such as that of another version of billcore."""
    file = write_joined(tmp_path / "orders.csv", orders(*LIST), pyarrow.Table.from_pylist(READS[:1]))
    for export, name in ((file, tmp_path / "orders.csv.manifest.json"), (one, one / "part-00000.json")):
        content = json.loads(name.read_bytes())
        edit(content)
        write(name, content)
        assert f"{export} is of another version of billcore: export again" in refused(export, orders(*LIST))


def test_an_export_that_reads_lists_again_while_it_is_compared(one: Path, tmp_path: Path) -> None:
    """The results could be of both readings: no order would be missing, and no list unverifiable."""
    reads = pyarrow.Table.from_pylist([read("1", "possibly_missed")])
    newer = write_export(tmp_path / "newer", [(orders(*LIST), reads)], "parquet")
    table = orders(*LIST)

    def batches() -> Iterator[pyarrow.RecordBatch]:
        for file in newer.iterdir():
            file.replace(one / file.name)
        yield from table.to_batches()

    reader = pyarrow.RecordBatchReader.from_batches(table.schema, batches())
    assert refused(one, reader).endswith(" was changed while it was compared: compare again")
    assert {*results(one, table)} == {"unverifiable"}


def test_a_file_that_was_moved_with_its_manifest(tmp_path: Path) -> None:
    file = write_joined(tmp_path / "orders.csv", orders(*LIST), pyarrow.Table.from_pylist(READS[:1]))
    for each in (".csv", ".reads.csv", ".csv.manifest.json"):
        (tmp_path / f"orders{each}").rename(tmp_path / f"monday{each}")
    assert results(file.with_name("monday.csv"), orders(*LIST)) == {}


def with_type(name: str, kind: Any) -> pyarrow.Table:
    table = orders()
    index = table.schema.get_field_index(name)
    return table.set_column(index, name, pyarrow.array([], kind))


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ("absent.parquet", {}, "cannot be read.*absent.parquet"),
        ("orders.xlsx", {}, "orders.xlsx is not a table"),
        (5, {}, "cannot be read"),
        ([], {}, "is not a table"),
        (orders().drop_columns(["id"]), {}, "no column is named id"),
        (with_type("id", pyarrow.float64()), {}, "column id is DOUBLE"),
        (with_type("id", pyarrow.decimal128(20, 2)), {}, r"column id is DECIMAL\(20,2\)"),
        (with_type("created_at", pyarrow.date32()), {}, "column created_at is DATE"),
        (with_type("total", pyarrow.binary()), {}, "column total is BLOB"),
        (orders(), {"columns": ["id", "metadata"]}, "metadata cannot be compared"),
        (orders(), {"columns": ["id", "price"]}, "the export has no column price"),
        (orders(), {"columns": {"id": "id", "total": "amount"}}, "the table has no column amount"),
        (orders(), {"columns": ["total"]}, "no column is named id"),
    ],
)
def test_a_table_that_cannot_be_compared(one: Path, table: Any, options: Any, message: str) -> None:
    assert re.search(message, refused(one, table, **options))


def test_two_columns_with_the_name_of_the_id(one: Path, tmp_path: Path) -> None:
    """As of SELECT * with a join: which of them is the id of the order?"""
    (tmp_path / "mine.csv").write_text("id,name,ID\n" + "".join(f"70{row['id']},x,{row['id']}\n" for row in LIST))
    assert "two columns id" in refused(one, tmp_path / "mine.csv")
    assert results(one, tmp_path / "mine.csv", columns={"id": "id_1"}) == {}


def test_a_csv_whose_quotes_come_late_is_read(one: Path, tmp_path: Path) -> None:
    """DuckDB guesses from the first 20,480 rows."""
    many = "".join(f"{number},1,x\n" for number in range(100, 30_100))
    late = "".join(f'"{row["id"]}","{row["total"]}","a ""b"","\n' for row in LIST)
    (tmp_path / "mine.csv").write_text(f"id,total,note\n{many}{late}")
    assert {*results(one, tmp_path / "mine.csv")} == {"unknown"}


def test_a_folder_whose_name_looks_like_a_value(tmp_path: Path) -> None:
    """DuckDB would take the name total=7 for the value of the column total, instead of the values in the files."""
    (tmp_path / "total=7").mkdir()
    for extension in FORMATS:
        parts = [(orders(*LIST), pyarrow.Table.from_pylist(READS[:1]))]
        assert results(write_export(tmp_path / "total=7" / extension, parts, extension), orders(*LIST)) == {}


def test_a_plan_that_names_files_outside_the_folder(one: Path) -> None:
    for change in (
        {"resource": "../orders"},
        {"file_format": "x/../../csv"},
        {"resource": 7},
        {"file_format": ["csv"]},
    ):
        plan = {"resource": "orders", "file_format": "parquet", "parts": []}
        write(one / "plan.json", plan | change)
        assert "no readable plan.json" in refused(one, orders(*LIST))
