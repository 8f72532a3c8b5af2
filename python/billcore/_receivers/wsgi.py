"""webhooks.from_wsgi: reads the body of a WSGI request to its end."""

from __future__ import annotations

from .._durations import seconds
from .._errors import InvalidArgumentError
from . import DisconnectedError, check_verifier, disconnected, is_mapping, kind_of, timed_out, too_large
from .request_body import already_read, append, declared_size, mark_read, unwrap

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing is slow
    from typing import Any

    from .._webhook import AnyEvent, Verifier

_PIECE = 64 << 10


def from_wsgi(environ: dict[str, Any], verifier: Verifier, *, timeout: float | None = 10.0) -> AnyEvent:
    """Read the body of a WSGI request, up to verifier.max_body, and return its Event.

    `environ` is the argument of the WSGI application: request.environ in Flask, request.META in Django. from_wsgi
    raises the errors of Verifier.unwrap, and those of Event.require_claimable. If other code has already read the body
    (request.form, request.body, a middleware), from_wsgi raises InvalidArgumentError on production servers and on the
    development servers of Flask and Django. On wsgiref's own server, from_wsgi cannot detect that the body was read,
    and waits until the sender disconnects. If the body ends early, from_wsgi raises SignatureError with the reason
    `disconnected`, which is also a ConnectionError. `timeout` is the time limit in seconds for the whole body; None:
    no limit. If the body does not arrive in time, from_wsgi raises SignatureError with the reason `timeout`, which is
    also a TimeoutError. gunicorn and Werkzeug's server give their socket to the application; on other servers
    from_wsgi ignores `timeout`, and the time limit of the server applies.
    Service interface: Events.
    """
    check_verifier(verifier)
    if timeout is not None:
        timeout = seconds(timeout, "timeout", "None for no limit")
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
    unsized = verifier.max_body + 1 if terminated else 0
    limit = unsized if size is None else size
    body = _read_body(timeout, environ, limit) if limit else bytearray()
    if len(body) > verifier.max_body:
        raise too_large(verifier)
    signature = environ.get("HTTP_" + verifier.header.upper().replace("-", "_"))
    return unwrap(body, size, [(verifier.header, signature)], verifier)


def _read_body(timeout: float | None, environ: dict[str, Any], limit: int) -> bytearray:
    stream, given = environ["wsgi.input"], environ.get("gunicorn.socket") or environ.get("werkzeug.socket")
    if given is None:
        return _read(stream, limit)
    from . import server_socket

    connection = server_socket.duplicate(given)
    try:
        body = _read(stream, limit) if timeout is None else _read_within(timeout, connection, stream, limit)
        if not body and environ.get("CONTENT_LENGTH") and server_socket.has_ended(connection):
            raise disconnected("the sender disconnected before the body")
        return body
    finally:
        connection.close()


def _read_within(timeout: float, connection: Any, stream: Any, limit: int) -> bytearray:
    from .server_socket import limiter

    limiting = limiter()
    deadline = limiting.begin(connection, timeout)
    try:
        body = _read(stream, limit)
    except DisconnectedError:
        if not deadline.is_over:
            raise
        body = bytearray()
    finally:
        limiting.end(deadline)
    if deadline.is_over and len(body) < limit:
        raise timed_out(timeout)
    return body


def _read(stream: Any, limit: int) -> bytearray:
    body = bytearray()
    while len(body) < limit:
        try:
            piece = stream.read(min(limit - len(body), _PIECE))
        except Exception as error:  # for a broken chunk, some servers raise an error that is not an OSError
            raise disconnected(f"reading the body failed after {len(body)} bytes ({type(error).__name__})") from error
        if not piece:
            break
        append(body, piece)
    return body
