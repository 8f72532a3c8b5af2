"""`billcore charge`: charges a subscription once, through a journal."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ._ask import confirm_here, done, is_loopback, require_terminal, writing
from ._charge_key import ARGUMENTS, command, new_key, refuse_beside_open, resolve_command
from ._command import (
    EXIT_OK,
    EXIT_UNKNOWN,
    EXIT_USAGE,
    Failure,
    Parser,
    client_for,
    of_account,
    show,
)
from ._journal import NOT_SENT, add_journal, journal_of, reading
from ._output import fields_of, money, print_row
from ._profile import account_of
from ._records import ORDERS, add_write, quoted
from ._waiting import Waiting

if TYPE_CHECKING:
    from .. import Client, Order
    from ..journal import Charge, Journal

_VAT = 2500  # basis points, which the service uses if a charge has no VAT
_SKEW = timedelta(minutes=5)  # how far this computer's clock may be ahead of the service's, as for find_charges(error)


def parser() -> Parser:
    """The parser of the command."""
    made = Parser(
        prog="billcore charge",
        description="Charge a subscription once. A journal records the charge before it is sent, so that the same "
        "command with the same --key goes on after an error, and never charges twice. Without --key the command makes "
        "a key and shows it; the same command does not charge again on the same day (UTC).",
        examples="billcore charge 480001 102 1500 --key invoice-2041\n"
        "billcore charge 480001 102 1500 --quantity 2 --description 'Two bags' --journal charges.db\n"
        "billcore charge 480001 102 1500 --dry-run",
    )
    made.add_argument("subscription", metavar="SUBSCRIPTION", help="its id; after -- if it begins with a dash")
    made.add_argument("product_id", metavar="PRODUCT", type=int, help="id of a one-time product")
    made.add_argument("amount", metavar="CENTS", type=_cents, help="without VAT, in the currency's smallest unit")
    made.add_argument("--quantity", metavar="N", type=int, help="number of pieces; the total is CENTS times N")
    made.add_argument("--vat", metavar="BASIS_POINTS", type=_vat, help=f"2500 is 25 %% (default: {_VAT})")
    made.add_argument("--description", metavar="TEXT", help="description of the order")
    made.add_argument("--key", help="your name for this charge, such as the number of an invoice")
    made.add_argument("--dry-run", action="store_true", help="show the request, and send nothing")
    made.add_argument(
        "--no-journal", action="store_true", help="record nothing: after an error, nobody can go on by a key"
    )
    add_journal(made)
    add_write(made)
    return made


def _cents(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text) < 1 << 63):
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number of cents, such as 1500 for 15.00")
    return int(text)


def _vat(text: str) -> int:
    vat = int(text)
    if 0 < vat < 50:
        raise argparse.ArgumentTypeError(f"{text} is {vat / 100:g} %: {vat} % is {vat * 100}")
    return vat


_vat.__name__ = "int"  # argparse names the type in its error


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    return _charge(parser().parse_args(arguments))


def _charge(options: argparse.Namespace) -> int:
    fields_of(options, ORDERS)
    if options.no_journal and (options.key, options.journal, options.settle) != (None, None, None):
        raise Failure(EXIT_USAGE, "--no-journal records no key: leave out --key, --journal and --settle")
    wanted = {name: value for name in ARGUMENTS if (value := getattr(options, name)) is not None}
    account = account_of(options)
    with client_for(account) as client:
        if options.no_journal:
            if options.dry_run:
                return _show_request(options, client, wanted, None)
            _confirm(options, client, wanted)
            order = _sent(options, client, None, lambda: client.subscriptions.charge(options.subscription, **wanted))
        else:
            journal = journal_of(options, account, client)
            refuse_beside_open(journal, options, wanted)
            key = new_key(journal, options, wanted) if options.key is None else options.key
            if options.dry_run:
                return _show_request(options, client, wanted, key)
            order = _with_journal(options, client, wanted, journal, key)
        with done(f"charge subscription {options.subscription}: order {order.id}"):
            print_row(order.to_dict(), ORDERS, options)
    return EXIT_OK


def _show_request(options: argparse.Namespace, client: Client, wanted: dict[str, Any], key: str | None) -> int:
    url = f"{client.base_url.rstrip('/')}/subscription/{quote(options.subscription, safe='')}/order"
    if options.json:
        print(json.dumps({"method": "POST", "url": url, "body": wanted, "key": key}))
    else:
        show(f"POST {url}")
        print(json.dumps(wanted))
        show("nothing was sent" if key is None else f"nothing was sent; the key would be {key}", sys.stderr)
    return EXIT_OK


def _with_journal(
    options: argparse.Namespace, client: Client, wanted: dict[str, Any], journal: Journal, key: str
) -> Order:
    resume = command(options, options.subscription, wanted, key)
    with reading(NOT_SENT):
        known = journal.get(key)
    if known is not None and known.state == "charged" and known.late is None:
        show(f"the key {key} was charged before: nothing is sent", sys.stderr)
    else:
        if options.key is None:
            show(f"key: {key}", sys.stderr)
            show(f"if this ends without an answer, go on with: {resume}", sys.stderr)
        _confirm(options, client, wanted)
    with _resumable(resume, key, options):
        return _sent(options, client, known, lambda: journal.charge(key, options.subscription, **wanted))


def _confirm(options: argparse.Namespace, client: Client, wanted: dict[str, Any]) -> None:
    """Show what is charged, and ask."""
    what = f"charge subscription {options.subscription} at {client.base_url}"
    asks = not options.yes and (options.no_journal or not is_loopback(client.base_url))
    if asks:
        require_terminal(what)
    with Waiting(client.base_url):
        currency = str(client.subscriptions.get(options.subscription).currency or "")
    net, vat = wanted["amount"] * wanted.get("quantity", 1), wanted.get("vat", _VAT)
    tax = (net * vat + 5000) // 10000
    total = f"{money(net, currency)} + {money(tax, currency)} VAT ({vat / 100:g} %) = {money(net + tax, currency)}"
    show(f"product {options.product_id}: {total} expected", sys.stderr)
    if asks:
        loses = " without a journal, so that the same command charges again if the answer is lost"
        confirm_here(what + loses * options.no_journal, yes=False, otherwise="nothing was sent")


def _sent(options: argparse.Namespace, client: Client, known: Charge | None, send: Callable[[], Order]) -> Order:
    first = datetime.now(UTC) if known is None else known.created  # an earlier attempt may have charged
    since = (first - _SKEW).isoformat(timespec="seconds")
    look_up = f"billcore find-charges --since {since} --product {options.product_id}{of_account(options)}"
    with writing(f"{look_up} {quoted(options.subscription)}"), Waiting(client.base_url):
        return send()


@contextmanager
def _resumable(resume: str, key: str, options: argparse.Namespace) -> Iterator[None]:
    """A block with a charge of the journal. If the key is still open after an error, the error says how to go on."""
    from .. import PaymentError
    from ..journal import AmbiguousChargeError, JournalError, UnresolvedChargeError

    try:
        yield
    except PaymentError as error:
        error.add_note("this is final for the key: a new try needs a new key")
        raise
    except JournalError as error:
        if error.order is not None:  # charged, but not recorded
            failure = Failure(EXIT_UNKNOWN, str(error))
            failure.add_note(f"record it: {resume}")
            raise failure from None
        if isinstance(error, (AmbiguousChargeError, UnresolvedChargeError)):
            error.add_note(f"when you know what happened: {resolve_command(options, key)}")
        elif error.outcome_unknown:
            error.add_note(f"go on with: {resume}")
        else:
            error.add_note("this command charged nothing")
        raise
    except Failure as failure:  # Ctrl-C
        failure.add_note(f"go on with: {resume}")
        raise
