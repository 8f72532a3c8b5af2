"""`billcore products`: lists, shows, changes and deletes products."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from ._ask import add_yes, done
from ._command import EXIT_OK, EXIT_USAGE, Failure, Parser, add_account, client_of, of_account, run
from ._records import PRODUCTS, add_list, add_read, add_write, change_record, list_records, show_record, written

_TEXTS = ("name", "description", "currency", "interval")


def parser() -> Parser:
    """The parser of the command."""
    made = Parser(prog="billcore products", description="List, show, change and delete products.")
    command = made.command("list", _list, "List products.", "billcore products list --fields id,name,price,currency")
    add_list(command)

    command = made.command("get", _get, "Show a product.", "billcore products get 102")
    _add_product(command)
    add_read(command)

    command = made.command(
        "update",
        _update,
        "Change fields of a product. Only the given fields change.",
        "billcore products update 102 --name Coffee --price 1990\n"
        "billcore products update 102 --set 'description=null'",
    )
    _add_product(command)
    for name in _TEXTS:
        command.add_argument(f"--{name}", metavar="TEXT")
    command.add_argument("--price", metavar="CENTS", type=int, help="in the currency's smallest unit")
    command.add_argument("--vat-rate", metavar="PERCENT", type=_percent, help="such as 25 or 12.5")
    command.add_argument(
        "--set", metavar="FIELD=JSON", action="append", type=_field, default=[], help="any field, with a value in JSON"
    )
    add_write(command)

    command = made.command(
        "delete",
        _delete,
        "Delete a product. The service only marks it as deleted.",
        "billcore products delete 104 --yes",
    )
    _add_product(command)
    add_yes(command)
    command.add_argument("--json", action="store_true", help="print the id as JSON")
    add_account(command)
    return made


def _add_product(parser: Parser) -> None:
    parser.add_argument("id", metavar="ID", type=int, help="the product's id")


def _percent(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation:
        raise ValueError(text) from None


_percent.__name__ = "number"  # argparse names the type in its error


def _field(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    try:
        return name, json.loads(value, parse_float=Decimal)
    except (ValueError, RecursionError):
        example = f'{name or "name"}="{value}"' if equals else 'name="Coffee"'
        raise argparse.ArgumentTypeError(f"{text!r} is not FIELD=JSON: a text has quotes, as in '{example}'") from None


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    return run(parser(), arguments)


def _list(options: argparse.Namespace) -> int:
    return list_records(options, PRODUCTS, lambda client: client.products.list())


def _get(options: argparse.Namespace) -> int:
    return show_record(options, PRODUCTS, lambda client: client.products.get(options.id))


def _update(options: argparse.Namespace) -> int:
    named = {name: getattr(options, name) for name in (*_TEXTS, "price", "vat_rate")}
    fields = {name: value for name, value in named.items() if value is not None} | dict(options.set)
    if not fields:
        raise Failure(EXIT_USAGE, "name what to change, such as --price 1990 (see billcore products update --help)")
    return change_record(
        options,
        PRODUCTS,
        f"change {', '.join(fields)} of product {options.id}",
        f"products get {options.id}",
        lambda client: client.products.update(options.id, fields),
    )


def _delete(options: argparse.Namespace) -> int:
    with client_of(options) as client:
        look_up = f"billcore products get {options.id}{of_account(options)}"
        with written(options, client, f"delete product {options.id}", look_up):
            client.products.delete(options.id)
    with done(f"delete product {options.id}"):
        print(json.dumps({"deleted": options.id}) if options.json else options.id)
    return EXIT_OK
