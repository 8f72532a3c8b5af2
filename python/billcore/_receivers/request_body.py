"""Shared by from_asgi and from_wsgi: checks a body's size, detects a body that was already read, and verifies."""

from __future__ import annotations

from .._errors import InvalidArgumentError, SignatureError
from . import disconnected, kind_of, too_large

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing is slow
    from collections.abc import MutableMapping
    from typing import Any

    from .._webhook import AnyEvent, Verifier

_READ = "billcore.body_read"  # key that billcore sets in the scope or environ when it reads the body
INSTEAD = "let nothing read it before, or pass what was read to verifier.unwrap_request(body, headers)"


def declared_size(values: list[Any], verifier: Verifier) -> int | None:
    """Returns the Content-Length, or None; raises SignatureError if it is more than max_body."""
    size = None
    for value in values:
        text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
        if not (text.isascii() and text.isdigit() and len(text) <= 20) or size not in (None, int(text)):
            raise InvalidArgumentError("the Content-Length of the request is not one number of bytes")
        size = int(text)
    if size is not None and size > verifier.max_body:
        raise too_large(verifier, size)
    return size


def mark_read(request: MutableMapping[str, Any]) -> None:
    if request.get(_READ):
        raise already_read()
    request[_READ] = True


def append(body: bytearray, piece: object) -> None:
    if not isinstance(piece, (bytes, bytearray, memoryview)):
        raise InvalidArgumentError(f"the server gives the body as {kind_of(piece)}, not as bytes")
    body += piece


def unwrap(body: bytearray, size: int | None, headers: list[tuple[Any, Any]], verifier: Verifier) -> AnyEvent:
    """Verifies the body and returns its Event. `size` is the Content-Length of the request, or None."""
    if size is not None and len(body) < size:
        if not body:
            raise InvalidArgumentError(
                f"the body was already read, or the sender disconnected before it arrived: {INSTEAD}"
            )
        raise disconnected(
            f"the body ended after {len(body)} of {size} bytes: the sender disconnected, or a part was already read"
        )
    try:
        event = verifier.unwrap_request(body, headers)
    except SignatureError as error:
        # Without a Content-Length, a body that other code has already read looks like an empty body.
        if body or size is not None or error.reason != "mismatch":
            raise
        text = f"mismatch: the body is empty; if it was already read, {INSTEAD}"
        raise SignatureError("mismatch", error.http_status, text=text) from None
    event.require_claimable()
    return event


def already_read() -> InvalidArgumentError:
    return InvalidArgumentError(f"the body was already read: {INSTEAD}")
