"""`billcore journal`: shows and ends charges whose outcome is open, and keeps the journal."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from ._ask import confirm_here
from ._charge_key import ARGUMENTS, command, resolve_command
from ._command import EXIT_FAILED, EXIT_OK, EXIT_USAGE, Failure, Parser, add_account, client_for, run, show
from ._journal import add_journal, journal_of, reading
from ._output import Shape, add_list_output, add_output, fields_of, print_row, print_rows
from ._profile import account_of
from ._records import ORDERS
from ._times import time_or_age
from ._waiting import Waiting

if TYPE_CHECKING:
    from .. import Client
    from ..journal import Charge, Journal

_TIMES = {each: f"{each}_at" for each in ("created", "deadline", "uncertain", "late")}
_COLUMNS = ("key", "state", "subscription", "product_id", "amount", "created_at", "order_id")
_CHARGES = Shape(_COLUMNS, (*_COLUMNS, "quantity", "vat", "description", "attempt", *_TIMES.values()))
_LONGEST = timedelta(days=1)  # for which `billcore charge` finds the same charge by the key that it makes


def parser() -> Parser:
    """The parser of the command."""
    made = Parser(
        prog="billcore journal",
        description="The journal of `billcore charge` and of billcore.journal: show and end the charges whose outcome "
        "is open, and keep the journal.",
    )
    made_open = made.command("open", _open, "List the charges that may have been made or not.", "billcore journal open")
    add_list_output(made_open)
    _add_both(made_open)

    child = made.command(
        "show", _show, "Show what the journal knows about a key.", "billcore journal show invoice-2041"
    )
    _add_key(child)
    add_output(child)
    _add_both(child)

    child = made.command(
        "resolve",
        _resolve,
        "Record what you found out about an open charge. It must be right: after --nothing, the next charge with the "
        "key is sent again.",
        "billcore journal resolve invoice-2041 --order 9100066\nbillcore journal resolve invoice-2041 --nothing",
    )
    _add_key(child)
    found = child.add_mutually_exclusive_group(required=True)
    found.add_argument("--order", metavar="ID", help="the charge's order")
    found.add_argument("--nothing", action="store_true", help="nothing was charged")
    child.add_argument("--force", action="store_true", help="take the order although its sum or state does not fit")
    add_output(child)
    _add_both(child)

    child = made.command(
        "purge",
        _purge,
        "Delete the settled keys that were first used before a time. A charge with a deleted key charges again.",
        "billcore journal purge --before 400d",
    )
    add_before(child)
    _add_both(child)

    child = made.command(
        "schema", _schema, "Print the SQL that makes the journal's tables.", "billcore journal schema postgresql"
    )
    child.add_argument("kind", choices=("sqlite", "postgresql"))

    child = made.command(
        "accept-total-rule",
        _accept,
        "Say how the service computes an order's total. Needed only after an answer that did not fit, which stops all "
        "look-ups of the account.",
        "billcore journal accept-total-rule --field total --per amount",
    )
    child.add_argument("--field", choices=("total", "total_with_vat"), required=True, help="the order's sum")
    child.add_argument("--per", choices=("amount", "amount_times_quantity"), required=True, help="what it is equal to")
    child.add_argument("--yes", action="store_true", help="do not ask; needed in a pipe")
    child.add_argument("--json", action="store_true", help="print the rule as JSON")
    _add_both(child)
    return made


def _add_key(parser: Parser) -> None:
    parser.add_argument("key", metavar="KEY", help="the charge's key; after -- if it begins with a dash")


def add_before(parser: Parser) -> None:
    """Add the options of a purge."""
    parser.add_argument(
        "--before",
        metavar="TIME",
        type=time_or_age,
        required=True,
        help="a time with its time zone; or how long ago: 90s, 15m, 2h, 400d",
    )
    parser.add_argument("--yes", action="store_true", help="do not ask; needed in a pipe")
    parser.add_argument("--json", action="store_true", help="print the number of deleted rows as JSON")


def _add_both(parser: Parser) -> None:
    add_journal(parser)
    add_account(parser)


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    return run(parser(), arguments)


@contextmanager
def _journal(options: argparse.Namespace) -> Iterator[tuple[Journal, Client]]:
    account = account_of(options)
    with client_for(account) as client:
        yield journal_of(options, account, client), client


def _row(charge: Charge) -> dict[str, Any]:
    names = (*_COLUMNS, "quantity", "vat", "description", "attempt", *_TIMES.values())
    values = {name: getattr(charge, name) for name in names if not name.endswith("_at")}
    times = {shown: getattr(charge, name) for name, shown in _TIMES.items()}
    texts = {name: None if time is None else time.isoformat(timespec="seconds") for name, time in times.items()}
    return {name: {**values, **texts}[name] for name in names}


def _open(options: argparse.Namespace) -> int:
    fields_of(options, _CHARGES)
    with _journal(options) as (journal, _), reading():
        found = sorted(journal.open(), key=lambda each: each.created)
    print_rows(map(_row, found), _CHARGES, options)
    for each in found[:1]:
        wanted = {name: getattr(each, name) for name in ARGUMENTS}
        show(f"go on with the oldest: {command(options, each.subscription, wanted, each.key)}", sys.stderr)
    return EXIT_OK


def _show(options: argparse.Namespace) -> int:
    fields_of(options, _CHARGES)
    with _journal(options) as (journal, _), reading():
        found = journal.get(options.key)
    if found is None:
        raise Failure(EXIT_FAILED, f"the journal has no key {options.key!r} of this account")
    print_row(_row(found), _CHARGES, options)
    return EXIT_OK


def _resolve(options: argparse.Namespace) -> int:
    from ..journal import AmbiguousChargeError

    fields_of(options, ORDERS)
    with _journal(options) as (journal, client):
        with reading():
            known = journal.get(options.key)
        if known is None:
            raise Failure(EXIT_FAILED, f"the journal has no key {options.key!r} of this account")
        try:
            with Waiting(client.base_url):
                order = journal.resolve(options.key, None if options.nothing else options.order, force=options.force)
        except AmbiguousChargeError as error:
            error.add_note(f"look at each with billcore order get ID; then: {resolve_command(options, options.key)}")
            raise
    if order is not None:
        print_row(order.to_dict(), ORDERS, options)
        return EXIT_OK
    wanted = {name: getattr(known, name) for name in ARGUMENTS}
    show("recorded: nothing was charged", sys.stderr)
    show(f"to charge: {command(options, known.subscription, wanted, options.key)}", sys.stderr)
    return EXIT_OK


def _purge(options: argparse.Namespace) -> int:
    if options.before > datetime.now(UTC) - _LONGEST:
        raise Failure(
            EXIT_USAGE, "--before: keep the keys of the last day, as a charge with a deleted key charges again"
        )
    with _journal(options) as (journal, _):
        confirm_purge(options, "the settled keys first used")
        with reading():
            count = journal.purge(options.before)
    return tell_purged(options, count)


def confirm_purge(options: argparse.Namespace, what: str) -> None:
    """Ask before a purge of what was made before --before."""
    before = options.before.isoformat(timespec="seconds")
    confirm_here(f"delete {what} before {before}", yes=options.yes, otherwise="nothing was deleted")


def tell_purged(options: argparse.Namespace, count: int) -> int:
    """Print how many rows were deleted; returns the exit status."""
    print(json.dumps({"deleted": count}) if options.json else count)
    return EXIT_OK


def _schema(options: argparse.Namespace) -> int:
    from ..journal import schema

    print(schema(options.kind), end="")
    return EXIT_OK


def _accept(options: argparse.Namespace) -> int:
    rule = f"{options.field} = {options.per}"
    with _journal(options) as (journal, client):
        confirm_here(
            f"take {rule} for every order of {client.base_url}", yes=options.yes, otherwise="the rule was not changed"
        )
        with reading():
            journal.accept_total_rule(field=options.field, per=options.per)
    print(json.dumps({"field": options.field, "per": options.per}) if options.json else rule)
    return EXIT_OK
