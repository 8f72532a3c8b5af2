"""Writes exports in the layout of `billcore export`: python/docs/export.md describes the files."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet

from billcore._export import _sum, digest, manifest_of
from billcore.cli._folder import write

SCHEMA = pyarrow.schema(
    [
        ("id", pyarrow.string()),
        ("created_at", pyarrow.timestamp("us", "UTC")),
        ("total", pyarrow.int64()),
        ("reference_id", pyarrow.string()),
        ("remote_id", pyarrow.string()),
        ("state", pyarrow.string()),
        ("metadata", pyarrow.string()),
        ("subscription_id", pyarrow.string()),
    ]
)
BEGUN = datetime(2026, 3, 29, 0, 30, tzinfo=UTC)  # half an hour before the clocks of Europe change


def order(number: int, subscription: int = 1, **changes: Any) -> dict[str, Any]:
    return {
        "id": f"{number}",
        "created_at": BEGUN + timedelta(minutes=number),
        "total": 1500 + number,
        "reference_id": None if number % 2 else f"00{number}",
        "remote_id": None,
        "state": "paid",
        "metadata": '{"a": "line\\nend"}',
        "subscription_id": f"{subscription}",
        **changes,
    }


def orders(*rows: dict[str, Any]) -> pyarrow.Table:
    return pyarrow.Table.from_pylist(list(rows), schema=SCHEMA)


def read(id: str, verdict: str = "complete", total: int = 3) -> dict[str, Any]:
    return {
        "id": id,
        "pages": 1,
        "total": total,
        "verdict": verdict,
        "reason": "" if verdict == "complete" else "moved",
    }


def write_export(folder: Path, parts: Sequence[tuple[pyarrow.Table, pyarrow.Table]], file_format: str) -> Path:
    """Write parts, each with its rows and its reads."""
    folder.mkdir()
    plan = {"resource": "orders", "file_format": file_format, "planned_at": BEGUN.isoformat()}
    write(folder / "plan.json", {**plan, "parts": [reads["id"].to_pylist() for _, reads in parts]})
    for number, (rows, reads) in enumerate(parts):
        files = {}
        for relation, table in (("orders", rows), ("reads", reads)):
            path = folder / f"{relation}-{number:05}.{file_format}"
            write_table(path, table)
            files[path.name] = digest(path)
        identity = _sum({**plan, "ids": reads["id"].to_pylist()})
        write(folder / f"part-{number:05}.json", {"plan": identity, "files": files})
    return folder


def write_joined(file: Path, rows: pyarrow.Table, reads: pyarrow.Table) -> Path:
    """Write an export into a FILE."""
    files = {}
    for path, table in ((file, rows), (file.with_suffix(f".reads{file.suffix}"), reads)):
        files[path.name] = {"rows": len(table), **(digest(write_table(path, table)) or {})}
    write(manifest_of(file), {"planned_at": BEGUN.isoformat(), "files": files})
    return file


def write_table(path: Path, table: pyarrow.Table) -> Path:
    rows = [{name: _text(value) for name, value in row.items()} for row in table.to_pylist()]
    if path.suffix == ".parquet":
        pyarrow.parquet.write_table(table, path)
    elif path.suffix == ".jsonl":
        path.write_text("".join(f"{_json(row)}\n" for row in rows))
    else:
        path.write_text("".join(_csv(values) for values in [table.column_names, *map(dict.values, rows)]))
    return path


def _json(row: dict[str, Any]) -> str:
    return json.dumps({name: json.loads(value) if name == "metadata" else value for name, value in row.items()})


def _csv(values: Iterable[Any]) -> str:
    return ",".join("" if each is None else '"' + str(each).replace('"', '""') + '"' for each in values) + "\n"


def _text(value: Any) -> Any:
    return value.isoformat().replace("+00:00", "Z") if isinstance(value, datetime) else value
