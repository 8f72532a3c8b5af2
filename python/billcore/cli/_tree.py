"""The parser of all commands, for completion and for the page python/docs/commands.md."""

from __future__ import annotations

import importlib

from . import COMMANDS, parser
from ._command import Parser


def whole() -> Parser:
    """The parser of `billcore` with the parsers of all commands."""
    made = parser()
    commands = made.add_subparsers(metavar="COMMAND")
    for group in COMMANDS.values():
        for name, about in group.items():
            command = name.replace("_", "-")
            commands.add_parser(command, help=about)
            commands.choices[command] = importlib.import_module(f"{__package__}.{name}").parser()
    return made
