"""What the commands share: the parser, the options that name the account, and the exit status of an error."""

from __future__ import annotations

import argparse
import re
import sys
from contextlib import suppress

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing and pathlib takes as long as importing argparse
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from typing import Any, NoReturn, TextIO

    from .. import Client
    from ._profile import Account

EXIT_OK, EXIT_FAILED, EXIT_USAGE, EXIT_MISSED, EXIT_UNKNOWN, EXIT_NOT_REACHED, EXIT_INTERRUPTED = 0, 1, 2, 3, 4, 5, 130


class _Formatter(argparse.HelpFormatter):
    """Wraps a description. A text of several lines, such as the examples, stays as it is."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that prints each error as one line.

    Args:
        examples: Commands that --help shows, a line each; tests/cli/test_examples.py runs them.
    """

    def __init__(self, *, examples: str = "", **more: Any) -> None:
        self.examples = examples.splitlines()
        if examples:
            more["epilog"] = "\n".join(["examples:", *(f"  {line}" for line in self.examples)])
        super().__init__(allow_abbrev=False, formatter_class=_Formatter, **more)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Refuse unknown arguments, in the name of the sub-command. Their values are not shown, as one may be a key."""
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            names = [each.partition("=")[0] for each in unknown if each.startswith("--")]
            self.error(f"unrecognized arguments: {' '.join(names) or f'{len(unknown)} more than the command takes'}")
        return options, unknown

    def error(self, message: str) -> NoReturn:
        self.exit(EXIT_USAGE, f"{printable(f'{self.prog}: {message} (see {self.prog} --help)', sys.stderr)}\n")

    def command(self, name: str, run: Callable[[argparse.Namespace], int], about: str, examples: str) -> Parser:
        """Add a sub-command, which run() calls as `run`. `about` is its description: one sentence or more."""
        if self._subparsers is None:
            self._commands = self.add_subparsers(dest="action", required=True, metavar="ACTION")
        first = about.partition(". ")[0].removesuffix(".")
        made = self._commands.add_parser(name, help=first[0].lower() + first[1:], description=about, examples=examples)
        made.set_defaults(run=run)
        return made


def run(parser: Parser, arguments: Sequence[str]) -> int:
    """Parse the arguments and run the sub-command; returns the exit status."""
    options = parser.parse_args(arguments)
    status: int = options.run(options)
    return status


def add_account(parser: Parser) -> None:
    """Add the options that name the account, for client_of()."""
    group = parser.add_argument_group("account")
    group.add_argument("--profile", metavar="NAME", help="a profile of `billcore profile`")
    group.add_argument("--base-url", metavar="URL", help="the account's URL (default: BILLCORE_BASE_URL)")
    group.add_argument("--api-key-file", metavar="FILE", help="a file with the API key (default: BILLCORE_API_KEY)")


def of_account(options: argparse.Namespace) -> str:
    """The options of add_account() as they were given, to be appended to a command that a text names."""
    import shlex

    given = {"--profile": options.profile, "--base-url": options.base_url, "--api-key-file": options.api_key_file}
    return "".join(f" {name} {shlex.quote(str(value))}" for name, value in given.items() if value is not None)


def add_id(parser: Parser, what: str) -> None:
    """Add the argument ID, for id_of(). An id that begins with a dash is given as --id=-5, or after --."""
    parser.add_argument("id_argument", metavar="ID", nargs="?", help=what)
    parser.add_argument("--id", dest="id_option", metavar="ID", help="the same, for an id that begins with a dash")


def id_of(options: argparse.Namespace) -> str:
    """The id that was given, in either way."""
    given = [each for each in (options.id_argument, options.id_option) if each is not None]
    if len(given) != 1 or not given[0]:
        raise Failure(EXIT_USAGE, "pass one id: as the argument ID, or as --id=ID if it begins with a dash")
    found: str = given[0]
    return found


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
    from pathlib import Path

    return Path(text)


def client_of(options: argparse.Namespace) -> Client:
    """The client for the options of add_account()."""
    from ._profile import account_of

    return client_for(account_of(options))


def client_for(account: Account) -> Client:
    """The client for an account."""
    from .. import Client

    return Client(base_url=account.base_url, api_key=account.api_key)


def prepare_streams() -> None:
    """Make streams of those that the caller closed, and let stdout print any text, as stderr does."""
    import io
    import os

    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115 (open until the process ends)
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _flush() -> None:
    """Write what is buffered. Otherwise a failed write would raise its error at the exit of the interpreter."""
    print(end="", flush=True)


def guarded(prog: str, command: Callable[[], int]) -> int:
    """Run a command. Prints an error and its notes on stderr, a line each, and returns the exit status.

    If the program that reads the output has ended, such as `head`, SIGPIPE ends this process, as usual in a pipe.
    """
    try:
        try:
            status = command()
        except BaseException:
            with suppress(OSError):
                _flush()
            raise
        _flush()
        return status
    except BrokenPipeError:
        import signal

        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.raise_signal(signal.SIGPIPE)
        raise
    except (Exception, KeyboardInterrupt) as error:
        failed = _status(error)
        if failed is None:
            raise
        with suppress(OSError):  # the status says it too, where stderr is a file on a full disk
            for line in (_text(error), *getattr(error, "__notes__", ())):
                show(f"{prog}: {line}", sys.stderr)
        return failed


def printable(text: str, file: TextIO) -> str:
    """The text as one line. Escapes replace what would end the line, command the terminal, or cannot be encoded."""
    encoding = file.encoding or "utf-8"
    if not text.isprintable():
        text = "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
    return text if text.isascii() else text.encode(encoding, "backslashreplace").decode(encoding)


def show(line: str, file: TextIO | None = None) -> None:
    """Print one line; see printable()."""
    file = file or sys.stdout
    print(printable(line, file), file=file)


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
