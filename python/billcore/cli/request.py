"""`billcore request`: sends any request, and prints the answer as received."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._errors import DecodeError
from ._ask import add_yes, done
from ._command import EXIT_FAILED, EXIT_OK, EXIT_UNKNOWN, EXIT_USAGE, Failure, Parser, add_account, client_of, show
from ._output import on_terminal
from ._records import written
from ._waiting import Waiting

if TYPE_CHECKING:
    from .._client import Response


def parser() -> Parser:
    """The parser of the command."""
    made = Parser(
        prog="billcore request",
        description="Send a request, and print the body of the answer as received. Every method but GET is a write, "
        "which is sent at most once. To charge, use the command that keeps a journal: billcore charge.",
        examples="billcore request GET '/subscriptions?page=2'\n"
        "billcore request POST /product/102 --data '{\"price\": 1990}'\n"
        "billcore request POST /product/102 --data @product.json",
    )
    made.add_argument("method", metavar="METHOD", type=str.upper, choices=("GET", "POST", "PUT", "PATCH", "DELETE"))
    made.add_argument("path", metavar="PATH", help="below the account's URL, percent-encoded, maybe with a query")
    made.add_argument("--data", metavar="JSON|@FILE|@-", help="the body: JSON, or a file with JSON, or @- for stdin")
    add_yes(made)
    made.add_argument("--json", action="store_true", help="print status, headers and body as one line of JSON")
    add_account(made)
    return made


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    return _request(parser().parse_args(arguments))


def _request(options: argparse.Namespace) -> int:
    from urllib.parse import parse_qsl

    path, _, query = options.path.partition("?")
    if not path.startswith("/"):
        raise Failure(EXIT_USAGE, f"PATH is below the account's URL and begins with a slash: {path!r} does not")
    pairs = parse_qsl(query, keep_blank_values=True)
    more = {} if options.data is None else {"json": _body(options.data)}

    is_write = options.method != "GET"
    what, look_up = f"send {options.method} {path}", "read what the request changes"
    with (
        client_of(options) as client,
        written(options, client, what, look_up) if is_write else Waiting(client.base_url),
    ):
        answer = client.request(options.method, path, query=pairs, raise_on_error=False, **more)
    with done(what if is_write else None):
        (_print_json if options.json else _print_body)(answer)
    if 200 <= answer.status < 300:
        return EXIT_OK
    if not is_write or (400 <= answer.status < 500 and answer.status != 408):
        raise Failure(EXIT_FAILED, f"the service answered with the status {answer.status}")
    unknown = Failure(EXIT_UNKNOWN, f"the service answered with the status {answer.status}: the outcome is unknown")
    unknown.add_note(f"look it up: {look_up}")
    raise unknown


def _body(given: str) -> Any:
    """The values of the JSON that --data gives or names; a number keeps its digits."""
    source = f"--data: {given[1:]}" if given.startswith("@") else "--data"
    try:
        if given.startswith("@"):
            raw = sys.stdin.buffer.read() if given == "@-" else Path(given[1:]).read_bytes()
            given_text = raw.decode("utf-8")  # json.loads would guess UTF-16
        else:
            given_text = given
        return json.loads(given_text, parse_float=Decimal)
    except OSError as error:
        raise Failure(EXIT_USAGE, f"{source} cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise Failure(EXIT_USAGE, f"{source} is not UTF-8") from None
    except (ValueError, RecursionError) as error:
        hint = "" if given.startswith("@") else " (a file is --data @FILE)"
        raise Failure(EXIT_USAGE, f"{source} is not JSON{hint}: {error}") from None


def _print_json(answer: Response) -> None:
    members = {"status": answer.status, "headers": answer.headers}
    try:
        print(json.dumps({**members, "body": answer.json()}, allow_nan=False))
    except (DecodeError, ValueError):  # no JSON, or a number too large for a float
        print(json.dumps({**members, "body": answer.body.decode("utf-8", "backslashreplace")}))


def _print_body(answer: Response) -> None:
    if on_terminal():
        for line in answer.body.decode("utf-8", "backslashreplace").splitlines():
            show(line)
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(answer.body)
