"""The signing secrets of a webhook endpoint: from files or from the environment, never from an argument."""

from __future__ import annotations

import argparse
import os

from ._command import EXIT_USAGE, Failure, Parser

VARIABLE = "BILLCORE_WEBHOOK_SECRET"
_LENGTH = 32
_MOST_READ = 4096  # bytes of a file; no secret is as long


def add_secrets(parser: Parser) -> None:
    """Add the option that names the files, for given() and secrets_of()."""
    parser.add_argument(
        "--secret-file",
        metavar="FILE",
        action="append",
        help=f"a file with the endpoint's secret, without a line end (default: {VARIABLE}); repeat it for the old "
        "secret while you replace one",
    )


def given(options: argparse.Namespace) -> list[tuple[str, bytes]]:
    """Where each secret is from, and its bytes, unchecked. Empty if none is given."""
    if options.secret_file is None:
        found = os.environb.get(VARIABLE.encode())
        return [] if found is None else [(VARIABLE, found)]
    return [(f"--secret-file: {name}", _read(name)) for name in options.secret_file]


def secrets_of(options: argparse.Namespace) -> list[bytes]:
    """The secrets that a verifier takes; refuses what is none, without showing it."""
    found = given(options)
    if not found:
        raise Failure(EXIT_USAGE, f"there is no secret: pass --secret-file FILE, or set {VARIABLE}")
    return [checked(*each) for each in found]


def checked(where: str, secret: bytes) -> bytes:
    """The secret. Refuses another length, because the library would refuse it in the user's receiver too."""
    if len(secret) == _LENGTH:
        return secret
    length = "no bytes" if not secret else f"{len(secret)} bytes" if len(secret) < _MOST_READ else "too many bytes"
    if secret.rstrip(b"\r\n") != secret:
        why = "it ends with a line end, which is no part of the secret: write it with printf %s"
    elif secret.strip() != secret:
        why = "white space is around the secret: remove it"
    else:
        why = "copy the secret from the admin UI"
    raise Failure(EXIT_USAGE, f"{where} has {length}, not {_LENGTH}: {why}")


def _read(name: str) -> bytes:
    try:
        with open(name, "rb") as file:
            return file.read(_MOST_READ)
    except OSError as error:
        raise Failure(EXIT_USAGE, f"--secret-file: {name} cannot be read: {error.strerror}") from None
    except ValueError:  # a NUL in the name
        raise Failure(EXIT_USAGE, "--secret-file is not the name of a file") from None
