"""`billcore doctor`: whether this machine can use the service, check by check, and what to do where it cannot."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

from ._command import EXIT_FAILED, EXIT_NOT_REACHED, EXIT_OK, Parser, add_account, printable, show

_STYLES = {"ok": "32", "warning": "33", "failed": "31", "skipped": "2"}


def parser() -> Parser:
    """The parser of the command."""
    made = Parser(
        prog="billcore doctor",
        description="Check the libraries, the address, the key, the proxy, TLS and its certificates, the service, the "
        "HTTP version and the clock, with one GET of the first page of products; then what webhooks need. "
        "Exit status 1: a check failed, 5: the service was not reached. No key and no secret is printed.",
        examples="billcore doctor\nbillcore doctor --json",
    )
    made.add_argument("--json", action="store_true", help="print each check as one line of JSON")
    add_account(made)
    return made


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    return _doctor(parser().parse_args(arguments))


def _doctor(options: argparse.Namespace) -> int:
    from ._checks import Checks
    from ._output import on_terminal, styled, tab_separated

    checks, has_failed = Checks(options), False
    for finding in checks.all():
        row = finding._asdict()
        has_failed = has_failed or finding.state == "failed"
        if options.json:
            print(json.dumps(row), flush=True)
        elif not on_terminal():
            print(tab_separated(row, finding._fields), flush=True)
        else:
            text = printable(finding.text, sys.stdout)
            print(f"{styled(f'{finding.state:8}', _STYLES[finding.state])} {finding.check:13} {text}", flush=True)
            if finding.todo:
                show(f"{'':8} {'':13} -> {finding.todo}")
    if checks.is_unreached:
        return EXIT_NOT_REACHED
    return EXIT_FAILED if has_failed else EXIT_OK
