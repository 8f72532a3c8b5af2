"""The command `billcore`. The only subcommand is `sandbox`; the option `--version` prints the installed releases."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Sequence
from typing import NoReturn

EXIT_USAGE = 2


class _Parser(argparse.ArgumentParser):
    """An ArgumentParser that prints each error as one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_USAGE, f"{self.prog}: {message} (see {self.prog} --help)\n")


class _Version(argparse.Action):
    """Prints the installed releases. Imports the client only if --version is given."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from ._build_info import describe

        try:
            print(describe())
        except ImportError as error:
            parser.exit(1, f"{parser.prog}: {error}\n")
        parser.exit()


def main(argv: Sequence[str] | None = None) -> int:
    """Run `billcore`; returns the exit status (0 ok, 1 failed, 2 usage)."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    if arguments[:1] == ["sandbox"]:
        return _sandbox(arguments[1:])
    parser = _Parser(prog="billcore", description="Billing service client and its local sandbox.")
    parser.add_argument("--version", action=_Version, help="show the release, and those of the libraries in use")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    commands.add_parser("sandbox", help="run the whole service on localhost (billcore-sandbox)", add_help=False)
    parser.parse_args(arguments)
    raise AssertionError("argparse returns only for a known command")


def _sandbox(arguments: Sequence[str]) -> int:
    """Run the command of the separate package billcore-sandbox, which parses its own options."""
    if importlib.util.find_spec("billcore_sandbox") is None:
        print("billcore-sandbox is not installed: run pip install ./python/sandbox in a checkout", file=sys.stderr)
        return EXIT_USAGE
    from billcore_sandbox.cli import main as sandbox_main

    return sandbox_main(arguments, prog="billcore sandbox")
