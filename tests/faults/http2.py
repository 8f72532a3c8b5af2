"""The scripted proxy in HTTP/2: it runs one step for each stream and forwards requests to the sandbox."""

from __future__ import annotations

import contextlib
import gzip
import random
import time
from collections.abc import Callable
from typing import Any

import h2.config
import h2.connection
import h2.errors
import h2.events
import h2.exceptions

from .proxy import Connection, Gone, Proxy, RawAnswer, Seen, ask

Codes = h2.errors.ErrorCodes


class Stream:
    """A request that was read completely, and the methods that a step may call on its stream."""

    def __init__(self, connection: Http2Connection, number: int, seen: Seen, request: bytes) -> None:
        self._connection = connection
        self._wire = connection.wire
        self._number = number
        self._request = request
        self.seen = seen
        self.stopped = connection.proxy.stopped

    def forward(self) -> RawAnswer:
        self.seen.forwarded = True
        return ask(self._connection.proxy.upstream, self._request)

    def send_head(self, status: int, *headers: tuple[str, str], end: bool = False) -> None:
        self._wire.send_headers(self._number, [(":status", str(status)), *headers], end_stream=end)
        self._connection.flush()

    def send_answer_head(self, answer: RawAnswer, *, length: bool = True) -> None:
        """Sends the head of the sandbox's answer. length: whether to send its Content-Length."""
        first, *lines = answer.head.decode("latin-1").split("\r\n")[:-2]
        named = [line.partition(": ") for line in lines]
        headers = [(name.lower(), value) for name, _, value in named]
        self.send_head(int(first.split()[1]), *(each for each in headers if length or each[0] != "content-length"))

    def send_at_once(self, answer: RawAnswer) -> None:
        """Sends the sandbox's answer, only with its body, with a single write to the connection."""
        self._wire.send_headers(self._number, [(":status", answer.head.split()[1].decode())])
        self.send_body(answer.body, end=True)

    def send_trailers(self, *headers: tuple[str, str]) -> None:
        self._wire.send_headers(self._number, headers, end_stream=True)
        self._connection.flush()

    def send_body(self, data: bytes, *, end: bool) -> None:
        self._wire.send_data(self._number, data, end_stream=end)
        self._connection.flush()

    def reset_stream(self, code: Codes) -> None:
        self._wire.reset_stream(self._number, code)
        self._connection.flush()

    def go_away(self, last: int | None = None, code: Codes = Codes.NO_ERROR) -> None:
        """Sends GOAWAY. last: the stream that GOAWAY reports as the last one processed, by default this stream. A step
        must not call h2 after it has sent GOAWAY."""
        self._wire.close_connection(code, last_stream_id=self._number if last is None else last)
        self._connection.flush()

    def wait_until_read(self) -> None:
        """Waits until the client has read everything sent so far; the client's call stays in flight."""
        self._wire.ping(b"are you ")
        self._connection.flush()
        while True:
            data = self._connection.socket.recv(65536)
            if not data:
                raise Gone
            if any(isinstance(event, h2.events.PingAckReceived) for event in self._wire.receive_data(data)):
                return

    def send_raw(self, data: bytes) -> None:
        """Sends frames without changing the state of h2."""
        self._connection.send(data)

    def break_protocol(self) -> None:
        """Sends DATA for stream 0, which the client must treat as an error of the connection. A step must not call
        h2 after this method."""
        self.send_raw(b"\0\0\1" + bytes(6) + b"x")

    def drain(self) -> None:
        """Reads what the client sends, until it closes the connection."""
        with contextlib.suppress(OSError, ValueError):
            while self._connection.socket.recv(65536):
                pass

    def close(self) -> None:
        self._connection.close()

    def reset(self) -> None:
        self._connection.reset()


class Http2Connection(Connection):
    """The server's side of an HTTP/2 connection; it handles one stream after another."""

    http2 = True

    def __init__(self, proxy: Proxy, number: int, sock: Any) -> None:
        super().__init__(proxy, number, sock)
        self.wire = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False))
        self._requests: dict[int, tuple[list[tuple[str, str]], bytes]] = {}

    def flush(self) -> None:
        self.send(self.wire.data_to_send())

    def serve(self) -> None:
        with contextlib.suppress(Gone, OSError):
            self.wire.initiate_connection()
            self.flush()
            while self.open and (data := self.socket.recv(65536)):
                for event in self.wire.receive_data(data):
                    self._deal_with(event)
                    if not self.open:
                        return
                self.flush()
        self.close()

    def _deal_with(self, event: h2.events.Event) -> None:
        if isinstance(event, h2.events.RequestReceived):
            headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in event.headers]
            self._requests[event.stream_id] = headers, b""
        elif isinstance(event, h2.events.DataReceived):
            headers, body = self._requests[event.stream_id]
            self._requests[event.stream_id] = headers, body + event.data
            self.wire.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, h2.events.StreamEnded):
            headers, body = self._requests.pop(event.stream_id)
            pseudo = {name: value for name, value in headers if name.startswith(":")}
            step, seen = self.proxy.next(pseudo[":method"], self.number, default=passing)
            lines = [f"{pseudo[':method']} {pseudo[':path']} HTTP/1.1", f"Host: {pseudo[':authority']}"]
            lines += [
                f"{name}: {value}" for name, value in headers if not name.startswith(":") and name != "content-length"
            ]
            if body:
                lines.append(f"Content-Length: {len(body)}")
            request = "\r\n".join([*lines, "", ""]).encode() + body
            with contextlib.suppress(h2.exceptions.StreamClosedError):  # raised if the client has cancelled the stream
                step(Stream(self, event.stream_id, seen, request))


