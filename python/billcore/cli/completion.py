"""`billcore completion`: prints a script that completes the commands and options in a shell."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from ._command import EXIT_OK, EXIT_USAGE, Failure, Parser


def parser() -> Parser:
    """The parser of the command."""
    made = Parser(
        prog="billcore completion",
        description="Print a script that completes the commands and options of billcore in your shell. Needs the "
        "package shtab (the extra cli).",
        examples='eval "$(billcore completion bash)"',
    )
    made.add_argument("shell", choices=("bash", "zsh", "fish", "tcsh"))
    return made


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    return _print(parser().parse_args(arguments))


def _print(options: argparse.Namespace) -> int:
    try:
        import shtab
    except ImportError:
        raise Failure(EXIT_USAGE, "completion needs the package shtab: pip install shtab") from None
    from ._tree import whole

    print(shtab.complete(whole(), options.shell))
    return EXIT_OK
