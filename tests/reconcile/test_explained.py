"""What compare() says of a table in which (nearly) all rows differ, or of one that has changed after the export."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import pyarrow
import pytest

from .support import BEGUN, order, orders, read, write_export, write_joined
from .test_command import run
from .test_compare import refused, results

LIST = [order(number, id=f"10000000040{number}") for number in range(6)]
READS = pyarrow.Table.from_pylist([read("1")])


@pytest.fixture
def exported(tmp_path: Path) -> Path:
    return write_export(tmp_path / "export", [(orders(*LIST), READS)], "parquet")


def serial(rows: list[dict[str, Any]], **more: str) -> list[dict[str, Any]]:
    """The rows with an id that the table has made, and the order's id in another column if it is named."""
    return [{**row, "id": number, **{name: row["id"] for name in more}} for number, row in enumerate(rows, 1)]


def test_a_table_with_its_own_id(exported: Path) -> None:
    nothing = "the table has no id in common with the export: is id the record's id? name its column, such as id=id"
    table = pyarrow.Table.from_pylist(serial(LIST))
    assert refused(exported, table) == nothing
    assert len(results(exported, table, columns=["id", "total"])["missing"]) == 6  # the user says that it is
    table = pyarrow.Table.from_pylist(serial(LIST, order_id=""))
    said = "the record's id is not in the table's column id but in order_id: pass id=order_id"
    assert refused(exported, table) == refused(exported, table, columns=["id"]) == said
    assert results(exported, table, columns={"id": "order_id"}) == {}


def test_tables_that_can_be_read_once(exported: Path) -> None:
    table = pyarrow.Table.from_pylist([{**row, "updated_at": BEGUN} for row in LIST])
    reader = pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches())
    assert results(exported, reader, changed_since="updated_at") == {}
    table = pyarrow.Table.from_pylist(serial(LIST, order_id=""))
    reader = pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches())
    assert refused(exported, reader).startswith("the table has no id in common with the export")
    relation = duckdb.connect().from_arrow(table)
    assert refused(exported, relation).endswith("pass id=order_id")


def test_a_serial_number_that_meets_some_ids(tmp_path: Path) -> None:
    """Two of six numbers are ids of other orders; the table as a file, which is read a second time."""
    small = [order(number) for number in range(5, 11)]
    exported = write_export(tmp_path / "export", [(orders(*small), READS)], "jsonl")
    lines = [f"{row['id']},{row['order_id']},{row['total']}\n" for row in serial(small, order_id="")]
    for encoding in ("utf-8", "utf-16"):
        (tmp_path / "mine.csv").write_text(f"id,order_id,total\n{''.join(lines)}", encoding=encoding)
        assert refused(exported, tmp_path / "mine.csv").endswith(": pass id=order_id")


def test_tables_that_lack_nearly_all(exported: Path) -> None:
    assert len(results(exported, orders())["missing"]) == 6
    found = results(exported, orders(LIST[0], *(order(number, id=f"2{number}") for number in range(6))))
    assert (len(found["missing"]), len(found["unknown"])) == (5, 6)


def at(form: Callable[[datetime], Any]) -> pyarrow.Table:
    return pyarrow.Table.from_pylist([{"id": row["id"], "created_at": form(row["created_at"])} for row in LIST])


@pytest.mark.parametrize("kind", ["int64", "double"])
def test_a_column_of_numbers_or_dates(exported: Path, kind: str) -> None:
    numbers = at(lambda moment: moment.timestamp())
    numbers = numbers.cast(pyarrow.schema([("id", pyarrow.string()), ("created_at", kind)]))
    assert "(perhaps seconds or milliseconds since 1970)" in refused(exported, numbers)
    assert "is DATE (without the time of day)" in refused(exported, at(lambda moment: moment.date()))


def changed(*minutes: int | None) -> list[dict[str, Any]]:
    """Rows with another state that were changed so many minutes after the export began."""
    times = [None if each is None else f"{BEGUN + timedelta(minutes=each)}" for each in minutes]
    return [{**row, "state": "refunded", "updated_at": at} for row, at in zip(LIST, times, strict=False)]


@pytest.mark.parametrize("name", ["export", "orders.csv", "orders.parquet"])
def test_rows_that_changed_after_the_export(tmp_path: Path, name: str) -> None:
    if name == "export":
        exported = write_export(tmp_path / name, [(orders(*LIST), READS)], "parquet")
    else:
        exported = write_joined(tmp_path / name, orders(*LIST), READS)
    table = pyarrow.Table.from_pylist(changed(-1, 0, 300, None))
    assert len(results(exported, table)["differing"]) == 4
    found = results(exported, table, changed_since="Updated_At")
    assert [row["id"][-1] for row in found["changed"]] == ["1", "2"]
    assert sorted(row["id"][-1] for row in found["differing"]) == ["0", "3"]
    assert {row["field"] for row in found["changed"]} == {"state"} and len(found["missing"]) == 2


def test_a_night_in_which_rows_changed_is_a_success(exported: Path, tmp_path: Path) -> None:
    rows = [[str(row[name]) for name in ("id", "state", "updated_at")] for row in changed(5, 5, 5, 5, 5, 5)]
    (tmp_path / "mine.csv").write_text("id,state,updated_at\n" + "".join(",".join(row) + "\n" for row in rows))
    done = run(exported, tmp_path / "mine.csv", "--changed-since", "updated_at")
    lines = done.stdout.splitlines()
    assert (done.returncode, done.stderr, lines[5].split()) == (0, "", ["changed", "6"]), done
    assert "changed 100000000400: state is 'paid' in the export, 'refunded' in the table" in lines
    assert run(exported, tmp_path / "mine.csv").returncode == 3


@pytest.mark.parametrize(
    ("value", "column", "message"),
    [
        ("2026-03-29", "updated", "the table has no column updated: it has id, updated_at"),
        ("1774744200", "updated_at", "column updated_at has '1774744200', which changed_since is not: convert it"),
        (1774744200, "updated_at", "column updated_at is BIGINT (perhaps seconds or milliseconds since 1970)"),
    ],
)
def test_a_time_of_change_that_cannot_be_read(exported: Path, value: Any, column: str, message: str) -> None:
    table = pyarrow.Table.from_pylist([{"id": LIST[0]["id"], "updated_at": value}])
    assert message in refused(exported, table, changed_since=column)
