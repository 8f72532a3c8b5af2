"""`billcore inbox`: keeps the inbox, the table of the events that were handled."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from contextlib import closing

from ._command import EXIT_FAILED, EXIT_OK, EXIT_USAGE, Failure, Parser, run
from ._database import connector
from .journal import add_before, confirm_purge, tell_purged

_VARIABLE = "BILLCORE_INBOX"


def parser() -> Parser:
    """The parser of the command."""
    made = Parser(prog="billcore inbox", description="Keep the inbox of billcore.inbox: the table of handled events.")
    child = made.command(
        "schema", _schema, "Print the SQL that makes the inbox's table.", "billcore inbox schema postgresql"
    )
    child.add_argument("kind", choices=("sqlite", "postgresql", "mysql", "mariadb"))
    child = made.command(
        "purge",
        _purge,
        "Delete the claims made before a time. Their events are handled again if the service still sends them.",
        "billcore inbox purge --database shop.db --before 90d",
    )
    child.add_argument(
        "--database",
        metavar="FILE|URL",
        help=f"a SQLite file, or the URL of a PostgreSQL database without a password (default: {_VARIABLE}, which may "
        "have a password); with MariaDB and MySQL, call billcore.inbox.purge()",
    )
    add_before(child)
    return made


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    return run(parser(), arguments)


def _schema(options: argparse.Namespace) -> int:
    from ..inbox import schema

    print(schema(options.kind), end="")
    return EXIT_OK


def _purge(options: argparse.Namespace) -> int:
    from .. import BillcoreError
    from .._databases import cause
    from ..inbox import purge

    given, source = options.database, "--database"
    if given is None:
        given, source = os.environ.get(_VARIABLE) or None, _VARIABLE
    if given is None:
        raise Failure(EXIT_USAGE, f"no database is named: pass --database FILE|URL, or set {_VARIABLE}")
    connect = connector(given, source, "name the database of your receiver")
    confirm_purge(options, "the claims made")
    try:
        with closing(connect()) as connection:
            count = purge(connection, options.before)
            connection.commit()
    except BillcoreError:
        raise
    except Exception as error:  # of the driver
        raise Failure(EXIT_FAILED, f"the database failed: {cause(error)[0]}") from None
    return tell_purged(options, count)
