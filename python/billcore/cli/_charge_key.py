"""The key of a charge that was given none: the same command within a day has the same key, so it charges once."""

from __future__ import annotations

import argparse
import hashlib
import json
import shlex
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

from ._command import EXIT_FAILED, EXIT_UNKNOWN, Failure
from ._journal import NOT_SENT, of_journal, reading
from ._times import relative

if TYPE_CHECKING:
    from ..journal import Charge, Journal

ARGUMENTS = ("product_id", "amount", "quantity", "vat", "description")
_DAY = timedelta(days=1)


def command(options: argparse.Namespace, subscription: str, wanted: Mapping[str, Any], key: str) -> str:
    """The command that goes on with a key. Pasting or repeating it charges once."""
    places = [subscription, str(wanted["product_id"]), str(wanted["amount"])]
    more = ["quantity", "vat", "description"]
    named = [f"--{name}={wanted[name]}" for name in more if wanted.get(name) is not None]
    named.append(f"--key={key}")
    if subscription.startswith("-"):
        return f"billcore charge {shlex.join(named)}{of_journal(options)} -- {shlex.join(places)}"
    return f"billcore charge {shlex.join([*places, *named])}{of_journal(options)}"


def resolve_command(options: argparse.Namespace, key: str) -> str:
    """The command that ends an open key, after a person has looked at the service."""
    place = f"-- {shlex.quote(key)}" if key.startswith("-") else shlex.quote(key)
    return f"billcore journal resolve{of_journal(options)} --order ID (or --nothing) {place}"


def refuse_beside_open(journal: Journal, options: argparse.Namespace, wanted: Mapping[str, Any]) -> None:
    """Refuse a charge while another one of the subscription and product may have been made.

    The journal would refuse it too, but only after a question to the user, and it cannot say which command goes on.
    """
    with reading(NOT_SENT):
        found = next((each for each in journal.open() if _is_beside(each, options, wanted)), None)
    if found is None:
        return
    failure = Failure(
        # Without a key, the user may mean that charge.
        EXIT_UNKNOWN if options.key is None else EXIT_FAILED,
        f"{NOT_SENT}: the charge {found.key} of the same subscription and product, of {found.amount} cents, "
        f"{_since(found)}, may have been made or not",
    )
    row = {name: getattr(found, name) for name in ARGUMENTS}
    failure.add_note(f"go on with it: {command(options, found.subscription, row, found.key)}")
    raise failure


def _is_beside(found: Charge, options: argparse.Namespace, wanted: Mapping[str, Any]) -> bool:
    same = (found.subscription, found.product_id) == (options.subscription, wanted["product_id"])
    return same and found.key != options.key


def new_key(journal: Journal, options: argparse.Namespace, wanted: Mapping[str, Any]) -> str:
    """A readable key for a charge, which has the day in it.

    A charge that was surely not made keeps its key. After a declined one comes a new key. An equal charge of the last
    24 hours ends the command: it needs a key that the user chooses, so that no repeated command charges twice.
    """
    now = datetime.now(UTC)
    made = None
    with reading(NOT_SENT):
        for day in (now - _DAY, now):
            for key in _keys(options.subscription, wanted, day):
                found = journal.get(key)
                if found is None:
                    break
                if now - found.deadline >= _DAY or found.state == "declined":
                    continue
                if found.state != "charged":
                    return key
                made = found
    if made is None:
        return key
    failure = Failure(
        EXIT_FAILED,
        f"{NOT_SENT}: the same charge was made {_since(made)}, with the key {made.key}, as the order {made.order_id}",
    )
    failure.add_note(f"to charge the same once more: {command(options, options.subscription, wanted, key)}")
    raise failure


def _keys(subscription: str, wanted: Mapping[str, Any], day: datetime) -> Iterator[str]:
    names = [subscription, wanted["product_id"], wanted["amount"]]
    rest = [wanted.get(name) for name in ("quantity", "vat", "description")]
    if rest != [None] * len(rest):
        names.append(hashlib.sha256(json.dumps(rest).encode()).hexdigest()[:8])
    stem = "-".join(map(str, [*names, f"{day:%Y%m%d}"]))
    return (stem if number == 1 else f"{stem}-{number}" for number in count(1))


def _since(found: Charge) -> str:
    return relative(found.created.isoformat())
