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
    """Whether the URL names this machine. The client has the same rule for a URL with http."""
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
    if not is_loopback(base_url):
        confirm_here(f"{what} at {base_url}", yes=yes, otherwise="nothing was sent")


def require_terminal(what: str) -> None:
    """Refuse what confirm_here() would refuse in a pipe, for a command that sends requests before it asks."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise Failure(EXIT_USAGE, f"to {what} without a terminal that can ask, pass --yes")


def confirm_here(what: str, *, yes: bool, otherwise: str) -> None:
    """Ask on the terminal, wherever the account is; anything but yes ends the command.

    Args:
        what: What is done, in the imperative.
        yes: The option --yes: do not ask.
        otherwise: What the answer no means, such as "nothing was deleted".
    """
    if yes:
        return
    require_terminal(what)
    print(printable(f"{what[0].upper()}{what[1:]}?", sys.stderr), end=" [y/N] ", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise Failure(EXIT_FAILED, f"not confirmed: {otherwise}")


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
