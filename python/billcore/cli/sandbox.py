"""`billcore sandbox`: runs the command of the separate package billcore-sandbox, which parses its own options."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence

from ._command import EXIT_USAGE


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    if importlib.util.find_spec("billcore_sandbox") is None:
        print("billcore-sandbox is not installed: run pip install ./python/sandbox in a checkout", file=sys.stderr)
        return EXIT_USAGE
    from billcore_sandbox.cli import main as sandbox_main

    return sandbox_main(arguments, prog="billcore sandbox")
