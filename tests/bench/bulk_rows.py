"""Programs of the area `bulk`, each of which reads all orders of all subscriptions: python -m tests.bench.bulk_rows
NAME BASE_URL FILE. A program prints the number of orders and the sum of their amounts."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from .rows import HEADERS

AT_ONCE = 32
FIELDS = ("id", "created_at", "total", "total_with_vat", "currency", "state")


def _plan(base_url: str, fields: tuple[str, ...]) -> tuple[Any, list[Any]]:
    bulk, client = import_module("billcore.bulk"), import_module("billcore").Client(base_url=base_url)
    return bulk, bulk.plan(client, 1, fields=fields)


def bare(base_url: str, _: Path) -> tuple[int, int]:
    """Reads the batches without a library that understands Arrow, and returns 0 as the sum of the amounts."""
    bulk, partitions = _plan(base_url, FIELDS)
    batches = [batch.num_rows for name, batch in bulk.read(partitions[0]) if name == "orders"]
    return sum(batches), 0


def parquet(base_url: str, file: Path) -> tuple[int, int]:
    pyarrow, write = import_module("pyarrow"), import_module("pyarrow.parquet").ParquetWriter
    compute = import_module("pyarrow.compute")
    bulk, partitions = _plan(base_url, FIELDS)
    rows = total = 0
    writer = None
    for name, one in bulk.read(partitions[0]):
        if name != "orders":
            continue
        batch = pyarrow.record_batch(one)
        writer = writer or write(file, batch.schema)
        writer.write_batch(batch)
        rows += batch.num_rows
        total += compute.sum(batch["total"]).as_py()
    if writer:
        writer.close()
    return rows, total


def aiohttp(base_url: str, file: Path) -> tuple[int, int]:
    """An export written by hand with aiohttp, orjson and pyarrow; each row group has 8,192 orders."""
    package, loads, pyarrow = import_module("aiohttp"), import_module("orjson").loads, import_module("pyarrow")
    write, compute = import_module("pyarrow.parquet").ParquetWriter, import_module("pyarrow.compute")
    parse_time = import_module("datetime").datetime.fromisoformat
    whole = pyarrow.int64()
    schema = pyarrow.schema(
        [
            ("id", pyarrow.string()),
            ("created_at", pyarrow.timestamp("us", "UTC")),
            *((name, whole) for name in ("total", "total_with_vat")),
            *((name, pyarrow.string()) for name in ("currency", "state", "subscription_id")),
        ]
    )

    async def export() -> tuple[int, int]:
        rows: list[dict[str, Any]] = []
        count = total = 0

        def flush() -> None:
            nonlocal count, total
            batch = pyarrow.RecordBatch.from_pylist(rows, schema)
            writer.write_batch(batch)
            count += batch.num_rows
            total += compute.sum(batch["total"]).as_py()
            rows.clear()

        async with package.ClientSession(headers=HEADERS, connector=package.TCPConnector(limit=AT_ONCE)) as session:

            async def pages(path: str) -> list[dict[str, Any]]:
                out: list[dict[str, Any]] = []
                page = last = 1
                while page <= last:
                    async with session.get(f"{base_url}/{path}?page={page}") as response:
                        answer = loads(await response.read())
                    out += answer["data"]
                    last = answer["pagination"]["total_pages"]
                    page += 1
                return out

            async def take(ids: Any) -> None:
                for id in ids:
                    for order in await pages(f"subscription/{id}/orders"):
                        row = {name: order[name] for name in FIELDS}
                        rows.append({**row, "created_at": parse_time(row["created_at"]), "subscription_id": id})
                    if len(rows) >= 8192:
                        flush()

            ids = iter([str(one["id"]) for one in await pages("subscriptions")])
            await asyncio.gather(*(take(ids) for _ in range(AT_ONCE)))
        if rows:
            flush()
        return count, total

    with write(file, schema) as writer:
        return asyncio.run(export())


PROGRAMS: dict[str, Callable[[str, Path], tuple[int, int]]] = {
    "bare": bare,
    "parquet": parquet,
    "aiohttp": aiohttp,
}


def main() -> int:
    name, base_url, file = sys.argv[1:]
    os.environ["BILLCORE_API_KEY"] = HEADERS["X-API-KEY"]
    print(*PROGRAMS[name](base_url, Path(file)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
