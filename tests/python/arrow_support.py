"""Reads a stream of Arrow columns with polars, duckdb and pyarrow, into rows of plain Python values."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import duckdb
import polars
import pyarrow

Row = dict[str, Any]


def read_polars(stream: Any) -> list[Row]:
    return polars.DataFrame(stream).to_dicts()


def read_pyarrow(stream: Any) -> list[Row]:
    rows: list[Row] = pyarrow.table(stream).to_pylist()
    return rows


def read_duckdb(stream: Any) -> list[Row]:
    # Avoid pytz, which duckdb needs to make aware datetimes.
    times = [name for name in pyarrow.schema(stream).names if name.endswith("_at")]
    change = ", ".join(f"epoch_us({name}) as {name}" for name in times)
    result = duckdb.sql(f"select * replace ({change}) from stream" if times else "select * from stream")
    assert result is not None
    rows = [dict(zip(result.columns, row, strict=True)) for row in result.fetchall()]
    start = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
    for row in rows:
        for name in times:
            if row[name] is not None:
                row[name] = start + datetime.timedelta(microseconds=row[name])
    return rows


READERS: dict[str, Callable[[Any], list[Row]]] = {
    "polars": read_polars,
    "duckdb": read_duckdb,
    "pyarrow": read_pyarrow,
}
