"""`billcore subscriptions`: lists, shows and cancels subscriptions, and changes the product of one."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ._command import Parser, add_id, id_of, run
from ._records import (
    SUBSCRIPTIONS,
    add_list,
    add_read,
    add_write,
    change_record,
    list_records,
    quoted,
    show_record,
)

_ID = "the subscription's id"


def parser() -> Parser:
    """The parser of the command."""
    made = Parser(
        prog="billcore subscriptions",
        description="List, show and cancel subscriptions, and change the product of a subscription.",
    )
    command = made.command(
        "list",
        _list,
        "List subscriptions.",
        "billcore subscriptions list --limit 5\n"
        "billcore subscriptions list --reference-id demo-active --fields id,status",
    )
    command.add_argument("--reference-id", metavar="TEXT", help="only those with exactly this reference id")
    add_list(command)

    command = made.command("get", _get, "Show a subscription.", "billcore subscriptions get 480001")
    add_id(command, _ID)
    add_read(command)

    command = made.command(
        "cancel",
        _cancel,
        "End the billing of a subscription at once. The subscription may stay active until ends_at.",
        "billcore subscriptions cancel 480001",
    )
    add_id(command, _ID)
    add_write(command)

    command = made.command(
        "change-product",
        _change_product,
        "Replace a subscription's product with another product of the account.",
        "billcore subscriptions change-product 480001 --product 101",
    )
    add_id(command, _ID)
    command.add_argument("--product", metavar="ID", type=int, required=True, help="id of the new product")
    add_write(command)
    return made


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    return run(parser(), arguments)


def _list(options: argparse.Namespace) -> int:
    return list_records(
        options, SUBSCRIPTIONS, lambda client: client.subscriptions.list(reference_id=options.reference_id)
    )


def _get(options: argparse.Namespace) -> int:
    id = id_of(options)
    return show_record(options, SUBSCRIPTIONS, lambda client: client.subscriptions.get(id))


def _cancel(options: argparse.Namespace) -> int:
    id = id_of(options)
    return change_record(
        options,
        SUBSCRIPTIONS,
        f"cancel subscription {id}",
        f"subscriptions get {quoted(id)}",
        lambda client: client.subscriptions.cancel(id),
    )


def _change_product(options: argparse.Namespace) -> int:
    id = id_of(options)
    return change_record(
        options,
        SUBSCRIPTIONS,
        f"change subscription {id} to product {options.product}",
        f"subscriptions get {quoted(id)}",
        lambda client: client.subscriptions.change_product(id, product_id=options.product),
    )
