"""bulk.verify(): whether Parquet files have every list of a plan."""

from __future__ import annotations

import os
from typing import Any

from . import _ends
from ._ends import Read
from ._errors import ConfigError, InvalidArgumentError, PossiblyMissedError


def verify(folder: str | os.PathLike[str]) -> list[Read]:
    """Check that Parquet files have all lists of the plan, and of each complete list all orders, each of them once.

    A write that failed may leave files that can be read. So may a write that an engine has repeated with other rows.

    Args:
        folder: A folder, or the URL of one (s3://…, gs://…). It has the rows of orders_and_reads, as Spark and Sail
            write them, or the folders `orders` and `reads`, with what read() gave for each partition of the plan.

    Returns:
        Rows of the lists that may lack an order (possibly_missed or failed), first that of the list of
        subscriptions. Empty if the copy is whole.

    Raises:
        PossiblyMissedError: A list of the plan is missing, is there twice, or has other orders than were read; or a
            file cannot be read.
        FileNotFoundError: The folder, or its folder `reads`, does not exist.
        InvalidArgumentError: The files lack a column that this function needs: the id of an order, subscription_id, or
            one of those of Read.
        ConfigError: The package pyarrow is not installed.

    Service interface: Pagination.
    """
    try:
        import pyarrow as pa
    except ImportError:
        raise ConfigError("verify needs pyarrow: pip install pyarrow") from None
    shown = os.fspath(folder)
    try:
        reads, orders = _tables(shown)
    except pa.ArrowInvalid as error:  # for example a file without its end
        raise PossiblyMissedError(text=f"{shown}: {str(error).splitlines()[0]}: write the copy again") from error
    if problem := _problem(reads, orders):
        raise PossiblyMissedError(text=f"{shown}: {problem}: write the copy again")
    return sorted(filter(_ends.is_doubtful, reads), key=lambda read: read.id)


def _problem(reads: list[Read], orders: list[dict[str, Any]]) -> str:
    """What is wrong with the first list that is wrong."""
    lists: dict[str, Read] = {}
    for read in reads:
        if read.id in lists:
            return f"{_named(read.id)} was written twice"
        lists[read.id] = read
    if "" not in lists:
        return "the row of the list of subscriptions is missing, because the write has not ended"
    planned = lists[""].total
    if len(lists) - 1 < planned:
        return f"{len(lists) - 1} of the {planned} lists of the plan are there, because the write has not ended"
    left = dict(lists)
    for found in orders:
        id, rows, distinct = found["subscription_id"], found["rows"], found["distinct"]
        owner = left.pop(id, None)
        if owner is None:
            return f"{_named(id)} has orders, but no row of its reading"
        if distinct != rows:
            return f"{_named(id)} has {rows} orders, but {distinct} different ids"
        if owner.verdict == "complete" and rows != owner.total:
            return f"{_named(id)} has {rows} of its {owner.total} orders"
    for id, read in left.items():
        if id and read.verdict == "complete" and read.total:
            return f"{_named(id)} has none of its {read.total} orders"
    return ""


def _named(id: str) -> str:
    return f"the list of subscription {id}" if id else "the list of subscriptions"


def _tables(folder: str) -> tuple[list[Read], list[dict[str, Any]]]:
    """The rows of `reads`, and for each subscription with orders their number and that of their different ids."""
    import pyarrow as pa
    from pyarrow import acero, compute, dataset, fs

    system, path = (
        fs.FileSystem.from_uri(folder) if "://" in folder else (fs.LocalFileSystem(), os.path.abspath(folder))
    )
    is_one = system.get_file_info(f"{path}/reads").type != fs.FileType.Directory
    names = ["subscription_id", *(f"read_{name}" for name in Read._fields[1:])] if is_one else [*Read._fields]
    reads = dataset.dataset(path if is_one else f"{path}/reads", filesystem=system, format="parquet")
    if not reads.files:  # a write that has failed early
        return [], []
    orders = reads if is_one else None
    if not is_one and system.get_file_info(f"{path}/orders").type == fs.FileType.Directory:  # there may be no order
        orders = dataset.dataset(f"{path}/orders", filesystem=system, format="parquet")
    wanted = [(reads, name) for name in names] + [(orders, name) for name in ("id", "subscription_id") if orders]
    for files, name in wanted:
        if name not in files.schema.names:
            raise InvalidArgumentError(f"{folder} has no column {name}: write it with all columns that verify() needs")
    is_read = ~compute.field("read_verdict").is_null() if is_one else None
    rows = reads.to_table(columns=dict(zip(Read._fields, map(compute.field, names), strict=True)), filter=is_read)
    at = rows.schema.get_field_index("as_of")
    rows = rows.set_column(
        at, "as_of", rows["as_of"].cast(pa.timestamp("us"), safe=False).cast(pa.timestamp("us", "UTC"))
    )
    found = [Read(**row) for row in rows.to_pylist()]
    if orders is None:
        return found, []
    columns = ["id", "subscription_id", *(["read_verdict"] if is_one else [])]
    steps = [acero.Declaration("scan", acero.ScanNodeOptions(orders, columns=columns))]
    if is_one:
        steps.append(acero.Declaration("filter", acero.FilterNodeOptions(compute.field("read_verdict").is_null())))
    counts = [("id", "hash_count", None, "rows"), ("id", "hash_count_distinct", None, "distinct")]
    steps.append(acero.Declaration("aggregate", acero.AggregateNodeOptions(counts, keys=["subscription_id"])))
    return found, acero.Declaration.from_sequence(steps).to_table().to_pylist()
