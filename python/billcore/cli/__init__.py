"""The command `billcore`: the table of its commands, and the option --version.

Each command is a module of this package. A command's module is imported only when the command runs, so that a command
starts without the imports of the others.
"""

from __future__ import annotations

import argparse
import importlib
import sys

from ._command import Parser, guarded, prepare_streams

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn

# For each group, the module of this package (its command has a - for each _), and its line in `billcore --help`.
COMMANDS: dict[str, dict[str, str]] = {
    "the service": {
        "subscriptions": "list, show and cancel subscriptions; change the product of one",
        "orders": "list the orders of a subscription",
        "order": "show an order",
        "charge": "charge a subscription once, through a journal",
        "find_charges": "look up whether a charge of unknown outcome was made",
        "products": "list, show, change and delete products",
        "endpoints": "register the URL of a webhook receiver",
        "request": "send any request, and print the answer as received",
    },
    "webhooks": {
        "listen": "receive webhooks on this machine: verify, show, forward, send again",
        "webhook": "verify, explain, sign and send a webhook",
    },
    "many records": {
        "export": "copy all orders, subscriptions or products into files",
        "reconcile": "compare an export with a table of yours",
    },
    "on this machine": {
        "doctor": "check the address, the key, TLS, the clock, the libraries",
        "sandbox": "run the whole service on localhost (billcore-sandbox)",
        "journal": "show and end charges of open outcome; keep the journal",
        "inbox": "keep the table of handled events",
        "profile": "keep the URLs and keys of accounts",
        "completion": "print what completes these commands in your shell",
    },
}


def _loaded_later() -> None:
    """Never runs. A program that packs an application, such as PyInstaller, reads here which modules are imported by
    their names."""
    from . import (  # noqa: F401
        charge,
        completion,
        doctor,
        endpoints,
        export,
        find_charges,
        inbox,
        journal,
        listen,
        order,
        orders,
        products,
        profile,
        reconcile,
        request,
        sandbox,
        subscriptions,
        webhook,
    )


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
    prepare_streams()
    if arguments and (module := module_of(arguments[0])):
        name, *rest = arguments
        return guarded(f"billcore {name}", lambda: importlib.import_module(f"{__name__}.{module}").main(rest))
    return guarded("billcore", lambda: _without_command(arguments))


def module_of(command: str) -> str | None:
    """The name of a command's module; None if there is no such command."""
    return next((name for group in COMMANDS.values() for name in group if name.replace("_", "-") == command), None)


def parser() -> Parser:
    """The parser of `billcore` without a command."""
    names = [name for group in COMMANDS.values() for name in group]
    width = max(map(len, names))
    lines = [
        "Billing service client and its local sandbox.",
        "",
        "Each command has --help; where it has an ACTION, so has each ACTION.",
    ]
    for title, group in ((title, group) for title, group in COMMANDS.items() if group):
        lines += ["", f"{title}:", *(f"  {name.replace('_', '-'):{width}}  {about}" for name, about in group.items())]
    made = Parser(prog="billcore", usage="billcore [-h] [--version] COMMAND …", description="\n".join(lines))
    made.add_argument("--version", action=_Version, help="show the release, and those of the libraries in use")
    return made


def _without_command(arguments: list[str]) -> NoReturn:
    found = parser()
    found.add_argument("command", help=argparse.SUPPRESS, metavar="COMMAND")
    unknown = argparse.ArgumentParser.parse_known_args(found, arguments)[0].command
    from difflib import get_close_matches

    names = [name.replace("_", "-") for group in COMMANDS.values() for name in group]
    near = get_close_matches(unknown, names, 1)
    found.error(f"there is no command {unknown!r}" + (f": did you mean {near[0]}?" if near else ""))
