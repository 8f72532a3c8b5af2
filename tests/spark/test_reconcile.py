"""The SQL of billcore.reconcile gives the same results in Spark and Sail as in DuckDB, whatever the table's types."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from billcore import reconcile
from reconcile.support import BEGUN, order, orders, read

COLUMNS = ["id", "created_at", "total", "reference_id", "state", "subscription_id"]
EXPORTED = [order(1), order(2), order(3), order(4, total=2**50), order(5, 2, reference_id=""), order(6, 2)]
RECORDED = [
    *(EXPORTED[at] for at in (0, 3, 4, 4)),
    order(3, total=1, state="confirmed"),
    order(6, 2, created_at=EXPORTED[5]["created_at"] + timedelta(seconds=1)),
    *(order(8, 1), order(9, 2), order(10, 7)),  # in a complete list, in one with a gap, in one that nobody read
]
FOUND: dict[str, list[tuple[str, str | None]]] = {
    "missing": [("2", None)],
    "differing": [("3", "state"), ("3", "total"), ("6", "created_at")],
    "duplicates": [("5", None)],
    "unverifiable": [("2", None)],
    "unknown": [("8", None)],
}


def as_in_the_export(row: dict[str, Any]) -> dict[str, Any]:
    return row


def as_numbers(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "id": int(row["id"]), "total": Decimal(row["total"]), "subscription_id": int(row["subscription_id"])}


def as_texts(row: dict[str, Any]) -> dict[str, Any]:
    local = row["created_at"].astimezone(timezone(timedelta(hours=2)))
    return {**row, "total": f"{row['total']}.0", "created_at": local.isoformat()}


def as_floats(row: dict[str, Any]) -> dict[str, Any]:
    return {**row, "total": float(row["total"]), "created_at": row["created_at"].replace(tzinfo=None)}


@pytest.mark.parametrize("form", [as_in_the_export, as_numbers, as_texts, as_floats])
def test_missing_and_differing_orders_are_told_for_each_form_of_a_table(
    session: Any, tmp_path: Path, form: Any
) -> None:
    recorded = pyarrow.Table.from_pylist([{name: form(row)[name] for name in COLUMNS} for row in RECORDED])
    reads = pyarrow.Table.from_pylist([read(""), read("1"), read("2", "possibly_missed")])
    session.conf.set("spark.sql.session.timeZone", "UTC")
    for name, table in {"exported": orders(*EXPORTED), "reads": reads, "recorded": recorded}.items():
        pyarrow.parquet.write_table(table, tmp_path / f"{name}.parquet")
        session.read.parquet(str(tmp_path / f"{name}.parquet")).createOrReplaceTempView(name)
    assert results(session, reconcile.sql(COLUMNS)) == FOUND
    later = {row["id"]: BEGUN + timedelta(hours=1) for row in RECORDED if row["id"] == "3"}
    times = pyarrow.array([later.get(row["id"]) for row in RECORDED], pyarrow.timestamp("us", "UTC"))
    pyarrow.parquet.write_table(recorded.append_column("changed_at", times), tmp_path / "later.parquet")
    session.read.parquet(str(tmp_path / "later.parquet")).createOrReplaceTempView("recorded")
    moved = {"differing": FOUND["differing"][2:], "changed": FOUND["differing"][:2]}
    assert results(session, reconcile.sql(COLUMNS, changed_since=BEGUN)) == FOUND | moved
    assert "changed" in results(session, reconcile.sql(["id"], changed_since=BEGUN))


def results(session: Any, queries: Mapping[Any, str]) -> dict[str, list[tuple[str, str | None]]]:
    found = {name: [row.asDict() for row in session.sql(query).collect()] for name, query in queries.items()}
    return {name: sorted((str(row["id"]), row.get("field")) for row in rows) for name, rows in found.items()}
