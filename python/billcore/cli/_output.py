"""How commands print: tables on a terminal, tab-separated in a pipe, JSON with --json.

A terminal shows times relative to now and money with its currency; a pipe gets the values as the service sent them.
In a pipe a record is a line without a header, its columns separated by tabs; null is empty, and escapes such as \\t and
\\n stand for the characters that would end a column or a line. A list in a pipe is printed whole, row by row.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any, NamedTuple, TextIO

from ._command import EXIT_USAGE, Failure, Parser, printable

Row = dict[str, Any]
LIMIT = 20  # rows of a list on a terminal, unless --limit or --all is given
_MEASURED = 200  # rows of a longer table that decide its widths; the others are printed as they arrive


class Shape(NamedTuple):
    """What the rows of a command are.

    Args:
        columns: The columns that are shown, the most important first: a narrow terminal shows only the first ones.
        known: All names that --fields may have.
        kept_back: Names whose values are printed only if --fields has them, such as signed URLs.
    """

    columns: Sequence[str]
    known: Sequence[str]
    kept_back: Sequence[str] = ()


def add_output(parser: Parser) -> argparse._ArgumentGroup:
    """Add the options of a command that prints a record; returns their group."""
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="print each record as one line of JSON")
    group.add_argument("--fields", metavar="A,B", help="what to print, in this order")
    return group


def add_list_output(parser: Parser) -> None:
    """Add the options of a command that prints a list of records."""
    group = add_output(parser).add_mutually_exclusive_group()
    group.add_argument("--limit", metavar="N", type=_limit, help=f"at most so many records ({LIMIT} on a terminal)")
    group.add_argument("--all", action="store_true", help="all records, as in a pipe")


def _limit(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < 1 << 31:
        raise ValueError(text)
    return int(text)


_limit.__name__ = "whole number from 1"  # argparse names the type in its error


def on_terminal(file: TextIO | None = None) -> bool:
    """Whether stdout, or another file, is a terminal."""
    return (file or sys.stdout).isatty()


def styled(text: str, style: str, file: TextIO | None = None) -> str:
    """The text in a style of the terminal, such as "1" for bold; unchanged where there are no styles."""
    plain = os.environ.get("NO_COLOR") or (os.environ.get("TERM") or "dumb") == "dumb" or not on_terminal(file)
    return text if plain else f"\x1b[{style}m{text}\x1b[0m"


def fields_of(options: argparse.Namespace, shape: Shape) -> list[str] | None:
    """The names of --fields; None if it is not given."""
    if options.fields is None:
        return None
    names: list[str] = options.fields.split(",")
    for name in names:
        if name not in shape.known:
            raise Failure(EXIT_USAGE, f"--fields: there is no field {name!r} (fields: {', '.join(shape.known)})")
    return names


def limit_of(options: argparse.Namespace) -> int | None:
    """How many records a list prints at most; None: all."""
    limit: int | None = options.limit
    return LIMIT if limit is None and on_terminal() and not options.all else limit


def print_rows(
    rows: Iterable[Row], shape: Shape, options: argparse.Namespace, total: Callable[[], int | None] = lambda: None
) -> None:
    """Print a list; after a limit that the options do not give, say on stderr that there are more records.

    Args:
        rows: The records, which are read only as far as they are printed, and one further.
        shape: What the records are.
        options: Those of add_list_output().
        total: The number of all records, asked for after the first one was read; None if it is not known.
    """
    names = fields_of(options, shape)
    limit, left = limit_of(options), iter(rows)
    shown = left if limit is None else islice(left, limit)
    if options.json:
        for row in shown:
            print(json_line(row, shape, names))
    elif on_terminal():
        _print_table(shown, names or _without_currency(shape.columns))
    else:
        for row in shown:
            print(tab_separated(row, names or shape.columns))
    if limit is not None and options.limit is None and next(left, None) is not None:
        known = total()
        of = "" if known is None else f" of {known:,}"
        _remark(f"the first {limit}{of}: --all prints all")


def _remark(text: str) -> None:
    print(styled(text, "2", sys.stderr), file=sys.stderr)


def print_row(row: Row, shape: Shape, options: argparse.Namespace) -> None:
    """Print one record: on a terminal a line for each field, else as a line of a list."""
    names = fields_of(options, shape)
    if options.json:
        print(json_line(row, shape, names))
    elif on_terminal():
        chosen = names or [name for name in row if name not in shape.kept_back]
        width = max(map(len, chosen), default=0)
        for name in chosen:
            print(f"{styled(f'{printable(name, sys.stdout):{width}}', '1')}  {_long(row, name)}".rstrip())
    else:
        print(tab_separated(row, names or shape.columns))


def json_line(row: Row, shape: Shape, names: Sequence[str] | None = None) -> str:
    """A record as JSON, in ASCII, so that it is the same in every locale."""
    if names is None:
        return json.dumps({name: value for name, value in row.items() if name not in shape.kept_back})
    return json.dumps({name: row.get(name) for name in names})


def tab_separated(row: Row, names: Sequence[str]) -> str:
    """A record as a line for a pipe."""
    return "\t".join(printable(_plain(row.get(name)).replace("\\", "\\\\"), sys.stdout) for name in names)


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def shown_value(row: Row, name: str) -> str:
    """A value as a table on a terminal shows it."""
    value = row.get(name)
    if isinstance(value, str) and name.endswith("_at"):
        from ._times import relative

        return relative(value)
    if type(value) is int and name in MONEY and isinstance(currency := row.get("currency"), str):
        return money(value, currency)
    return _plain(value)


def _long(row: Row, name: str) -> str:
    value, shown = _plain(row.get(name)), shown_value(row, name)
    if name.endswith("_at") and not value.startswith(shown):
        shown = f"{value} ({shown})"
    return printable(value if value.startswith(shown) else shown, sys.stdout)


MONEY = frozenset({"price", "price_with_vat", "price_without_vat", "total", "total_with_vat", "amount", "net", "gross"})


def money(amount: int, currency: str) -> str:
    """An amount with its currency and as many decimals as the currency has, such as 19.90 EUR."""
    from .. import format_amount

    return format_amount(amount, currency) if abs(amount) < 1 << 63 else f"{amount} {currency}"


def _without_currency(columns: Sequence[str]) -> list[str]:
    """The columns for a terminal, which shows an amount together with its currency."""
    return [name for name in columns if name != "currency" or MONEY.isdisjoint(columns)]


def _print_table(rows: Iterator[Row], names: Sequence[str]) -> None:
    from ._table import Table

    def cells(row: Row) -> list[str]:
        return [printable(shown_value(row, name), sys.stdout) for name in names]

    first = [cells(row) for row in islice(rows, _MEASURED)]
    table = Table(names, [name in MONEY for name in names], first)
    for line in table.lines(first):
        print(line)
    for row in rows:
        print(table.line(cells(row)))
    if table.left_out:
        _remark(f"left out, as the terminal is narrow: {', '.join(table.left_out)} (--fields names columns)")
