"""`billcore profile`: keeps the URLs and keys of accounts."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

from . import _profile
from ._command import EXIT_FAILED, EXIT_OK, EXIT_USAGE, Failure, Parser, local_path, run, show
from ._database import connector
from ._output import Shape, add_list_output, print_rows

if TYPE_CHECKING:
    from .. import Client

_MOST_READ = 64 << 10  # bytes of stdin; no key is as long
_KEPT = ("base_url", "journal")
_SHAPE = Shape(("name", "in_use", *_KEPT, "key"), ("name", "in_use", *_KEPT, "key"))


def parser() -> Parser:
    """The parser of the command."""
    made = Parser(
        prog="billcore profile",
        description="Keep the URLs and keys of accounts. A command uses the profile of --profile, or else "
        "BILLCORE_BASE_URL and BILLCORE_API_KEY, or else the profile in use.",
    )
    command = made.command(
        "add",
        _add,
        "Add a profile. Its key is asked for on a terminal, and read from stdin in a pipe. The first one is in use.",
        "billcore profile add test --base-url http://127.0.0.1:8080/ACCOUNT < key.txt\n"
        "billcore profile add live --base-url https://billing.example/ACCOUNT --journal charges.db < key.txt",
    )
    command.add_argument("name", metavar="NAME", help="letters, digits, and . _ - inside")
    command.add_argument("--base-url", metavar="URL", required=True, help="the account's URL")
    command.add_argument(
        "--journal",
        metavar="FILE|URL",
        help="where charges are recorded: a SQLite file, which is made if it is missing, or the URL of a database",
    )
    command.add_argument("--keyring", action="store_true", help="keep the key in the desktop's keyring, not in a file")
    command.add_argument(
        "--replace", action="store_true", help="replace the profile of this name; it keeps its journal"
    )
    command.add_argument("--json", action="store_true", help="print the profile as one line of JSON, without its key")

    command = made.command("list", _list, "List the profiles.", "billcore profile list")
    add_list_output(command)
    for name, action, about in (
        ("use", _use, "Use this profile where no other account is named."),
        ("remove", _remove, "Remove a profile and its key. The file of its journal remains."),
    ):
        command = made.command(name, action, about, f"billcore profile {name} test")
        command.add_argument("name", metavar="NAME")
        command.add_argument("--json", action="store_true", help="print the name as JSON")
    return made


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    return run(parser(), arguments)


def _add(options: argparse.Namespace) -> int:
    from .. import Client

    path = _profile.path_of(options.name)
    taken = Failure(EXIT_USAGE, f"there is a profile {options.name}: pass --replace, or choose another name")
    former: dict[str, Any] = {}
    if path.exists():
        if not options.replace:
            raise taken
        former = _profile.read(options.name)
    kept = {"base_url": options.base_url}
    key = _asked_key(options.name)
    with Client(base_url=options.base_url, api_key=key) as client:  # refuses a wrong URL, and what cannot be a key
        if options.journal is not None:
            kept["journal"] = _journal(options.journal, client)
        elif "journal" in former:  # in another one, the charges that this one knows would be made again
            kept["journal"] = former["journal"]
    if options.keyring:
        _profile.keyring("set_password", options.name, key)
    else:
        kept["api_key"] = key
    try:
        _profile.write(path, json.dumps(kept), replace=options.replace)
    except FileExistsError:
        raise taken from None
    if _profile.in_use() is None:
        _profile.use(options.name)
    return _tell(options, f"added in {path}: billcore doctor --profile {options.name} checks it")


def _asked_key(name: str) -> str:
    if sys.stdin.isatty():
        from getpass import getpass

        key = getpass(f"API key of {name} (not shown): ", sys.stderr).strip()
    else:
        try:
            given = sys.stdin.buffer.read(_MOST_READ + 1).decode()
        except UnicodeDecodeError:
            raise Failure(EXIT_USAGE, "the key in stdin is not UTF-8") from None
        if len(given) > _MOST_READ:
            raise Failure(EXIT_USAGE, "stdin is too long for a key: pass the key alone, as in < key.txt")
        key = given.strip()
    if not key:
        raise Failure(EXIT_USAGE, "no key was given: type it, or pass it in stdin, as in < key.txt")
    return key


def _journal(given: str, client: Client) -> str:
    """The journal to write into the profile. A file is made if it is missing, and must be a journal."""
    if re.match(r"postgres(ql)?://", given):
        connector(given, "--journal", "")  # refuses a password, and what is no URL of PostgreSQL
        return given
    import sqlite3

    from ..journal import Journal, JournalError, schema

    path = local_path("--journal", given).absolute()
    try:
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))
            with closing(sqlite3.connect(path)) as made:
                made.executescript(schema("sqlite"))
        Journal(lambda: sqlite3.connect(path), client).open()
    except (sqlite3.Error, JournalError) as error:
        raise Failure(EXIT_FAILED, f"--journal: {path} is not a journal: {error}") from None
    return str(path)


def _list(options: argparse.Namespace) -> int:
    used = _profile.in_use()
    rows = []
    for name in _profile.names():
        kept = _profile.read(name)
        key = "file" if "api_key" in kept else "keyring"
        rows.append({"name": name, "in_use": name == used, **{each: kept.get(each) for each in _KEPT}, "key": key})
    print_rows(rows, _SHAPE, options)
    if not rows:
        show("no profiles yet: run billcore profile add", sys.stderr)
    return EXIT_OK


def _use(options: argparse.Namespace) -> int:
    _profile.read(options.name)
    _profile.use(options.name)
    hidden = [name for name in ("BILLCORE_BASE_URL", "BILLCORE_API_KEY") if os.environ.get(name)]
    if hidden:
        show(f"{' and '.join(hidden)} in the environment still come first: unset them to use the profile", sys.stderr)
    return _tell(options, "in use")


def _remove(options: argparse.Namespace) -> int:
    _profile.forget(options.name)
    return _tell(options, "removed")


def _tell(options: argparse.Namespace, what: str) -> int:
    if options.json:
        print(json.dumps({"name": options.name, "in_use": _profile.in_use() == options.name}))
    else:
        show(f"{options.name}: {what}")
    return EXIT_OK
