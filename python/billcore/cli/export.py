"""`billcore export`: all orders, subscriptions or products as files. python/docs/export.md describes the files."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _interface
from .._export import FORMATS, digest, manifest_of
from ._command import (
    EXIT_FAILED,
    EXIT_MISSED,
    EXIT_OK,
    EXIT_USAGE,
    Failure,
    Parser,
    add_account,
    client_of,
    local_path,
    show,
)

if TYPE_CHECKING:
    from .. import Client, bulk
    from ._folder import Folder

_PLAN_FORMAT = 2


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    return _export(parser().parse_args(arguments))


def parser() -> Parser:
    """The parser of the command."""
    parser = Parser(
        prog="billcore export",
        description="Copy all records of an account into files, and say of each list whether a record may have been "
        "missed (exit status 3). The same command continues an interrupted export.",
        examples="billcore export orders -o nightly/ --format parquet\n"
        "billcore export products -o products.csv --fields id,name,price",
    )
    parser.add_argument("resource", choices=("orders", "subscriptions", "products"))
    parser.add_argument(
        "-o", "--output", required=True, metavar="FILE|DIR", help="a path without extension is a folder"
    )
    parser.add_argument("--format", choices=FORMATS, help="of the files in a folder; parquet needs the package pyarrow")
    parser.add_argument("--fields", metavar="A,B", help="columns, in this order (default: all but signed portal URLs)")
    parser.add_argument(
        "--lists-per-part",
        type=_count,
        metavar="N",
        help="subscriptions in a part (200, or 5000 with --since-last): what an interrupted export reads again",
    )
    parser.add_argument(
        "--since-last",
        action="store_true",
        help="for orders: add a run to the folder, with what is new or changed since its last run",
    )
    parser.add_argument(
        "--full", action="store_true", help="with --since-last: read all lists to their ends, and find what is gone"
    )
    parser.add_argument(
        "--refresh-since",
        type=_count,
        metavar="DAYS",
        help="with --since-last: read each list at least back to so many days ago, for example to see refunds",
    )
    parser.add_argument(
        "--lists-at-once", type=_count, default=32, metavar="N", help="lists that are read at once (32)"
    )
    parser.add_argument(
        "--for-spreadsheet",
        action="store_true",
        help="write csv that a spreadsheet reads as UTF-8, with a quote before texts that it would run as formulas",
    )
    parser.add_argument(
        "--fail-fast", action="store_true", help="stop at the first list that fails, instead of reading the others"
    )
    parser.add_argument("--overwrite", action="store_true", help="replace an existing FILE")
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
    add_account(parser)
    return parser


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


_count.__name__ = "whole number from 1"  # argparse names the type in its error


def _export(options: argparse.Namespace) -> int:
    from ._folder import Folder, divided

    output = local_path("--output", options.output)
    is_folder = output.is_dir() or options.output.endswith("/") or not output.suffix
    targets = () if is_folder else (output, output.with_suffix(f".reads{output.suffix}"), manifest_of(output))
    file_format = _format(options.format, output, is_folder)
    _refuse_wrong(options, is_folder)
    if options.for_spreadsheet and file_format != "csv":
        raise Failure(EXIT_USAGE, f"--for-spreadsheet needs the format csv, not {file_format}")
    with client_of(options) as client:
        head = {
            "format": _PLAN_FORMAT,
            "interface": _interface.VERSION,
            "base_url": client.base_url,
            "resource": options.resource,
            "fields": _fields(client, options.resource, options.fields),
            "file_format": file_format,
            "for_spreadsheet": options.for_spreadsheet,
        }
        if options.since_last:
            return _print(_export_since(client, output, head, options), options.json)
        folder = Folder(output if is_folder else output.with_name(f"{output.name}.parts"), head, targets)
        joined = folder.joined()
        files = joined.get("files", {})
        written = [target for target in targets if target.name in files and digest(target) == files[target.name]]
        for target in targets:
            if target not in written and os.path.lexists(target) and not options.overwrite:
                raise Failure(EXIT_USAGE, f"{target} exists: pass --overwrite to replace it, or choose another name")
        with folder.locked():
            if targets and len(written) == len(targets):  # the process was killed after join()
                result = joined["result"]
            else:
                size = options.lists_per_part
                if folder.open(lambda: divided(_plan(client, options.resource, head["fields"]), size)):
                    _tell(f"{folder.path} has an export planned at {folder.plan['planned_at']}: {folder.progress()}")
                    _continue(folder, client, options)
                _read(folder, client, lists_at_once=options.lists_at_once, fail_fast=options.fail_fast)
                _refuse_failed(folder)
                result = {"path": options.output, **folder.result()}
                if targets:
                    folder.join(result)
                else:
                    folder.describe()
            if targets:
                folder.remove()
    return _print(result, options.json)


def _print(result: dict[str, Any], as_json: bool) -> int:
    for line in [json.dumps(result)] if as_json else _table(result):
        show(line)
    return EXIT_OK if result["complete"] else EXIT_MISSED


def _refuse_wrong(options: argparse.Namespace, is_folder: bool) -> None:
    """Refuse options that do not go together, and set the default that depends on another option."""
    for name in ("full", "refresh_since"):
        if getattr(options, name) and not options.since_last:
            raise Failure(EXIT_USAGE, f"--{name.replace('_', '-')} needs --since-last")
    if options.since_last:
        if options.resource != "orders":
            raise Failure(EXIT_USAGE, f"--since-last is for orders: export {options.resource} without it")
        if not is_folder:
            raise Failure(EXIT_USAGE, f"--since-last needs a folder, not {options.output}: pass one, with --format")
        for name in ("fail_fast", "for_spreadsheet"):
            if getattr(options, name):
                raise Failure(EXIT_USAGE, f"--since-last and --{name.replace('_', '-')} do not go together: pass one")
    options.lists_per_part = options.lists_per_part or (5000 if options.since_last else 200)


def _export_since(client: Client, output: Path, head: dict[str, Any], options: argparse.Namespace) -> dict[str, Any]:
    from . import _lake
    from ._progress import Progress

    lake = _lake.Lake(output, head)
    _lake.refuse_fields(head["fields"])
    since, size = _lake.refreshed(options.refresh_since), options.lists_per_part
    with lake.opened(options.full, since, lambda: _plan(client, "orders", head["fields"]), size) as run:
        if run.is_continued:
            _tell(f"{run.path} has a run planned at {run.plan['planned_at']}: {run.progress()}")
            _reach(client)
        try:
            with Progress(*run.counts()) as progress:
                _lake.read_all(run, _lake.rule_of(run, client), progress.add, _tell, options.lists_at_once)
        except BaseException as error:
            error.add_note(f"{run.progress()}: run the same command again to continue")
            raise
        _refuse_failed(run)
        return {"path": options.output, **lake.publish()}


def _continue(folder: Folder, client: Client, options: argparse.Namespace) -> None:
    """Before an export continues: reach the service, and add the subscriptions that the plan may lack."""
    from ._again import doubtful

    planned = folder.plan["planned"]
    if planned is not None and planned["verdict"] != "complete":
        whole = _plan(client, "orders", folder.plan["fields"])
        folder.extend(whole.ids, whole.planned, options.lists_per_part)
    elif folder.unfinished() or doubtful(folder):
        _reach(client)


def _read(folder: Folder, client: Client, **how: Any) -> None:
    from ._again import read_again
    from ._progress import Progress

    try:
        if folder.unfinished():
            with Progress(*folder.counts()) as progress:
                for number in folder.unfinished():
                    folder.read(number, client, progress.add, **how)
        read_again(folder, client, _tell, **how)
    except BaseException as error:
        error.add_note(f"{folder.progress()}: run the same command again to continue")
        raise


def _refuse_failed(folder: Folder) -> None:
    """Fail if no list could be read: the service, not a list, is wrong."""
    incomplete = folder.incomplete()
    if (
        incomplete
        and len(incomplete) == folder.result()["lists"]
        and all(each["verdict"] == "failed" for each in incomplete)
    ):
        raise Failure(EXIT_FAILED, f"no list could be read: {incomplete[0]['reason']}: run the same command again")


def _format(given: str | None, output: Path, is_folder: bool) -> str:
    file_format = given if is_folder else output.suffix[1:]
    if file_format not in FORMATS or given not in (None, file_format):
        choices = f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
        raise Failure(
            EXIT_USAGE,
            f"{output} is a folder: pass --format {choices}"
            if is_folder
            else f"{output} must end in {given or choices}, or in / for a folder",
        )
    if file_format == "parquet":
        try:
            import pyarrow.parquet  # noqa: F401
        except ImportError:
            raise Failure(EXIT_USAGE, "parquet needs pyarrow: pip install pyarrow") from None
    return file_format


def _fields(client: Client, resource: Any, chosen: str | None) -> list[str]:
    from .. import _client, bulk

    columns = bulk.columns_of(client, resource, None if chosen is None else chosen.split(","))[resource]
    return [name for name in _client._columns(columns) if name != "subscription_id"]


def _reach(client: Client) -> None:
    """Raise an error at once if the service cannot be reached: later, failed requests are repeated for minutes."""
    from .. import ApiError

    with contextlib.suppress(ApiError):
        client.products.list().first()


def _plan(client: Client, resource: Any, fields: list[str]) -> bulk.Partition:
    from .. import bulk

    _reach(client)
    [whole] = bulk.plan(client, 1, resource=resource, fields=fields)
    return whole


def _table(result: dict[str, Any]) -> list[str]:
    """The closing lines: what was written, and which lists are not complete."""
    of = f" of {result['lists']:,} subscriptions" if result["resource"] == "orders" else ""
    what = f"new, changed or gone {result['resource']}" if "run" in result else result["resource"]
    lines = [f"{result['rows']:,} {what}{of} in {result['path']}"]
    rows = [("verdict", "lists", "total")]
    rows += [(name, f"{each['lists']:,}", f"{each['total']:,}") for name, each in sorted(result["verdicts"].items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines += [f"{name:{widths[0]}}  {lists:>{widths[1]}}  {total:>{widths[2]}}" for name, lists, total in rows]
    if result["planned"] and result["planned"]["verdict"] != "complete":
        lines.append(f"a subscription may be missing in the list of subscriptions: {result['planned']['reason']}")
    lines += [
        f"{each['verdict']} {each['id'] or result['resource']}: {each['reason']}" for each in result["incomplete"]
    ]
    more = sum(each["lists"] for name, each in result["verdicts"].items() if name != "complete") - len(
        result["incomplete"]
    )
    return [*lines, f"and {more:,} more lists that are not complete: see reads"] if more > 0 else lines


def _tell(line: str) -> None:
    print(f"billcore export: {line}", file=sys.stderr)
