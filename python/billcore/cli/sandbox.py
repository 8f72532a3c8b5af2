"""`billcore sandbox`: runs the command of the separate package billcore-sandbox, which parses its own options."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from typing import Any

from ._command import EXIT_USAGE, Parser


def parser() -> Parser:
    """The parser of the commands for a running sandbox, if the package is installed."""
    made = Parser(
        prog="billcore sandbox",
        description="Run the whole service on localhost; `billcore sandbox --help` lists the options. "
        "`billcore sandbox run [OPTIONS] -- COMMAND` runs a command beside a sandbox. The other commands control a "
        "running sandbox, whose control URL is in BILLCORE_SANDBOX_CONTROL.",
    )
    if importlib.util.find_spec("billcore_sandbox") is not None:
        from billcore_sandbox.remote import parsers

        commands: Any = made.add_subparsers(metavar="COMMAND")
        commands.choices.update(parsers(made.prog))
    return made


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    if importlib.util.find_spec("billcore_sandbox") is None:
        print("billcore-sandbox is not installed: run pip install ./python/sandbox in a checkout", file=sys.stderr)
        return EXIT_USAGE
    from billcore_sandbox.cli import main as sandbox_main

    return sandbox_main(arguments, prog="billcore sandbox")
