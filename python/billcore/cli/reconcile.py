"""`billcore reconcile`: compares an export with a table. python/docs/reconcile.md describes the results."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

from ._command import EXIT_MISSED, EXIT_OK, Parser, show

_MOST_SHOWN = 10  # rows of each result
_LINES = {
    "missing": "{id}",
    "differing": "{id}: {field} is {exported!r} in the export, {recorded!r} in the table",
    "duplicates": "{id}: {records} rows",
    "unverifiable": "{id}: {verdict} ({reason})",
    "unknown": "{id}",
}
_LINES["changed"] = _LINES["differing"]


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    return _reconcile(parser().parse_args(arguments))


def parser() -> Parser:
    """The parser of the command."""
    parser = Parser(
        prog="billcore reconcile",
        description="Compare an export of `billcore export` with a table of yours. Exit status 3: a record is missing, "
        "has other values or is there twice, or a list of the export may have a gap.",
        examples="billcore reconcile nightly/ orders.parquet\n"
        "billcore reconcile orders.csv table.csv --columns id=order_id,total",
    )
    parser.add_argument("export", metavar="EXPORT", type=Path, help="the folder or FILE of the export")
    parser.add_argument("table", metavar="TABLE", nargs="+", help="your table: files .parquet, .csv or .jsonl")
    parser.add_argument(
        "--columns",
        metavar="A,B=C",
        type=_columns,
        help="what to compare: the export's names, each maybe with that of your table, such as id=order_id,total "
        "(default: all columns that both have)",
    )
    parser.add_argument(
        "--changed-since",
        metavar="COLUMN",
        help="column of your table with the time of a row's last change: rows that differ and were changed after the "
        "export began do not count",
    )
    parser.add_argument("--delimiter", metavar="C", help="between the columns of a csv table, such as ';' or tab")
    parser.add_argument(
        "--encoding", help="of a csv table, such as windows-1252 (default: UTF-8, or UTF-16 with a byte order mark)"
    )
    parser.add_argument("--null", metavar="TEXT", help=r"null in a csv table (default: an empty field or \N)")
    parser.add_argument("--json", action="store_true", help="print all rows of the result as one JSON object")
    return parser


def _columns(text: str) -> dict[str, str]:
    pairs = (each.partition("=") for each in text.split(","))
    return {name: own or name for name, _, own in pairs}


def _reconcile(options: argparse.Namespace) -> int:
    from ..reconcile import compare

    more = {name: getattr(options, name) for name in ("columns", "changed_since", "delimiter", "encoding", "null")}
    with compare(options.export, options.table, **more) as found:
        if options.json:
            rows = {name: list(found.rows(name)) for name in found.counts}
            print(json.dumps({"agrees": found.agrees, "counts": found.counts, **rows}, default=_text))
        else:
            for name, count in found.counts.items():
                show(f"{name:12}  {count:>9,}")
            for name, count in found.counts.items():
                for row in islice(found.rows(name), _MOST_SHOWN):
                    show(f"{name} {_LINES[name].format_map(row)}")
                if count > _MOST_SHOWN:
                    print(f"and {count - _MOST_SHOWN:,} more {name}: see --json")
        return EXIT_OK if found.agrees else EXIT_MISSED


def _text(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat(timespec="microseconds").replace("+00:00", "Z")
    return str(value)
