"""webhooks.from_wsgi: reads the body of a WSGI request to its end."""

from __future__ import annotations

from .._errors import ConnectionError, InvalidArgumentError
from . import check_verifier, is_mapping, kind_of, too_large
from .request_body import already_read, append, declared_size, mark_read, unwrap

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing is slow
    from typing import Any

    from .._webhook import AnyEvent, Verifier

_PIECE = 64 << 10


def from_wsgi(environ: dict[str, Any], verifier: Verifier) -> AnyEvent:
    """Read the body of a WSGI request, up to verifier.max_body, and return its Event. Raises like Verifier.unwrap.

    `environ` is the argument of the WSGI application: request.environ in Flask, request.META in Django. If other code
    has already read the body (request.form, request.body, a middleware), from_wsgi raises InvalidArgumentError on
    production servers and on the development servers of Flask and Django. On wsgiref's own server, from_wsgi cannot
    detect that the body was read, and waits until the sender disconnects. If the body ends early, from_wsgi raises
    ConnectionError.
    Service interface: Events.
    """
    check_verifier(verifier)
    if not is_mapping(environ) or "wsgi.input" not in environ:
        raise InvalidArgumentError(f"environ must be the WSGI environ (request.environ), not {kind_of(environ)}")
    length = environ.get("CONTENT_LENGTH")
    size = declared_size([] if length in (None, "") else [length], verifier)
    terminated = bool(environ.get("wsgi.input_terminated"))
    if size is None and not terminated and environ.get("HTTP_TRANSFER_ENCODING"):
        raise InvalidArgumentError(
            "the server does not say where the body ends (no CONTENT_LENGTH, no wsgi.input_terminated): "
            "pass it to verifier.unwrap_request(body, headers)"
        )
    # If Werkzeug's request has a stream, the body was already read. On Werkzeug's own server a second read would block.
    if "stream" in getattr(environ.get("werkzeug.request"), "__dict__", ()):
        raise already_read()
    mark_read(environ)
    if size is None:
        body = _read(environ["wsgi.input"], verifier.max_body + 1 if terminated else 0)
    else:
        body = _read(environ["wsgi.input"], size)
    if len(body) > verifier.max_body:
        raise too_large(verifier)
    signature = environ.get("HTTP_" + verifier.header.upper().replace("-", "_"))
    return unwrap(body, size, [(verifier.header, signature)], verifier)


def _read(stream: Any, limit: int) -> bytearray:
    body = bytearray()
    while len(body) < limit:
        try:
            piece = stream.read(min(limit - len(body), _PIECE))
        except OSError as error:
            raise ConnectionError(f"reading the body failed after {len(body)} bytes") from error
        if not piece:
            break
        append(body, piece)
    return body
