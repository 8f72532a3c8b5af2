"""`billcore listen`: receives webhooks on this machine, verifies and shows them, and forwards the exact bytes."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import select
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from ._ask import confirm, is_loopback
from ._command import EXIT_OK, EXIT_USAGE, Failure, Parser, local_path, show
from ._output import on_terminal
from ._secrets import add_secrets, given, secrets_of

if TYPE_CHECKING:
    from ._deliveries import History
    from ._feed import Feed
    from ._listener import Listener
    from ._server import Server

_PORT = 4280
_CONTROL = "BILLCORE_SANDBOX_CONTROL"
_MOST = 1 << 20  # bytes of a body, as Verifier's
_LEAST_HISTORY = 4 << 20  # bytes: room for the largest body, in base64, and others


def parser() -> Parser:
    """The parser of the command."""
    made = Parser(
        prog="billcore listen",
        description="Receive webhooks on this machine: verify each one, show it, and forward its exact bytes and its "
        "signature to your receiver. The sender gets your receiver's answer: 502 if the receiver is down, 504 if it "
        "does not answer in time, 400 if the signature is wrong; it then sends the webhook again by its schedule. "
        "There is no tunnel, so the sender must reach this machine. On a terminal, r sends the selected webhook again, "
        "e edits it, signs it and sends it (to a receiver on this machine), the arrows select, / filters and q ends; "
        "in a pipe, each webhook is a line of JSON.",
        examples="billcore listen --forward-to http://127.0.0.1:8000/webhooks\n"
        "billcore listen --sandbox --forward-to http://127.0.0.1:8000/webhooks --retry 1,5",
    )
    made.add_argument("--forward-to", metavar="URL", help="your receiver; without it, webhooks are only shown")
    made.add_argument("--port", metavar="N", type=int, default=_PORT, help=f"the port ({_PORT}); 0 takes a free one")
    made.add_argument("--path", metavar="PATH", default="/", help="the path that webhooks are sent to (/)")
    made.add_argument("--host", metavar="ADDRESS", default="127.0.0.1", help="an address of this machine (127.0.0.1)")
    made.add_argument(
        "--retry",
        metavar="S,S",
        type=_numbers,
        default=[],
        help="try a receiver that failed again after so many seconds, before the sender is answered",
    )
    made.add_argument("--timeout", metavar="S", type=_seconds, default=30.0, help="for your receiver's answer (30)")
    made.add_argument(
        "--sandbox",
        metavar="URL",
        nargs="?",
        const="",
        help="register at a sandbox, until the end, and take the secret from it: its control URL (default: "
        f"{_CONTROL}, which is also used if there is no secret)",
    )
    add_secrets(made)
    made.add_argument("--header", metavar="NAME", default="Service-Signature", help="the name of the signature header")
    made.add_argument("--history", metavar="FILE", help="where the webhooks are kept, for this user alone")
    made.add_argument(
        "--history-bytes", metavar="N", type=int, default=32 << 20, help="size of the history (33554432); old ones go"
    )
    made.add_argument("--json", action="store_true", help="print lines of JSON on a terminal, too")
    made.add_argument("--body", action="store_true", help="in JSON, print the body too, which may have signed URLs")
    made.add_argument("--yes", action="store_true", help="do not ask before forwarding to a host that is not loopback")
    return made


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    return _listen(parser().parse_args(arguments))


def _numbers(text: str) -> list[float]:
    return [_seconds(each) for each in text.split(",")]


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 < number <= 3600:
        raise ValueError(text)
    return number


_numbers.__name__ = "list of seconds"  # argparse names the type in its error
_seconds.__name__ = "number of seconds"


def _listen(options: argparse.Namespace) -> int:
    from ._deliveries import History
    from ._feed import Feed
    from ._listener import Listener
    from ._server import Server
    from ._target import Target

    _refuse_wrong(options)
    target = None if options.forward_to is None else Target("--forward-to", options.forward_to)
    control = _control(options)
    secrets = [] if control and options.secret_file is None else secrets_of(options)
    if target is not None:
        confirm(target.url, "forward webhooks", yes=options.yes)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    feed = Feed()
    with contextlib.ExitStack() as stack:
        server = Server(options.host, options.port, options.path)
        stack.callback(server.server_close)
        history = History(_history(options), options.history_bytes, feed.put)
        url = _url(options.host, server.port, options.path)
        if target is not None and target.port == server.port and is_loopback(target.url):
            raise Failure(
                EXIT_USAGE, f"--forward-to is this billcore listen itself: name your receiver, not {target.url}"
            )
        if control:
            from ._registration import registered

            secrets = [stack.enter_context(registered(control, url, *secrets[:1])), *secrets[1:]]
        how = (options.header, _MOST, target, options.retry, options.timeout)
        listener = Listener(secrets, *how, history, feed.put)
        server.start(listener)
        stack.callback(_tell_waiting, server)
        where = {"listening": url, "forwarding_to": options.forward_to, "sandbox": control}
        if options.json or not on_terminal():
            print(json.dumps(where), flush=True)
            _print_lines(feed, options.body)
        _run_screen(feed, listener, server, history, where)
    return EXIT_OK


def _run_screen(feed: Feed, listener: Listener, server: Server, history: History, where: dict[str, str | None]) -> None:
    from ._screen import Screen

    keys = None
    if sys.stdin and sys.stdin.isatty() and os.environ.get("TERM", "dumb") != "dumb":
        from ._keys import Keys

        keys = Keys(sys.stdin.fileno())
    for name, value in where.items():
        if value:
            show(f"{name.replace('_', ' '):13} {value}")
    Screen(feed, listener, server, history, keys).run()


def _print_lines(feed: Feed, with_body: bool) -> NoReturn:
    """Print each webhook as a line of JSON, and what else there is to say on stderr."""
    while True:
        select.select([feed.reader], [], [])
        for item in feed.taken():
            if isinstance(item, str):
                show(f"billcore listen: {item}", sys.stderr)
            else:
                print(item.to_json(with_body=with_body), flush=True)


def _refuse_wrong(options: argparse.Namespace) -> None:
    if not re.fullmatch(r"/[!-~]*", options.path) or set("?#") & set(options.path):
        raise Failure(EXIT_USAGE, f"--path must be a path such as /webhooks, not {options.path!r}")
    if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", options.header):
        raise Failure(EXIT_USAGE, f"--header is not the name of a header: {options.header!r}")
    if options.history_bytes < _LEAST_HISTORY:
        raise Failure(EXIT_USAGE, f"--history-bytes must be at least {_LEAST_HISTORY}, the room of a large webhook")
    if options.retry and options.forward_to is None:
        raise Failure(EXIT_USAGE, "--retry needs --forward-to")


def _control(options: argparse.Namespace) -> str | None:
    """The control URL of the sandbox to register at; None: at no sandbox."""
    if options.sandbox is None and given(options):
        return None
    found: str | None = options.sandbox or os.environ.get(_CONTROL)
    if options.sandbox == "" and not found:
        raise Failure(
            EXIT_USAGE, f"--sandbox needs the control URL that the sandbox prints: pass it, or set {_CONTROL}"
        )
    return found or None


def _history(options: argparse.Namespace) -> Path:
    if options.history is not None:
        return local_path("--history", options.history)
    base = os.environ.get("XDG_STATE_HOME", "")  # a relative one is to be ignored, says its specification
    try:
        folder = Path(base) if base.startswith("/") else Path.home() / ".local" / "state"
    except RuntimeError:  # this user has no home
        raise Failure(EXIT_USAGE, "there is no home for the history: pass --history FILE") from None
    return folder / "billcore" / f"listen-{options.port}.ndjson"


def _url(host: str, port: int, path: str) -> str:
    """The URL for a sender on this machine."""
    reached = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://{f'[{reached}]' if ':' in reached else reached}:{port}{path}"


def _tell_waiting(server: Server) -> None:
    if count := server.pending:
        what = "1 webhook was" if count == 1 else f"{count} webhooks were"
        text = f"billcore listen: {what} not answered: the sender will send {'it' if count == 1 else 'them'} again"
        show(text, sys.stderr)


def _end(number: int, _: object) -> NoReturn:
    sys.exit(128 + number)  # the endpoint at the sandbox is removed, and the terminal restored
