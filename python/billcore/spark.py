"""A data source for Spark 4 and Sail: the subscriptions, the products, or all orders of all subscriptions.

    spark.dataSource.register(billcore.spark.Billcore)
    spark.read.format("billcore").option("resource", "orders").load().write.parquet("orders")

The driver calls bulk.plan() and the executors call bulk.read(). python/docs/spark.md describes columns and options.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from . import _process, bulk
from ._client import Client
from ._columns import COLUMNS
from ._ends import is_error
from ._errors import ConfigError, InvalidArgumentError, PossiblyMissedError

try:
    import pyarrow as pa
    import pyspark
    from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
except ImportError as _error:
    raise ImportError(
        "billcore.spark needs pyspark and pyarrow: pip install 'pyspark[sql]>=4.3', or for Sail pysail pyspark-client"
    ) from _error

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

__all__ = ["Billcore"]

_RESOURCES = ("subscriptions", "products", "orders", "order_reads", "orders_and_reads")
_OPTIONS = {"resource": "", "base_url": "", "partitions": "8", "lists_at_once": "32", "patience": "600"}
_TYPES = {pa.int64(): "bigint", pa.string(): "string", pa.bool_(): "boolean", pa.decimal128(38, 18): "decimal(38,18)"}
_READ_AS = ("subscription_id", *(f"read_{name}" for name in bulk.Read._fields[1:]))  # its names in orders_and_reads


class Billcore(DataSource):  # type: ignore[misc]
    """The data source 'billcore': one resource of one account.

    Each action on the DataFrame requests everything again: write Parquet first. Select columns with `.schema(...)`. The
    environment of the driver and of each executor must have the key in BILLCORE_API_KEY. The engine makes the objects,
    and calls their methods in its own processes and threads.

    Args:
        options: The options of the reader: `resource` (subscriptions, products, orders, order_reads or
            orders_and_reads); `base_url` (default: BILLCORE_BASE_URL of the driver); `partitions`, the maximum number
            of tasks (8); `lists_at_once` (32) and `patience` (600 seconds), as in bulk.read().

    Raises:
        InvalidArgumentError: An option or a column does not exist, or has a wrong value or type.
        ConfigError: The engine is Spark before 4.3; or the driver or an executor has no key, or the driver has no URL.
        PossiblyMissedError: A list failed, or the service refused a later page of it, and the resource has no rows with
            verdicts.

    Service interface: Endpoints, Subscriptions; Pagination.
    """

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(dict(options))
        _refuse_unsafe_engine()
        chosen = dict(_OPTIONS)
        for name, value in options.items():
            if name.lower() in _OPTIONS:
                chosen[name.lower()] = value
            elif re.search("key|token|secret|passw|credential|auth", name.lower()):
                raise InvalidArgumentError(
                    f"the option {name!r} is refused, because an engine may show options in plans and logs: set "
                    "BILLCORE_API_KEY in the environment of the driver and the executors (not with spark.executorEnv: "
                    "by default, spark.redaction.regex does not match BILLCORE_API_KEY)"
                )
            else:
                raise InvalidArgumentError(f"there is no option {name!r}: there are {', '.join(_OPTIONS)}")
        for name in ("partitions", "lists_at_once", "patience"):
            if not re.fullmatch("[1-9][0-9]{0,8}", chosen[name]):
                raise InvalidArgumentError(f"the option {name!r} is {chosen[name]!r}: pass a whole number from 1")
        self._resource, self._base_url, *numbers = chosen.values()
        self._partitions, self._lists_at_once, self._patience = map(int, numbers)
        if self._resource not in _RESOURCES:
            raise InvalidArgumentError(f"the option 'resource' is {self._resource!r}: pass {', '.join(_RESOURCES)}")

    @classmethod
    def name(cls) -> str:
        """The format's name: 'billcore'."""
        return "billcore"

    def schema(self) -> str:
        """All columns of the resource but signed portal URLs and `raw`, as DDL text. Sends no request."""
        return ", ".join(f"`{column.name}` {_type(column)}" for column in self._columns())

    def reader(self, schema: StructType | pa.Schema) -> DataSourceReader:
        """The reader of some columns of the resource.

        Args:
            schema: The columns: a StructType from Spark, a pyarrow.Schema from Sail.
        """
        return _Reader(self, schema)

    @property
    def _listed(self) -> Any:
        return self._resource if self._resource in ("subscriptions", "products") else "orders"

    def _columns(self, fields: Sequence[str] | None = None) -> pa.Schema:
        with _client(self._base_url) as client:
            found = {name: pa.schema(batch) for name, batch in bulk.columns_of(client, self._listed, fields).items()}
        if self._resource == "order_reads":
            return found["reads"]
        columns = list(found[self._listed])
        if self._resource == "orders_and_reads":
            columns += [column.with_name(name) for name, column in zip(_READ_AS, found["reads"], strict=True)][1:]
        return pa.schema(columns)


