"""Asks before a write, and says how to look up a write whose outcome is unknown."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ._command import EXIT_FAILED, EXIT_UNKNOWN, EXIT_USAGE, Failure, Parser, printable


def add_yes(parser: Parser) -> None:
    """Add the option --yes, for confirm()."""
    parser.add_argument("--yes", action="store_true", help="do not ask; needed in a pipe, unless the host is loopback")


def is_loopback(base_url: str) -> bool:
    """Whether the URL's host is this machine, by the same rule as the client's for http."""
    from ipaddress import IPv4Address
    from urllib.parse import urlsplit

    host = urlsplit(base_url).hostname or ""
    if host in ("localhost", "::1"):
        return True
    try:
        return IPv4Address(host).is_loopback
    except ValueError:
        return False


def confirm(base_url: str, what: str, *, yes: bool) -> None:
    """Ask on the terminal before a write to a host that is not loopback.

    Args:
        base_url: The URL of the account that is written to.
        what: What is done, in the imperative, such as "cancel subscription 480001".
        yes: The option --yes: do not ask.
    """
    if yes or is_loopback(base_url):
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Failure(EXIT_USAGE, f"to {what} at {base_url} without a terminal that can ask, pass --yes")
    ask(f"{what[0].upper()}{what[1:]} at {base_url}?")


def ask(question: str) -> None:
    """Ask a question on the terminal; anything but yes ends the command."""
    print(printable(question, sys.stderr), end=" [y/N] ", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Failure(EXIT_FAILED, "not confirmed: nothing was sent")


_KNOWN = ("nothing was sent", "it was refused", "it was done")  # in the notes of the client


@contextmanager
def writing(look_up: str) -> Iterator[None]:
    """A block with one write. If its outcome is unknown, the error says to look it up with this command.

    Ctrl-C becomes the exit status 4, unless the client's note says what happened. Without a note, Ctrl-C arrived just
    before or after the call, and nobody knows which.
    """
    try:
        yield
    except KeyboardInterrupt as error:
        notes = getattr(error, "__notes__", [])
        if any(known in note for note in notes for known in _KNOWN):
            raise
        failure = Failure(EXIT_UNKNOWN, notes[0] if notes else "interrupted: the write may or may not have happened")
        failure.add_note(f"look it up: {look_up}")
        raise failure from None
    except Exception as error:
        if getattr(error, "outcome_unknown", False):
            error.add_note(f"look it up: {look_up}")
        raise


@contextmanager
def done(what: str | None) -> Iterator[None]:
    """A block that prints the result of a write. If that fails (a full disk, Ctrl-C), the error says what was done."""
    try:
        yield
        sys.stdout.flush()
    except (OSError, KeyboardInterrupt) as error:
        if what is not None:
            error.add_note(f"this was done before: {what}")
        raise
