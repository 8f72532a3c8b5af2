"""The journal that a command uses."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ._command import EXIT_FAILED, EXIT_USAGE, Failure, Parser, of_account
from ._database import connector

if TYPE_CHECKING:
    from .. import Client
    from ..journal import Journal
    from ._profile import Account

NOT_SENT = "nothing was sent"
_VARIABLE = "BILLCORE_JOURNAL"
_MAKE = "billcore profile add --journal FILE makes one, which does not know the charges of another"


def add_journal(parser: Parser) -> None:
    """Add the options that name the journal, for journal_of()."""
    group = parser.add_argument_group("journal")
    group.add_argument(
        "--journal",
        metavar="FILE|URL",
        help=f"a SQLite file, or the URL of a PostgreSQL database without a password (default: the journal of the "
        f"profile, else {_VARIABLE}, which may have a password)",
    )
    group.add_argument(
        "--settle",
        metavar="SECONDS",
        type=float,
        help="the `settle` of the programs that use the same journal; all must have the same (default: none, a person "
        "decides)",
    )


def of_journal(options: argparse.Namespace) -> str:
    """The options of add_journal() and add_account() as they were given, to be appended to a command."""
    given = {"--journal": options.journal, "--settle": options.settle}
    ours = "".join(f" {name} {shlex.quote(str(value))}" for name, value in given.items() if value is not None)
    return ours + of_account(options)


def journal_of(options: argparse.Namespace, account: Account, client: Client) -> Journal:
    """The journal that the options, the profile or the environment name."""
    given, source = options.journal, "--journal"
    if given is None and account.journal is not None:
        given, source = account.journal, f"the journal of the profile {account.profile}"
    if given is None:
        given, source = os.environ.get(_VARIABLE) or None, _VARIABLE
    if given is None:
        raise Failure(EXIT_USAGE, f"no journal is named: pass --journal FILE|URL, or set {_VARIABLE}; {_MAKE}")
    from ..journal import Journal

    return Journal(connector(given, source, _MAKE), client, settle=options.settle)


@contextmanager
def reading(effect: str = "") -> Iterator[None]:
    """A block that only uses the database. Its errors do not mean that a charge of this command may have been made.

    Args:
        effect: What an error means for the command, such as NOT_SENT.
    """
    from ..journal import JournalError

    try:
        yield
    except JournalError as error:
        raise Failure(EXIT_FAILED, f"{effect}: {error}" if effect else str(error)) from None
