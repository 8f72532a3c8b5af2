"""`billcore endpoints`: registers the URL of a webhook receiver."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ._ask import add_yes, done
from ._command import EXIT_OK, Parser, add_account, client_of, run, show
from ._output import Shape, print_row
from ._records import written


def parser() -> Parser:
    """The parser of the command."""
    made = Parser(prog="billcore endpoints", description="Register the URL of a webhook receiver.")
    command = made.command(
        "create",
        _create,
        "Register a URL that receives signed events. The admin UI shows its signing secret.",
        "billcore endpoints create http://127.0.0.1:8000/webhooks",
    )
    command.add_argument("url", metavar="URL", help="the receiver's URL")
    add_yes(command)
    command.add_argument("--json", action="store_true", help="print the endpoint as one line of JSON")
    add_account(command)
    return made


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    return run(parser(), arguments)


def _create(options: argparse.Namespace) -> int:
    with client_of(options) as client:
        again = "run the same command again, as the service refuses a URL that is registered already (422)"
        with written(options, client, f"register {options.url}", again):
            answer = client.webhook_endpoints.create(url=options.url)
    row = _members(answer.body)
    options.fields = None
    with done(f"register {options.url}"):
        print_row(row, Shape([*row], [*row]), options)
    show("registered: read its signing secret in the admin UI", sys.stderr)
    return EXIT_OK


def _members(body: bytes) -> dict[str, object]:
    """The endpoint of an answer, whose form the service interface does not specify."""
    import json

    try:
        found = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    data = found.get("data", found) if isinstance(found, dict) else None
    return data if isinstance(data, dict) else {}
