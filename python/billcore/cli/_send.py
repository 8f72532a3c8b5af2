"""`billcore webhook send`: signs a body and POSTs it to a receiver."""

from __future__ import annotations

import argparse
import json
import re
import sys

from .._errors import InvalidArgumentError
from .._webhook import sign
from ._ask import confirm
from ._command import EXIT_FAILED, EXIT_NOT_REACHED, EXIT_OK, EXIT_UNKNOWN, EXIT_USAGE, Failure, show
from ._secrets import secrets_of
from ._target import NoAnswerError, NotSentError, Target

USER_AGENT = "Service/1.0"  # as the service's
_MOST_SENT = 16 << 20  # bytes: a receiver is to be tried with a body that is too large, too


def send(options: argparse.Namespace) -> int:
    """Run the sub-command; returns the exit status."""
    target = Target("URL", options.url)
    if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", options.header):
        raise Failure(EXIT_USAGE, f"--header is not the name of a header: {options.header!r}")
    if len(options.secret_file or ()) > 1:
        raise Failure(EXIT_USAGE, "a webhook is signed with one secret: pass one --secret-file")
    [secret] = secrets_of(options)
    body = _body(options)
    headers = {"Content-Type": "application/json", "User-Agent": USER_AGENT, options.header: sign(body, secret)}
    if options.dry_run:
        show(f"{options.header}: {headers[options.header]}", sys.stderr)
        sys.stdout.buffer.write(body)
        return EXIT_OK
    confirm(options.url, "send a webhook", yes=options.yes)
    try:
        answer = target.post(body, headers, options.timeout)
    except NotSentError as error:
        raise Failure(EXIT_NOT_REACHED, str(error)) from None
    except NoAnswerError as error:
        raise Failure(EXIT_UNKNOWN, f"the receiver may or may not have handled the webhook: {error}") from None
    if options.json:
        print(json.dumps({"status": answer.status, "ms": round(answer.ms, 1), "body": answer.text}))
    else:
        show(f"{answer.status}  {answer.ms:.0f} ms  {answer.text}".rstrip())
    return EXIT_OK if 200 <= answer.status < 300 else EXIT_FAILED


def _body(options: argparse.Namespace) -> bytes:
    if options.file is not None:
        from .webhook import body_of

        return body_of(options.file, _MOST_SENT)
    from ..testing import event

    try:
        return event(options.event or "test.hook")[0]
    except InvalidArgumentError as error:
        raise Failure(EXIT_USAGE, str(error).replace(", or pass data=", "")) from None
