"""Connections to receivers: sends a POST, and reads the answer."""

from __future__ import annotations

import asyncio
import base64
import codecs
import ssl
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

import h11

Headers = list[tuple[str, str]]

_CHUNK = 64 << 10
_MOST_READ = 64 << 10  # bytes of an answer's body; the rest of a longer body is not read
_MOST_IDLE = 128  # connections that are kept open, to all receivers together
# Limits of an attempt's record: characters of a body, of a header's name and of its value; number of headers.
_BODY, _NAME, _VALUE, _HEADERS = 2_000, 100, 500, 50
# A receiver may close a kept connection at any time, so an attempt that fails with LOST does not use up a retry of the
# schedule.
LOST = "the receiver closed the kept connection without an answer, so the event is sent again at once"


@dataclass(slots=True)
class Answer:
    """A receiver's answer; `status` is None until the answer has been read."""

    status: int | None = None
    headers: Headers = field(default_factory=list)
    begin: bytes = b""

    @property
    def body(self) -> tuple[str, str]:
        """The first characters of the body and "utf-8", or its first bytes in base64 and "base64"."""
        try:
            # The incremental decoder allows a last character whose bytes are not complete.
            return codecs.getincrementaldecoder("utf-8")().decode(self.begin)[:_BODY], "utf-8"
        except UnicodeDecodeError:
            return base64.b64encode(self.begin[:_BODY]).decode(), "base64"


class Connection:
    """A connection to a receiver, kept open between POSTs if both sides allow keep-alive."""

    def __init__(self) -> None:
        self._origin: tuple[str, str] = ("", "")
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._http = h11.Connection(h11.CLIENT)
        self._received = 0  # bytes of the latest answer
        self._kept = False

    @property
    def is_open(self) -> bool:
        return self._streams is not None

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def open(self, url: str) -> None:
        """Connect to the host of `url`, unless this connection to it is still open. Raises OSError."""
        parts = urlsplit(url)
        self._kept = self._origin == (parts.scheme, parts.netloc) and await self._is_usable()
        if not self._kept:
            await self._connect(parts)

    async def post(self, url: str, headers: Headers, body: bytes, answer: Answer) -> None:
        """POST on the open connection, and fill `answer`. Raises OSError, EOFError or h11.ProtocolError."""
        try:
            await self._exchange(target(url), headers, body, answer)
        except (EOFError, ConnectionError) as error:
            if self._kept and self._received == 0:
                raise EOFError(LOST) from error
            raise

    async def _is_usable(self) -> bool:
        """Whether the connection is open and has no unread bytes, which would be taken for the next answer."""
        if self._streams is None:
            return False
        try:
            async with asyncio.timeout(0):
                await self._streams[0].read(1)
        except TimeoutError:
            return not self._streams[0].at_eof()
        except OSError:
            pass
        return False

    async def _connect(self, parts: SplitResult) -> None:
        self.close()
        secure = parts.scheme == "https"
        port = parts.port or (443 if secure else 80)
        context = ssl.create_default_context() if secure else None
        try:
            self._streams = await asyncio.open_connection(parts.hostname, port, ssl=context)
        except ConnectionRefusedError as error:
            raise OSError(f"no program listens on {parts.hostname} port {port}: the connection was refused") from error
        self._origin = (parts.scheme, parts.netloc)
        self._http = h11.Connection(h11.CLIENT)

    async def _exchange(self, path: str, headers: Headers, body: bytes, answer: Answer) -> None:
        assert self._streams is not None
        reader, writer = self._streams
        self._received = size = status = 0
        request = self._http.send(h11.Request(method="POST", target=path, headers=headers)) or b""
        sent = self._http.send(h11.Data(data=body)) or b""
        # Do not drain the writer: a receiver may answer and close before it has read a large body.
        writer.write(request + sent + (self._http.send(h11.EndOfMessage()) or b""))
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                data = await reader.read(_CHUNK)
                if not data and status == 0:
                    raise EOFError("the receiver closed the connection without an answer")
                self._received += len(data)
                self._http.receive_data(data)
            elif isinstance(event, h11.Response):
                status = event.status_code
                answer.headers = [_short(*pair) for pair in event.headers.raw_items()[:_HEADERS]]
            elif isinstance(event, h11.Data):
                size += len(event.data)
                if len(answer.begin) < _BODY * 4:
                    answer.begin += bytes(event.data[: _BODY * 4])
            if isinstance(event, h11.EndOfMessage) or size > _MOST_READ:
                break
        answer.status = status
        # Keep the connection only if the whole body has been sent and the whole answer read.
        done = self._http.our_state is h11.DONE and self._http.their_state is h11.DONE
        if done and writer.transport.get_write_buffer_size() == 0 and self._http.trailing_data == (b"", False):
            self._http.start_next_cycle()
        else:
            self.close()


class Pool:
    """The idle connections of all endpoints. A full pool closes the connection that has been idle longest."""

    def __init__(self) -> None:
        self._idle: dict[Connection, int] = {}

    def take(self, endpoint: int) -> Connection:
        """An idle connection of the endpoint, or a new connection."""
        for connection in reversed(self._idle):
            if self._idle[connection] == endpoint:
                del self._idle[connection]
                return connection
        return Connection()

    def give(self, endpoint: int, connection: Connection, most: int) -> None:
        """Keep a connection if it is open and the endpoint has fewer than `most` idle connections; else close it."""
        if not connection.is_open or sum(each == endpoint for each in self._idle.values()) >= most:
            connection.close()
            return
        self._idle[connection] = endpoint
        if len(self._idle) > _MOST_IDLE:
            oldest = next(iter(self._idle))
            del self._idle[oldest]
            oldest.close()

    def close(self, endpoint: int) -> None:
        """Close the endpoint's idle connections."""
        for connection in [each for each, number in self._idle.items() if number == endpoint]:
            del self._idle[connection]
            connection.close()


def target(url: str) -> str:
    """Path and query of a URL, for the request line."""
    parts = urlsplit(url)
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def host(url: str) -> str:
    """The value of the header Host for a URL."""
    return urlsplit(url).netloc.rpartition("@")[2]


def _short(name: bytes, value: bytes) -> tuple[str, str]:
    return name.decode("latin-1")[:_NAME], value.decode("latin-1")[:_VALUE]
