"""bulk.verify(): a copy in Parquet files that lacks a list, an order or an end, as a failed write leaves it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

import billcore
from billcore import bulk

from .support import Scene

Rows = dict[str, list[dict[str, Any]]]


def copy(scene: Scene, partitions: int = 3) -> Rows:
    rows: Rows = {"orders": [], "reads": []}
    for partition in bulk.plan(scene.client, partitions, fields=["id", "created_at"]):
        for relation, batch in bulk.read(partition, client=scene.client):
            rows[relation] += pyarrow.record_batch(batch).to_pylist()
    return rows


def as_two_folders(rows: Rows, folder: Path) -> None:
    """As the function of python/docs/bulk_engines.md writes it, in several files."""
    for relation, found in rows.items():
        (folder / relation).mkdir()
        for number in range(2):
            if some := found[number::2]:
                parquet.write_table(pyarrow.Table.from_pylist(some), folder / relation / f"{number}.parquet")


def as_one_folder(rows: Rows, folder: Path) -> None:
    """As Spark writes orders_and_reads: times as INT96, markers beside the files."""
    names = {"id": "subscription_id"}
    reads = [{names.get(name, f"read_{name}"): value for name, value in row.items()} for row in rows["reads"]]
    columns = {name: None for row in (*rows["orders"], *reads) for name in row}
    table = pyarrow.Table.from_pylist([{**columns, **row} for row in (*rows["orders"], *reads)])
    parquet.write_table(table, folder / "part-0.parquet", use_deprecated_int96_timestamps=True)
    (folder / "_SUCCESS").touch()
    (folder / ".part-0.parquet.crc").write_bytes(b"crc")


FORMS = pytest.mark.parametrize("write", [as_two_folders, as_one_folder])
Write = Callable[[Rows, Path], None]


@FORMS
def test_a_whole_copy(scene: Scene, tmp_path: Path, write: Write) -> None:
    write(copy(scene), tmp_path)
    assert bulk.verify(tmp_path) == []
    assert bulk.verify(tmp_path.as_uri()) == []


def without(rows: Iterable[dict[str, Any]], id: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["id"] != id]


@FORMS
@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("plan", "the row of the list of subscriptions is missing"),
        ("list", "5 of the 6 lists of the plan are there"),
        ("read", "the list of subscription {many} has orders, but no row of its reading"),
        ("twice", "the list of subscription {many} was written twice"),
        ("order", "the list of subscription {many} has 44 of its 45 orders"),
        ("orders", "the list of subscription {many} has none of its 45 orders"),
        ("another", "the list of subscription {many} has 45 orders, but 44 different ids"),
    ],
)
def test_what_a_copy_lacks_is_named(scene: Scene, tmp_path: Path, write: Write, change: str, says: str) -> None:
    rows, many = copy(scene), scene.many
    reads, orders = rows["reads"], rows["orders"]
    of_many = [row for row in orders if row["subscription_id"] == many]
    others = [row for row in orders if row["subscription_id"] != many]
    if change in ("plan", "list"):
        rows["reads"] = without(reads, "" if change == "plan" else many)
        rows["orders"] = others
    elif change == "read":  # the number of lists is as planned
        rows["reads"] = [row if row["id"] != many else {**row, "id": "1"} for row in reads]
    elif change == "twice":
        rows["reads"] = [*reads, *(row for row in reads if row["id"] == many)]
    else:
        kept = {"order": of_many[1:], "orders": [], "another": [*of_many[1:], of_many[1]]}[change]
        rows["orders"] = others + kept
    write(rows, tmp_path)
    with pytest.raises(billcore.PossiblyMissedError) as caught:
        bulk.verify(tmp_path)
    assert says.format(many=many) in str(caught.value) and str(caught.value).endswith(": write the copy again")


def test_a_file_without_its_end(scene: Scene, tmp_path: Path) -> None:
    as_two_folders(copy(scene), tmp_path)
    file = tmp_path / "orders/1.parquet"
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(billcore.PossiblyMissedError, match="write the copy again"):
        bulk.verify(tmp_path)


def test_a_folder_without_files(tmp_path: Path) -> None:
    with pytest.raises(billcore.PossiblyMissedError, match="the row of the list of subscriptions is missing"):
        bulk.verify(tmp_path)


def test_doubtful_lists_are_returned(scene: Scene, tmp_path: Path) -> None:
    scene.control.fault("status", path=f"/subscription/{scene.many}/orders", status=403)
    as_one_folder(copy(scene), tmp_path)
    (read,) = bulk.verify(tmp_path)
    assert (read.id, read.verdict) == (scene.many, "failed") and "403" in read.reason


def test_a_plan_of_several_readings(scene: Scene, tmp_path: Path) -> None:
    """The plan has a subscription that was deleted between the readings, so it has more than the last `total`."""
    scene.control.fault("rows", operation="subscriptions.list", insert=100)
    scene.service.get("/subscriptions")
    scene.control.fault("rows", operation="subscriptions.list", query={"page": "2"}, delete=1)
    rows = copy(scene)
    planned = next(row for row in rows["reads"] if not row["id"])
    assert planned["verdict"] == "complete" and planned["total"] == len(rows["reads"]) - 1 == 106
    as_two_folders(rows, tmp_path)
    assert bulk.verify(tmp_path) == []


def test_columns_that_are_missing(scene: Scene, tmp_path: Path) -> None:
    rows = copy(scene)
    rows["orders"] = [{"subscription_id": row["subscription_id"]} for row in rows["orders"]]
    as_two_folders(rows, tmp_path)
    with pytest.raises(billcore.InvalidArgumentError, match="has no column id"):
        bulk.verify(tmp_path)
