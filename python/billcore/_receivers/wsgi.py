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
    body = _read_within(timeout, environ, limit) if limit else bytearray()
    if len(body) > verifier.max_body:
        raise too_large(verifier)
    signature = environ.get("HTTP_" + verifier.header.upper().replace("-", "_"))
    return unwrap(body, size, [(verifier.header, signature)], verifier)


def _read_within(timeout: float | None, environ: dict[str, Any], limit: int) -> bytearray:
    server_socket = environ.get("gunicorn.socket") or environ.get("werkzeug.socket")
    if server_socket is None:
        return _read(environ["wsgi.input"], limit)
    import _socket  # not `socket`, whose methods gevent and TLS replace by others
    import os

    connection = _socket.socket(fileno=os.dup(server_socket.fileno()))
    try:
        body = _read_from(connection, timeout, environ["wsgi.input"], limit)
        if not body and environ.get("CONTENT_LENGTH") and _has_ended(connection):
            raise disconnected("the sender disconnected before the body")
        return body
    finally:
        connection.close()


def _read_from(connection: Any, timeout: float | None, stream: Any, limit: int) -> bytearray:
    if timeout is None:
        return _read(stream, limit)
    limiter = _limiter()
    deadline = limiter.begin(connection, timeout)
    try:
        body = _read(stream, limit)
    except DisconnectedError:
        if not deadline.is_over:
            raise
        body = bytearray()
    finally:
        limiter.end(deadline)
    if deadline.is_over and len(body) < limit:
        raise timed_out(timeout)
    return body


def _has_ended(connection: Any) -> bool:
    import _socket

    try:
        return not connection.recv(1, _socket.MSG_PEEK | _socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True


def _read(stream: Any, limit: int) -> bytearray:
    body = bytearray()
    while len(body) < limit:
        try:
            piece = stream.read(min(limit - len(body), _PIECE))
        except OSError as error:
            raise disconnected(f"reading the body failed after {len(body)} bytes") from error
        if not piece:
            break
        append(body, piece)
    return body


class _Deadline:
    def __init__(self, at: float, connection: Any) -> None:
        self.at = at
        self.connection = connection
        self.is_over = False


class _Limiter:
    """Ends reads whose time is over.

    A time limit of the socket would begin again with each byte. All requests of a process share one thread, because a
    thread for each request takes longer than the check of the signature.
    """

    def __init__(self, process: int) -> None:
        import threading
        import time

        self.process = process
        self._now = time.monotonic
        self._changed = threading.Condition()
        self._deadlines: set[_Deadline] = set()
        self._wakes_at = float("inf")
        threading.Thread(target=self._run, name="billcore-wsgi", daemon=True).start()

    def begin(self, connection: Any, timeout: float) -> _Deadline:
        deadline = _Deadline(self._now() + timeout, connection)
        with self._changed:
            self._deadlines.add(deadline)
            if deadline.at < self._wakes_at:
                self._changed.notify()
        return deadline

    def end(self, deadline: _Deadline) -> None:
        """From here on, the thread does not use the connection."""
        with self._changed:
            self._deadlines.discard(deadline)

    def _run(self) -> None:
        with self._changed:
            while True:
                now = self._now()
                for deadline in [one for one in self._deadlines if one.at <= now]:
                    self._deadlines.remove(deadline)
                    deadline.is_over = True
                    try:  # noqa: SIM105  contextlib is slow to import
                        deadline.connection.shutdown(0)  # for reading only: the answer can still be sent
                    except OSError:
                        pass  # the sender has disconnected
                self._wakes_at = min((one.at for one in self._deadlines), default=float("inf"))
                self._changed.wait(None if self._wakes_at == float("inf") else self._wakes_at - now)


_shared: list[_Limiter] = []


def _limiter() -> _Limiter:
    import os

    process = os.getpid()
    if not _shared or _shared[-1].process != process:  # a forked process does not have the thread
        _shared[:] = [_Limiter(process)]
    return _shared[-1]
