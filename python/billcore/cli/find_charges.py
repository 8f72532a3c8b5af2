"""`billcore find-charges`: looks up whether a charge of unknown outcome was made."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ._command import EXIT_MISSED, EXIT_OK, Parser, add_account, add_id, client_of, id_of, show
from ._output import add_list_output, print_rows
from ._records import ORDERS
from ._times import time_or_age
from ._waiting import Waiting


def parser() -> Parser:
    """The parser of the command."""
    made = Parser(
        prog="billcore find-charges",
        description="List the orders that a charge of unknown outcome may have created, the latest first. The charge's "
        "order has total = amount * quantity (cents without VAT). Exit status 3: an order may be missing.",
        examples="billcore find-charges 480001 --since 15m\n"
        "billcore find-charges 480001 --since 2026-01-31T09:30:00+01:00 --product 102",
    )
    add_id(made, "the subscription's id")
    made.add_argument(
        "--since",
        metavar="TIME",
        type=time_or_age,
        required=True,
        help="a time before the charge was sent, with its time zone; or how long ago: 90s, 15m, 2h, 1d",
    )
    made.add_argument("--product", metavar="ID", type=int, help="only orders of this product")
    add_list_output(made)
    add_account(made)
    return made


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    return _find(parser().parse_args(arguments))


def _find(options: argparse.Namespace) -> int:
    from .. import PossiblyMissedError

    id = id_of(options)
    with client_of(options) as client:
        try:
            with Waiting(client.base_url):
                found = client.subscriptions.find_charges(id, since=options.since, product_id=options.product)
        except PossiblyMissedError as error:
            _print(error.found, options)
            show(f"billcore find-charges: {error}: search again", sys.stderr)
            return EXIT_MISSED
    _print(found, options)
    if not found:
        show(
            "no order since then: search again after the longest time that the service may need, and charge again only "
            "if that search finds none either",
            sys.stderr,
        )
    return EXIT_OK


def _print(found: Sequence[object], options: argparse.Namespace) -> None:
    print_rows((order.to_dict() for order in found), ORDERS, options)  # type: ignore[attr-defined]