class _Reader(DataSourceReader):  # type: ignore[misc]
    """The engine calls partitions() on the driver, pickles the reader, and calls read() on the executors."""

    def __init__(self, source: Billcore, schema: StructType | pa.Schema) -> None:
        self._source = source
        columns = source._columns([*COLUMNS[source._listed], "raw"])
        for asked in schema:
            if asked.name not in columns.names:
                raise InvalidArgumentError(
                    f"{source._resource} has no column {asked.name!r}: there are {', '.join(columns.names)}"
                )
            known, type = _type(columns.field(asked.name)), _type(asked) + ("" if asked.nullable else " not null")
            if type != known:
                raise InvalidArgumentError(f"the schema has '{asked.name} {type}': write '{asked.name} {known}'")
        self._schema = schema if isinstance(schema, pa.Schema) else pa.schema([columns.field(f.name) for f in schema])
        listed = [name for name in self._schema.names if name not in _READ_AS and source._resource != "order_reads"]
        self._fields = listed or ["id"]

    def partitions(self) -> list[InputPartition]:
        source = self._source
        with _client(source._base_url) as client:
            plans = bulk.plan(
                client, source._partitions, resource=source._listed, fields=self._fields, patience=source._patience
            )
        return [InputPartition(plan) for plan in plans]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        source = self._source
        limits: Any = {"lists_at_once": source._lists_at_once, "patience": source._patience}
        _require_key("executor")
        client = _process.client(partition.value.base_url)  # Sail reads all partitions at once in one process
        for relation, batch in bulk.read(partition.value, client=client, **limits):
            both, reads = source._resource == "orders_and_reads", relation == "reads"
            if both or reads == (source._resource == "order_reads"):
                yield self._with_schema(pa.record_batch(batch), _READ_AS if both and reads else None)
            elif reads:
                self._refuse_short_lists(pa.record_batch(batch).to_pylist())

    def _refuse_short_lists(self, reads: list[dict[str, Any]]) -> None:
        resource = self._source._resource
        for row in reads:
            is_short = row["verdict"] == "possibly_missed" and is_error(row["reason"])
            if is_short or row["verdict"] == "failed":
                instead = "read orders_and_reads" if resource == "orders" else "read the list with billcore.bulk"
                raise PossiblyMissedError(text=f"{row['reason']}: {resource} has no verdicts: {instead}")

    def _with_schema(self, batch: pa.RecordBatch, names: Sequence[str] | None) -> pa.RecordBatch:
        """Selects the columns of the schema. A column that the batch does not have is null."""
        found = dict(zip(names or batch.schema.names, batch.columns, strict=True))
        columns = [
            found[column.name].cast(column.type) if column.name in found else pa.nulls(batch.num_rows, column.type)
            for column in self._schema
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)


def _client(base_url: str | None) -> Client:
    _require_key("driver")
    return Client(base_url=base_url or None)


def _require_key(where: str) -> None:
    if not os.environ.get("BILLCORE_API_KEY"):
        raise ConfigError(f"the environment of the {where} has no BILLCORE_API_KEY: set it there")


def _refuse_unsafe_engine() -> None:
    """Spark 4.0 mixes the rows of two readings if an executor is lost after a shuffle; 4.1 and 4.2 were not tried."""
    found = pyspark.__version__
    if tuple(map(int, re.findall("[0-9]+", found)[:2])) < (4, 3) and find_spec("pysail") is None:
        raise ConfigError(
            f"Spark {found} may lose and duplicate orders when an executor is lost: use Spark 4.3 or newer"
        )


def _type(column: Any) -> str:
    """The type of a pyarrow.Field or of a StructField, as Spark writes it."""
    if not isinstance(column, pa.Field):
        return str(column.dataType.simpleString())
    return "timestamp" if pa.types.is_timestamp(column.type) else _TYPES.get(column.type, str(column.type))
