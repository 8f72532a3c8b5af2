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
            text = f"{about[0].upper()}{about[1:]}."
            commands.add_parser(command, help=about, prog=f"billcore {command}", description=text)
            module = importlib.import_module(f"{__package__}.{name}")
            if hasattr(module, "parser"):  # `sandbox` is a package of its own, which may not be installed
                commands.choices[command] = module.parser()
    return made
