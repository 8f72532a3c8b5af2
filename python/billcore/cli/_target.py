"""A receiver's URL, and the POST of a webhook's exact bytes to it. Uses no proxy: the receiver is the user's own."""

from __future__ import annotations

import contextlib
import http.client
import re
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import urlsplit

from ._command import EXIT_USAGE, Failure

_MOST_READ = 64 << 10  # bytes of an answer's body; the rest is not read
_BROKEN = (OSError, http.client.HTTPException, ValueError)  # ValueError: a header of the answer that cannot be read


class Answer(NamedTuple):
    """A receiver's answer: its status, the begin of its body, and the milliseconds until its head was read."""

    status: int
    content_type: str
    begin: bytes
    ms: float

    @property
    def text(self) -> str:
        """The begin of the body as one line."""
        return " ".join(self.begin[:2000].decode("utf-8", "replace").split())


class NotSentError(Exception):
    """The receiver was not reached: nothing was sent."""


class NoAnswerError(Exception):
    """No answer arrived: the receiver may or may not have handled the webhook."""

    def __init__(self, text: str, *, in_time: bool) -> None:
        super().__init__(text)
        self.in_time = in_time


class Target:
    """The URL of a receiver.

    Args:
        where: The option or argument that named it, for errors.
        url: An http or https URL.
    """

    def __init__(self, where: str, url: str) -> None:
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as error:
            raise Failure(EXIT_USAGE, f"{where} is not a URL: {error}") from None
        if parts.scheme not in ("http", "https") or not parts.hostname or re.search(r"[^!-~]", url):
            raise Failure(EXIT_USAGE, f"{where} must be a URL such as http://127.0.0.1:8000/webhooks, not {url!r}")
        if parts.username is not None:
            raise Failure(EXIT_USAGE, f"{where} has a user name or a password, which is not sent: remove it")
        self.url = url
        self._parts = parts
        self.port = port or (443 if parts.scheme == "https" else 80)
        self._path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")

    def post(self, body: bytes, headers: dict[str, str], timeout: float) -> Answer:
        """POST the bytes once, and read the answer within `timeout` seconds.

        Raises:
            NotSentError: The connection could not be made.
            NoAnswerError: It was made, but no answer arrived.
        """
        began = time.monotonic()
        with contextlib.closing(self._connect(timeout)) as connection, _limit(connection, timeout) as over:
            try:
                connection.putrequest("POST", self._path, skip_accept_encoding=True)
                for name, value in {**headers, "Content-Length": str(len(body)), "Connection": "close"}.items():
                    connection.putheader(name, value)
                connection.endheaders()
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # it may have answered before the end
                    connection.send(body)
                answer = connection.getresponse()
                if over.is_set():  # http.client takes a head that was cut for a whole one
                    raise TimeoutError
            except _BROKEN as error:
                if over.is_set() or isinstance(error, TimeoutError):
                    raise NoAnswerError(f"it did not answer within {timeout:g} s", in_time=False) from None
                raise NoAnswerError(
                    f"it closed the connection without an answer ({_why(error)})", in_time=True
                ) from None
            ms = (time.monotonic() - began) * 1000
            kind = " ".join((answer.headers.get("Content-Type") or "text/plain").split())
            begin = b""
            with contextlib.suppress(*_BROKEN):  # the status is the receiver's word, also if its body is cut
                while len(begin) < _MOST_READ and (piece := answer.read1(_MOST_READ - len(begin))):
                    begin += piece
        return Answer(answer.status, kind, begin, ms)

    def _connect(self, timeout: float) -> http.client.HTTPConnection:
        host = self._parts.hostname or ""
        connection = (
            http.client.HTTPSConnection(host, self.port, timeout=timeout)
            if self._parts.scheme == "https"
            else http.client.HTTPConnection(host, self.port, timeout=timeout)
        )
        try:
            connection.connect()
        except (OSError, ValueError) as error:  # ValueError: a name that is no host name
            connection.close()
            raise NotSentError(f"no receiver was reached at {self.url}: {_why(error)}") from None
        return connection


@contextlib.contextmanager
def _limit(connection: http.client.HTTPConnection, timeout: float) -> Iterator[threading.Event]:
    """Shut the connection down after `timeout` seconds: a time limit of the socket begins again with each byte."""
    over = threading.Event()
    sock = connection.sock

    def end() -> None:
        over.set()
        with contextlib.suppress(OSError):
            socket.socket.shutdown(sock, socket.SHUT_RDWR)  # not SSLSocket's, which unwraps it under the reader

    timer = threading.Timer(timeout, end)
    timer.daemon = True
    timer.start()
    try:
        yield over
    finally:
        timer.cancel()


def _why(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted: {error.verify_message}"
    if isinstance(error, TimeoutError):
        return "the connection was not made in time"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__
