"""What the commands print of subscriptions, orders and products, and how they read and write them."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .._columns import COLUMNS, SECRETS
from ._ask import add_yes, confirm, done, writing
from ._command import EXIT_MISSED, EXIT_OK, Parser, add_account, client_of, of_account, show
from ._output import Row, Shape, add_list_output, add_output, fields_of, limit_of, on_terminal, print_row, print_rows
from ._waiting import Waiting

if TYPE_CHECKING:
    from .._client import Client, Pager


def _shape(name: str, *columns: str) -> Shape:
    return Shape(columns, [each for each in COLUMNS[name] if each != "more"], SECRETS)


SUBSCRIPTIONS = _shape(
    "subscriptions", "id", "status", "price", "currency", "renews_at", "ends_at", "reference_id", "reference_name"
)
ORDERS = _shape("orders", "id", "state", "total", "total_with_vat", "currency", "created_at", "reference_id")
PRODUCTS = _shape("products", "id", "name", "price", "currency", "vat_rate", "type", "interval")


def add_list(parser: Parser) -> None:
    """Add the options of a command that lists records."""
    add_list_output(parser)
    add_account(parser)


def add_read(parser: Parser) -> None:
    """Add the options of a command that shows a record."""
    add_output(parser)
    add_account(parser)


def add_write(parser: Parser) -> None:
    """Add the options of a command that changes a record, and shows it."""
    add_yes(parser)
    add_read(parser)


def list_records(options: argparse.Namespace, shape: Shape, begin: Callable[[Client], Pager[Any]]) -> int:
    """Print the list that `begin` begins; returns the exit status."""
    fields_of(options, shape)  # refuse a wrong name before a request is sent
    with client_of(options) as client, Waiting(client.base_url) as waiting:
        # A list that is read whole is read several pages ahead.
        pager = begin(client if limit_of(options) is None else client.with_options(concurrency=1))
        print_rows(_rows(pager, waiting), shape, options, lambda: pager.total)
        if pager.verdict is None or pager.verdict.complete or pager.verdict.reason == "stopped":  # at the limit
            return EXIT_OK
        show(f"a record may be missing, because the list changed ({pager.verdict.reason}): list again", sys.stderr)
        return EXIT_MISSED


def _rows(pager: Pager[Any], waiting: Waiting) -> Iterator[Row]:
    is_terminal = on_terminal()
    for count, record in enumerate(pager, 1):
        waiting.count = count
        if is_terminal and count == 1:
            waiting.end()
        yield record.to_dict()


def show_record(options: argparse.Namespace, shape: Shape, get: Callable[[Client], Any]) -> int:
    """Print the record that `get` reads; returns the exit status."""
    fields_of(options, shape)
    with client_of(options) as client:
        with Waiting(client.base_url):
            record = get(client)
        print_row(record.to_dict(), shape, options)
    return EXIT_OK


def change_record(
    options: argparse.Namespace, shape: Shape, what: str, look_up: str, change: Callable[[Client], Any]
) -> int:
    """Ask, send the write `change`, and print the record; see confirm() and written()."""
    fields_of(options, shape)
    with client_of(options) as client:
        with written(options, client, what, f"billcore {look_up}{of_account(options)}"):
            record = change(client)
        with done(what):
            print_row(record.to_dict(), shape, options)
    return EXIT_OK


@contextmanager
def written(options: argparse.Namespace, client: Client, what: str, look_up: str) -> Iterator[None]:
    """A block with one write, which is asked for before; `look_up` says how to look up its outcome if it is unknown."""
    confirm(client.base_url, what, yes=options.yes)
    with writing(look_up), Waiting(client.base_url):
        yield


def quoted(id: str) -> str:
    """An id as the last argument of a command."""
    return f"--id={shlex.quote(id)}" if id.startswith("-") else shlex.quote(id)
