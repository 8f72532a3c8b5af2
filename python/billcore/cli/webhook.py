"""`billcore webhook`: verifies, explains, signs and sends webhooks, with the exact bytes of their bodies."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ._ask import add_yes
from ._command import EXIT_FAILED, EXIT_OK, EXIT_USAGE, Failure, Parser, run, show
from ._secrets import add_secrets, given, secrets_of

_MAX_BODY = 1 << 20  # as Verifier's
_MOST_EXPLAINED = 16 << 20  # bytes: explain() has something to say of bodies over max_body, too


def parser() -> Parser:
    """The parser of the command."""
    made = Parser(
        prog="billcore webhook",
        description="Verify, explain, sign and send webhooks. The body is read and sent byte for byte.",
    )
    verify = made.command(
        "verify",
        _verify,
        "Check the signature of a webhook's body. Exit status 1: it is wrong.",
        "billcore webhook verify --signature 5f0c… body.json\n"
        "billcore webhook verify --secret-file secret.txt --signature 5f0c… - < body.json",
    )
    explain = made.command(
        "explain",
        _explain,
        "Say in words why a signature is refused. Tries the usual mistakes, without a network. Exit status 1: the "
        "signature is wrong.",
        "billcore webhook explain --signature 5f0c… body.json",
    )
    for each in (verify, explain):
        each.add_argument("file", metavar="FILE", help="the raw body; - reads it from stdin")
        each.add_argument("--signature", metavar="S", required=True, help="the value of the signature header")
        add_secrets(each)
        each.add_argument("--json", action="store_true", help="print the result as one JSON object")
    verify.add_argument("--max-body", type=_size, default=_MAX_BODY, metavar="BYTES", help="as Verifier's (1048576)")
    sign = made.command(
        "sign",
        _sign,
        "Print the signature that the service would send with a body. For tests of your receiver.",
        "billcore webhook sign body.json",
    )
    sign.add_argument("file", metavar="FILE", help="the body; - reads it from stdin")
    sign.add_argument("--json", action="store_true", help="print the signature as a JSON object")
    add_secrets(sign)
    _add_send(made)
    return made


def _add_send(made: Parser) -> None:
    send = made.command(
        "send",
        _send,
        "Sign a webhook, POST it to your receiver, and show the answer. The body is a sample event or that of a file. "
        "A host that is not loopback needs your consent. Exit status 1: the receiver refused it, 4: it may or may not "
        "have got it, 5: it was not reached.",
        "billcore webhook send http://127.0.0.1:8000/webhooks --event order.paid\n"
        "billcore webhook send http://127.0.0.1:8000/webhooks --file body.json",
    )
    send.add_argument("url", metavar="URL", help="your receiver's URL")
    body = send.add_mutually_exclusive_group()
    body.add_argument("--event", metavar="NAME", help="send a sample of this event (test.hook)")
    body.add_argument("--file", metavar="FILE", help="send the body in this file; - reads it from stdin")
    send.add_argument("--header", metavar="NAME", default="Service-Signature", help="the name of the signature header")
    send.add_argument("--timeout", metavar="SECONDS", type=_seconds, default=30.0, help="for the whole answer (30)")
    send.add_argument(
        "--dry-run", action="store_true", help="send nothing: print the body, and the signature on stderr"
    )
    send.add_argument("--json", action="store_true", help="print the answer as one JSON object")
    add_secrets(send)
    add_yes(send)


def main(arguments: Sequence[str]) -> int:
    """Run the command; returns the exit status."""
    return run(parser(), arguments)


def _size(text: str) -> int:
    number = int(text)
    if not 0 < number < 1 << 31:
        raise ValueError(text)
    return number


def _seconds(text: str) -> float:
    number = float(text)
    if not 0 < number <= 3600:
        raise ValueError(text)
    return number


_size.__name__ = "number of bytes"  # argparse names the type in its error
_seconds.__name__ = "number of seconds"


def _verify(options: argparse.Namespace) -> int:
    from .._webhook import Verifier

    verifier = Verifier(secrets_of(options), max_body=options.max_body)
    body = body_of(options.file, options.max_body)
    try:
        index = verifier.verify(body, options.signature).secret_index
    except Exception as error:
        reason = getattr(error, "reason", None)
        if not options.json or reason is None:
            raise
        _print_json(verified=False, reason=reason, secret_index=None)
        return EXIT_FAILED
    if options.json:
        _print_json(verified=True, reason=None, secret_index=index)
    else:
        count = len(options.secret_file or ())
        print("the signature is right" + (f": secret {index + 1} of {count}" if count > 1 else ""))
    return EXIT_OK


def _explain(options: argparse.Namespace) -> int:
    from .._errors import BillcoreError
    from .._webhook import Verifier, explain

    secrets = [secret for _, secret in given(options)]
    if not secrets:
        secrets_of(options)
    body = body_of(options.file, _MOST_EXPLAINED)
    text, is_right = explain(body, options.signature, secrets), True
    try:
        Verifier(secrets).verify(body, options.signature)
    except BillcoreError:
        is_right = False
    if options.json:
        _print_json(verified=is_right, explanation=text)
    else:
        for line in text.splitlines():
            show(line)
    return EXIT_OK if is_right else EXIT_FAILED


def _sign(options: argparse.Namespace) -> int:
    from .._webhook import sign

    if len(options.secret_file or ()) > 1:
        raise Failure(EXIT_USAGE, "a webhook is signed with one secret: pass one --secret-file")
    [secret] = secrets_of(options)
    found = sign(body_of(options.file, _MOST_EXPLAINED), secret)
    if options.json:
        _print_json(signature=found)
    else:
        print(found)
    return EXIT_OK


def _print_json(**members: object) -> None:
    import json  # late, because `verify` is to start fast

    print(json.dumps(members))


def _send(options: argparse.Namespace) -> int:
    from ._send import send

    return send(options)


def body_of(name: str, most: int) -> bytes:
    """The bytes of a file, or of stdin for the name -; refuses more than `most`."""
    try:
        if name == "-":
            body = sys.stdin.buffer.read(most + 1) if sys.stdin else b""
        else:
            with open(name, "rb") as file:
                body = file.read(most + 1)
    except OSError as error:
        raise Failure(EXIT_FAILED, f"{name} cannot be read: {error.strerror}") from None
    except ValueError:  # a NUL in the name
        raise Failure(EXIT_USAGE, "FILE is not the name of a file") from None
    if len(body) > most:
        where = "stdin" if name == "-" else name
        raise Failure(EXIT_FAILED, f"body_too_large: {where} has over {most} bytes, which a verifier refuses")
    return body
