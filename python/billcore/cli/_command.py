"""What the commands share: the parser, the options that name the account, and the exit status of an error."""

from __future__ import annotations

import argparse
import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TextIO

if TYPE_CHECKING:
    from .. import Client

EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_MISSED, EXIT_UNKNOWN, EXIT_NOT_REACHED, EXIT_INTERRUPTED = 0, 1, 2, 3, 4, 5, 130


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that prints each error as one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_USAGE, f"{self.prog}: {message} (see {self.prog} --help)\n")


class Failure(Exception):
    """Ends a command: the text is printed as one line, and `status` becomes the exit status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


def local_path(option: str, text: str) -> Path:
    """The path that an option names. Refuses what means a place elsewhere: Path would make it a folder of that name."""
    if not text:
        raise Failure(EXIT_USAGE, f"{option} is empty: name a file or a folder")
    if text == "-":
        raise Failure(EXIT_USAGE, f"{option} is -, and files are not written to a pipe: name a file or a folder")
    if text.startswith("~"):
        raise Failure(EXIT_USAGE, f"{option} is {text}, and no shell has replaced the ~: write the whole path")
    if found := re.match(r"file:(?://[^/]*)?(/.*)", text):
        raise Failure(EXIT_USAGE, f"{option} is a URL: write the path itself, {found[1]}")
    if found := re.match(r"[^/]+:(?=[/\\])", text):  # the rest may have a signature, and is not shown
        raise Failure(
            EXIT_USAGE,
            f"{option} begins with {found[0]}, which is not on this computer: export into a folder here, then copy it "
            "with the store's own program, *.json last (for a folder here of this name, write ./ before it)",
        )
    return Path(text)


def client_of(options: argparse.Namespace) -> Client:
    """The client for the options --base-url and --api-key-file."""
    from .. import Client

    if options.base_url == "":  # the client would take BILLCORE_BASE_URL, which may be that of another account
        raise Failure(EXIT_USAGE, "--base-url is empty: pass a URL, or leave the option out for BILLCORE_BASE_URL")
    file: Path | None = options.api_key_file
    try:
        key = None if file is None else file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise Failure(EXIT_USAGE, f"--api-key-file: {file} cannot be read: {_text(error)}") from None
    if key == "":
        raise Failure(EXIT_USAGE, f"--api-key-file: {file} is empty: write the key into it")
    return Client(base_url=options.base_url, api_key=key)


def guarded(prog: str, command: Callable[[], int]) -> int:
    """Run a command. Prints an error and its notes on stderr, a line each, and returns the exit status.

    If the program that reads the output has ended, such as `head`, SIGPIPE ends this process, as usual in a pipe.
    """
    try:
        try:
            return command()
        finally:
            print(end="", flush=True)  # a failed write raises its error here, not at the exit of the interpreter
    except BrokenPipeError:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.raise_signal(signal.SIGPIPE)
        raise
    except (Exception, KeyboardInterrupt) as error:
        status = _status(error)
        if status is None:
            raise
        for line in (_text(error), *getattr(error, "__notes__", ())):
            show(f"{prog}: {line}", sys.stderr)
        return status


def show(line: str, file: TextIO | None = None) -> None:
    """Print one line. Escapes replace what would end the line, command the terminal, or cannot be encoded."""
    file = file or sys.stdout
    encoding = file.encoding or "utf-8"
    line = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in line)
    print(line.encode(encoding, "backslashreplace").decode(encoding), file=file)


def _text(error: BaseException) -> str:
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def _status(error: BaseException) -> int | None:
    """The exit status for an error; None for a defect of this program."""
    from .. import _errors as errors

    if isinstance(error, Failure):
        return error.status
    if isinstance(error, KeyboardInterrupt):
        return EXIT_INTERRUPTED
    if isinstance(error, (errors.ConfigError, errors.InvalidArgumentError)):
        return EXIT_USAGE
    if getattr(error, "outcome_unknown", False):
        return EXIT_UNKNOWN
    if isinstance(error, errors.TransportError):
        return EXIT_NOT_REACHED
    return EXIT_FAILED if isinstance(error, (errors.BillcoreError, OSError)) else None