Http2Step = Callable[[Stream], None]


def answering(
    sent: int | None = None,
    *,
    length: bool = True,
    end: bool = False,
    apart: bool = False,
    then: Callable[[Stream], None] = lambda _: None,
) -> Http2Step:
    """Sends the sandbox's answer with `sent` bytes (None: all) of its body. length: whether to send its Content-Length.
    end: ends the stream with the last byte. apart: waits until the client has read everything. then: what to do at the
    end."""

    def step(stream: Stream) -> None:
        answer = stream.forward()
        stream.send_answer_head(answer, length=length)
        if sent != 0 or end:
            stream.send_body(answer.body[:sent], end=end)
        if apart:
            stream.wait_until_read()
        then(stream)

    return step


def instead(then: Callable[[Stream], None], *, effect: bool) -> Http2Step:
    """Sends no answer of the sandbox. effect: whether the write is done."""

    def step(stream: Stream) -> None:
        if effect:
            stream.forward()
        then(stream)

    return step


passing = answering(end=True)


def by_protocol(proxy: Proxy, number: int, sock: Any) -> Connection:
    """A `kind` of connection for a server that offers HTTP/2 and HTTP/1.1."""
    return (Http2Connection if sock.selected_alpn_protocol() == "h2" else Connection)(proxy, number, sock)


def refused(stream: Stream) -> None:
    """Resets the stream with REFUSED_STREAM: the request was not processed, so libcurl retries it by itself."""
    stream.seen.refused = True
    stream.reset_stream(Codes.REFUSED_STREAM)


def http1_required(stream: Stream) -> None:
    stream.reset_stream(Codes.HTTP_1_1_REQUIRED)


def broken(code: Codes, place: str) -> Http2Step:
    """Resets the stream. place: when, namely after the "request", after the "effect" (the write is done but not
    answered), after the "headers" or within the "body"."""

    def reset(stream: Stream) -> None:
        stream.reset_stream(code)

    if place in ("headers", "body"):
        return answering(9 if place == "body" else 0, then=reset)
    return instead(reset, effect=place == "effect")


def no_error(sent: int | None, *, end: bool = False, apart: bool = False) -> Http2Step:
    """Resets the stream with NO_ERROR, in or after an answer without Content-Length."""
    return answering(sent, length=False, end=end, apart=apart, then=lambda stream: stream.reset_stream(Codes.NO_ERROR))


def broken_off(sent: int | None) -> Http2Step:
    """Violates the protocol, in or after an answer without Content-Length."""
    return answering(sent, length=False, apart=True, then=Stream.break_protocol)


no_length = answering(length=False, end=True)


def big_header(size: int, count: int = 1) -> Http2Step:
    def step(stream: Stream) -> None:
        answer = stream.forward()
        extra = [(f"x-big-{number}", "b" * size) for number in range(count)]
        stream.send_head(200, ("content-length", str(len(answer.body))), *extra)
        stream.send_body(answer.body, end=True)

    return step


trailers = answering(
    length=False, then=lambda stream: stream.send_trailers(("x-sum", "1"), ("x-request-id", "of-the-trailers"))
)


def ended(*, effect: bool, reset: bool) -> Http2Step:
    """Closes or resets the whole connection instead of sending an answer."""
    return instead(Stream.reset if reset else Stream.close, effect=effect)


def gone_away(*, effect: bool, last: int | None = None, code: Codes = Codes.NO_ERROR) -> Http2Step:
    """Sends GOAWAY instead of an answer, then closes. last=0: the GOAWAY reports that the request was not
    processed."""

    def leave(stream: Stream) -> None:
        stream.seen.refused = last == 0 and code != Codes.HTTP_1_1_REQUIRED
        stream.go_away(last, code)
        stream.close()

    return instead(leave, effect=effect)


short = answering(-5, end=True)  # the stream ends before the Content-Length
no_body = answering(0, end=True)
cut = answering(20, then=Stream.close)
silent_after_headers = answering(0)


def gzipped(cut: int = 0, short: int = 0, *, length: bool = True) -> Http2Step:
    """Sends a compressed body without its last `cut` bytes. short: how many bytes of the Content-Length are missing.
    length: whether to send a Content-Length."""

    def step(stream: Stream) -> None:
        body = gzip.compress(stream.forward().body)
        body = body[: len(body) - cut]
        headers = [("content-encoding", "gzip"), ("content-length", str(len(body)))]
        stream.send_head(200, *headers[: 1 + length])
        stream.send_body(body[: len(body) - short], end=True)

    return step


def drip(stream: Stream) -> None:
    answer = stream.forward()
    stream.send_answer_head(answer)
    for begin in range(0, len(answer.body), 50):
        stream.send_body(answer.body[begin : begin + 50], end=False)
    stream.send_body(b"", end=True)


def silent(*, effect: bool) -> Http2Step:
    return instead(lambda _: None, effect=effect)


def canned(status: int, *headers: tuple[str, str], effect: bool = False) -> Http2Step:
    return instead(lambda stream: stream.send_head(status, *headers, end=True), effect=effect)


def leaving(chance: random.Random) -> Http2Step:
    """Sends an answer, and a moment later ends the connection, sometimes with GOAWAY. The next request may already be
    in flight when the connection ends."""

    def step(stream: Stream) -> None:
        passing(stream)
        until = time.perf_counter() + chance.uniform(0, 0.0008)
        while time.perf_counter() < until:
            pass
        if chance.random() < 0.5:
            stream.go_away()
        stream.reset() if chance.random() < 0.5 else stream.close()

    return step
