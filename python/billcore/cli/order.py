"""`billcore order`: shows an order."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ._command import EXIT_OK, Parser, add_account, add_id, client_of, id_of, run
from ._output import add_output, print_row


def parser() -> Parser:
    """The parser of the command."""
    made = Parser(prog="billcore order", description="Show an order.")
    commands = made.commands()
    get = commands.add_parser(
        "get", help="show an order", description="Show an order.", examples="billcore order get 9102337 --json"
    )
    add_id(get, "the order's id")
    add_output(get)
    add_account(get)
    get.set_defaults(run=_get)
    return made


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    return run(parser(), arguments)


def _get(options: argparse.Namespace) -> int:
    from ._records import ORDERS

    with client_of(options) as client:
        print_row(client.orders.get(id_of(options)).to_dict(), ORDERS, options)
    return EXIT_OK
