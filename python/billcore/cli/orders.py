"""`billcore orders`: lists the orders of a subscription."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, get_args

from ._command import EXIT_USAGE, Failure, Parser, add_id, id_of
from ._output import limit_of
from ._records import ORDERS, add_list, list_records


def parser() -> Parser:
    """The parser of the command."""
    made = Parser(
        prog="billcore orders",
        description="List the orders of a subscription, the latest first.",
        examples="billcore orders 480001\nbillcore orders 480001 --state paid --json",
    )
    add_id(made, "the subscription's id")
    made.add_argument("--state", metavar="A,B", help="only orders in one of these states")
    made.add_argument("--product", metavar="ID", type=int, help="only orders of this product")
    add_list(made)
    return made


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    return _list(parser().parse_args(arguments))


def _list(options: argparse.Namespace) -> int:
    id, states = id_of(options), _states(options.state)
    limit = limit_of(options)
    per_page = 200 if limit is None else min(limit + 1, 200)  # one more than the limit shows that there are others
    return list_records(
        options,
        ORDERS,
        lambda client: client.subscriptions.orders(id, state=states, product_id=options.product, per_page=per_page),
    )


def _states(text: str | None) -> Any:
    if text is None:
        return None
    from .._types import OrderState

    known = get_args(OrderState)
    for state in text.split(","):
        if state not in known:
            raise Failure(EXIT_USAGE, f"--state: there is no state {state!r} (states: {', '.join(known)})")
    return text.split(",")
