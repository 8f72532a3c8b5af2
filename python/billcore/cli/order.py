"""`billcore order`: shows an order."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ._command import Parser, add_id, id_of, run
from ._records import ORDERS, add_read, show_record


def parser() -> Parser:
    """The parser of the command."""
    made = Parser(prog="billcore order", description="Show an order.")
    command = made.command("get", _get, "Show an order.", "billcore order get 9100001 --fields state,total_with_vat")
    add_id(command, "the order's id")
    add_read(command)
    return made


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    return run(parser(), arguments)


def _get(options: argparse.Namespace) -> int:
    id = id_of(options)
    return show_record(options, ORDERS, lambda client: client.orders.get(id))
