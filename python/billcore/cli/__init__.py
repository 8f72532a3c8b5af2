"""The command `billcore`: the table of its commands, and the option --version.

Each command is a module of this package. A command's module is imported only when the command runs, so that a command
starts without the imports of the others.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence
from typing import NoReturn

from ._command import Parser, guarded

COMMANDS = {  # the module of this package, and its line in `billcore --help`
    "export": "copy all orders, subscriptions or products into files",
    "reconcile": "compare an export with a table of yours",
    "sandbox": "run the whole service on localhost (billcore-sandbox)",
}


class _Version(argparse.Action):
    """Prints the installed releases. Imports the client only if --version is given."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from .._build_info import describe

        try:
            print(describe())
        except ImportError as error:
            parser.exit(1, f"{parser.prog}: {error}\n")
        parser.exit()


def main(argv: Sequence[str] | None = None) -> int:
    """Run `billcore`; returns the exit status.

    0 ok, 1 refused by the service or failed locally, 2 usage, 3 something may be missing, 4 outcome unknown, 5 the
    service was not reached, 130 interrupted.
    """
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments and arguments[0] in COMMANDS:
        name, *rest = arguments
        return guarded(f"billcore {name}", lambda: importlib.import_module(f"{__name__}.{name}").main(rest))
    return guarded("billcore", lambda: _without_command(arguments))


def _without_command(arguments: list[str]) -> NoReturn:
    parser = Parser(prog="billcore", description="Billing service client and its local sandbox.")
    parser.add_argument("--version", action=_Version, help="show the release, and those of the libraries in use")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, about in COMMANDS.items():
        commands.add_parser(name, help=about, add_help=False)
    parser.parse_args(arguments)
    raise AssertionError("argparse returns only for a known command")
