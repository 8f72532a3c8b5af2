"""The model's peer in HTTP/2: its acts on a single stream, and on the whole connection.

A connection is served by a single thread. Delayed acts wait in a queue, so that the answers of the streams interleave.
"""

from __future__ import annotations

import contextlib
import functools
import heapq
import itertools
import random
import ssl
import struct
import time
from collections.abc import Callable
from typing import Any

import h2.events
import h2.exceptions

from .. import http2
from ..http2 import Codes, Http2Connection, Stream
from ..proxy import GENEROUS, Gone, RawAnswer, Seen
from ..test_floods import FLOODS, frame
from .acts import drawn_status, edited, flip
from .peer import Act, Drawn
from .service import Asked, parse, refusal

Step = Callable[[Any], None]
MOST = 2**31 - 1  # highest stream number
_OK = b"\x88"  # :status 200 in HPACK
_LAST = b"the last"  # payload of the ping before a stall
# h2 raises one of these when the client has cancelled the stream.
_GIVEN_UP = (h2.exceptions.StreamClosedError, h2.exceptions.StreamIDTooLowError)


class DrawnStream(Stream):
    def __init__(self, connection: Http2Peer, number: int, asked: Asked) -> None:
        super().__init__(connection, number, Seen(asked.method, time.monotonic(), connection.number), b"")
        self.asked = asked
        self.peer = connection
        self.number = number
        self.body = b'{"data":{}}'  # body of the answer

    @property
    def last_begun(self) -> int:
        """The highest stream of the connection. While an act is delayed, the client may open further streams, which
        the peer processes: a GOAWAY that names a lower stream would be a lie about them."""
        return max(self.peer.taken)

    def go_away(self, last: int | None = None, code: Codes = Codes.NO_ERROR) -> None:
        super().go_away(self.last_begun if last is None else last, code)

    def forward(self) -> RawAnswer:
        answer = self.peer.proxy.service.act(self.asked)
        self.body = answer.body
        return answer

    def send_raw(self, data: bytes) -> None:
        self.peer.send_raw(data)

    def later(self, delay: float, then: Callable[[], None]) -> None:
        self.peer.later(delay, then)


class Http2Peer(Drawn, Http2Connection):
    """The server's side of an HTTP/2 connection."""

    prompt = True

    def __init__(self, proxy: Any, number: int, sock: Any) -> None:
        super().__init__(proxy, number, sock)
        self.taken: dict[int, tuple[Asked, Act]] = {}
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._count = itertools.count()
        self._deaf = False  # the peer does nothing more on this connection
        self._captured: list[bytes] | None = None
        self._stalled = False  # the peer has stopped sending on this connection
        self._processed = False  # the client has processed everything sent before the stall
        self._ignored: dict[int, Asked] = {}  # streams that were opened since the stall
        self._suspect = False  # the client cancelled a stream that was opened since the stall
        self._abandoned = ""
        self.last_stream = MOST  # the last stream that the peer processes, according to a GOAWAY
        sock.settimeout(GENEROUS)

    def serve(self) -> None:
        with self.guarded(h2.exceptions.ProtocolError):
            self.wire.initiate_connection()
            self.flush()
            while self.open:
                self.run_due()
                due = max(0.0, self._due[0][0] - time.monotonic()) if self._due else None
                if self.open and self.await_data(due):
                    self._receive()

    def between(self, chance: random.Random) -> None:
        drawn = chance.random()
        if drawn < 0.4:
            return
        name, errand = chance.choice(_BETWEEN)

        def run() -> None:
            self.proxy.tell(f"connection {self.number}: between calls {name}")
            with contextlib.suppress(OSError, Gone, h2.exceptions.ProtocolError):
                errand(self)

        self.do(run)

    def send(self, data: bytes) -> None:
        if self._captured is not None:
            self._captured.append(data)
        elif data and not self._stalled and not self._deaf:
            super().send(data)

    def send_raw(self, data: bytes) -> None:
        self.flush()
        self.send(data)

    def captured(self, parts: list[Callable[[], None]]) -> bytes:
        """Returns what these functions would send."""
        self.flush()
        self._captured = []
        try:
            for part in parts:
                part()
            return b"".join(self._captured)
        finally:
            self._captured = None

    def go_deaf(self) -> None:
        """Ends all acts on this connection, which stays open."""
        self._deaf = self.hopeless = True

    def later(self, delay: float, then: Callable[[], None]) -> None:
        heapq.heappush(self._due, (time.monotonic() + delay, next(self._count), then))

    def stall(self) -> None:
        """Sends a last ping, then stops sending. When the client answers the last ping, it has processed everything
        that was sent before the ping.
        """
        self.wire.ping(_LAST)
        self.flush()
        self._stalled = self.hopeless = True

    def allow_streams(self, count: int) -> None:
        """Sends SETTINGS_MAX_CONCURRENT_STREAMS immediately."""
        self.send_raw(frame(4, 0, 0, struct.pack(">HI", 3, count)))
        self.hopeless = self.hopeless or count == 0

    def send_half_a_frame(self) -> None:
        """Sends only the header of a ping frame, so that the client reads the next bytes on the connection as the
        payload of the ping."""
        self.send_raw(frame(6, 0, 0, bytes(8))[:9])
        self.hopeless = True

    def run_due(self) -> None:
        while self._due and self._due[0][0] <= time.monotonic() and self.open:
            _, _, then = heapq.heappop(self._due)
            with contextlib.suppress(*_GIVEN_UP):
                then()

    def _receive(self) -> None:
        data = self.socket.recv(65536)
        while isinstance(self.socket, ssl.SSLSocket) and self.socket.pending():
            data += self.socket.recv(65536)
        if not data:
            raise Gone
        for event in self.wire.receive_data(data):
            self._deal_with(event)
            if not self.open:
                return
        self.flush()

    def _deal_with(self, event: h2.events.Event) -> None:
        if isinstance(event, h2.events.RequestReceived):
            self._requests[event.stream_id] = [], b""
            self._begin(event)
        elif isinstance(event, h2.events.StreamEnded):
            asked, act = self.taken[event.stream_id]
            if not act.early:
                self._later_or_now(act, DrawnStream(self, event.stream_id, asked))
        elif isinstance(event, h2.events.PingAckReceived):
            self._processed = self._processed or event.ping_data == _LAST
        elif isinstance(event, h2.events.StreamReset):
            if event.stream_id in self._ignored and not self._suspect:
                # The first cancelled stream breaks no rule: after libcurl opened it, libcurl may still have delivered
                # data that had arrived before the stall, so the connection looked alive.
                self._suspect = True
                self._ignored.clear()
            elif event.stream_id in self._ignored:
                self._abandoned = f"{self._ignored[event.stream_id]} was given up on it while it was silent"
        else:
            super()._deal_with(event)

    def _begin(self, event: h2.events.RequestReceived) -> None:
        pseudo = {name.decode(): value.decode() for name, value in event.headers if name.startswith(b":")}
        asked = self.last = parse(pseudo[":method"], pseudo[":path"])
        if self._abandoned:
            self.proxy.violation(f"{asked} was sent over connection {self.number} after {self._abandoned}")
        if self._processed:
            self._ignored[event.stream_id] = asked
        given = DEAF if self._deaf else IGNORED if event.stream_id > self.last_stream else None
        act = self.proxy.act(asked, self.number, given)
        self.track.ask(asked, event.stream_id)
        self.taken[event.stream_id] = asked, act
        if act.early:
            self._later_or_now(act, DrawnStream(self, event.stream_id, asked))

    def _later_or_now(self, act: Act, stream: DrawnStream) -> None:
        calm = self.proxy.calm

        def run() -> None:
            if self.proxy.calm and not calm:
                return  # the act was delayed, and the callers of its round have given up
            try:
                act.step(stream)
            except _GIVEN_UP:  # the stream was cancelled: send the answer anyway
                self.proxy.tell(f"connection {self.number}: an answer to {stream.asked}, which was given up")
                self.send_raw(frame(1, 4, stream.number, _OK) + frame(0, 1, stream.number, stream.body))

        self.later(act.delay, run)
        if not act.delay:
            self.run_due()


def answering(chance: random.Random) -> Step:
    """Sends an answer in one of the ways that HTTP/2 allows; the frames of other streams may come in between."""

    def step(stream: DrawnStream) -> None:
        pause = chance.choice([0.0, 0.0, 0.005, 0.05])
        for number, part in enumerate(framed(stream, chance)):
            stream.later(pause * number, part)

    return step


def framed(stream: DrawnStream, chance: random.Random) -> list[Callable[[], None]]:
    """Returns the parts of an answer, each as a function that sends it."""
    status, effect, more = drawn_status(chance) if flip(chance) and flip(chance) else (200, True, [])
    answer = stream.forward() if effect else None
    if answer is None or status != 200:
        answer = refusal(status, stream.asked, *more)
    body, length, trailers = answer.body, chance.random() < 0.7, chance.random() < 0.2
    count = chance.choice([1, 1, 2, 3, 8])
    size = -(-len(body) // count)
    pieces = [body[at : at + size] for at in range(0, len(body), size)]
    parts: list[Callable[[], None]] = [functools.partial(stream.send_head, 103)] if chance.random() < 0.2 else []
    parts.append(functools.partial(stream.send_answer_head, answer, length=length))
    for place, piece in enumerate(pieces, 1):
        parts.append(functools.partial(stream.send_body, piece, end=place == len(pieces) and not trailers))
    if trailers:
        parts.append(functools.partial(stream.send_trailers, ("x-sum", "1"), ("x-request-id", "of-the-trailers")))
    return parts


def cut(chance: random.Random) -> Step:
    """Ends an answer between two frames by resetting its stream, or at any byte with the connection."""

    def step(stream: DrawnStream) -> None:
        parts = framed(stream, chance)
        sent = stream.peer.captured(parts[: chance.randrange(len(parts))])
        if chance.random() < 0.6:
            stream.send_raw(sent)
            if chance.random() < 0.8:
                stream.reset_stream(_code(chance))
        else:
            stream.send_raw(sent[: chance.randint(0, len(sent))])
            chance.choice([stream.close, stream.reset, stream.peer.go_deaf])()

    return step


def changed(chance: random.Random) -> Step:
    """Changes frames of an answer, or adds some, then ends the connection."""

    def step(stream: DrawnStream) -> None:
        rest, frames = stream.peer.captured(framed(stream, chance)), []
        while rest:
            end = 9 + int.from_bytes(rest[:3])
            frames.append(rest[:end])
            rest = rest[end:]
        for _ in range(chance.choice([1, 1, 2, 5])):
            at = chance.randrange(len(frames))
            one, other = frames[at], chance.choice(_ODD)
            number = chance.choice([0, 2, stream.number, stream.number + 1000])
            frames[at : at + 1] = chance.choice(
                [
                    [one[:9] + edited(one[9:], chance)],
                    [one[:3] + bytes([other, chance.randrange(256)]) + one[5:]],
                    [frame(other, chance.randrange(256), number, chance.randbytes(chance.randrange(40))), one],
                    [one[: 9 + chance.randint(0, len(one))]],
                    [one, one],
                ]
            )
        stream.peer.proxy.lie(asked for asked, _ in stream.peer.taken.values())
        stream.send_raw(b"".join(frames))
        stream.peer.go_deaf()
        stream.later(chance.choice([0.0, 0.03]), stream.close)

    return step


def twice(stream: DrawnStream) -> None:
    """Sends the answer a second time, on the stream that has ended."""
    http2.passing(stream)
    body = b'{"data":{}}'
    stream.send_raw(frame(1, 4, stream.number, _OK) + frame(0, 1, stream.number, body))


# Types of frames, without those that say what the peer has processed, and with some that no standard defines.
_ODD = [0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 77]


def unasked(number: int) -> Step:
    """Sends the honest answer, and another answer on a stream that the client has not opened and will not open
    next. When the client reads that, it gives up the connection."""

    def step(stream: DrawnStream) -> None:
        http2.passing(stream)
        stream.send_raw(frame(1, 5, stream.number + number, _OK))
        stream.peer.hopeless = True

    return step


def go_away(chance: random.Random, *, first: bool) -> Step:
    """Sends GOAWAY before the answer (`first`) or after it. The GOAWAY names the last stream that was begun, the
    highest stream number, or, after the answer, 0 as the last stream."""
    code = _code(chance)
    last = chance.choice([None, MOST] if first else [None, 0, MOST])

    def step(stream: DrawnStream) -> None:
        named = stream.last_begun if last is None else last
        data = frame(7, 0, 0, struct.pack(">II", named, code))
        if first:
            stream.send_raw(data)
        http2.passing(stream)
        if not first:
            stream.send_raw(data)
        stream.peer.last_stream = named
        # After a GOAWAY, the client may open new streams only if the GOAWAY has NO_ERROR and the highest stream number.
        if (code, last) != (Codes.NO_ERROR, MOST):
            stream.peer.hopeless = True

    return step


def not_begun(stream: DrawnStream) -> None:
    """Sends a GOAWAY that says that the request was not processed, and leaves the connection open."""
    stream.send_raw(frame(7, 0, 0, struct.pack(">II", 0, Codes.NO_ERROR)))
    stream.peer.hopeless, stream.peer.last_stream = True, 0


def flood_of(chance: random.Random, number: int) -> bytes:
    name = chance.choice(list(FLOODS))
    of_stream = {"empty-data": frame(0, 0, number), "padded-data": frame(0, 8, number, b"\0")}
    return of_stream.get(name, FLOODS[name]) * chance.choice([20, 200, 900])


def flooding(chance: random.Random) -> Step:
    """Sends as many small frames as a client must withstand, then the answer."""

    def step(stream: DrawnStream) -> None:
        answer = stream.forward()
        within = chance.random() < 0.5
        if within:
            stream.send_answer_head(answer, length=False)
        stream.send_raw(flood_of(chance, stream.number))
        if not within:
            stream.send_answer_head(answer, length=False)
        stream.send_body(answer.body, end=True)

    return step


def stalling(stream: DrawnStream) -> None:
    stream.forward()
    stream.peer.stall()


def early_end(stream: DrawnStream) -> None:
    """Sends the whole answer before the request has ended, then resets the stream with NO_ERROR. RFC 9113 allows
    this."""
    http2.passing(stream)
    stream.reset_stream(Codes.NO_ERROR)


def _code(chance: random.Random) -> Any:
    """REFUSED_STREAM is left out, because it is a promise, and so is HTTP_1_1_REQUIRED, after which the client speaks
    HTTP/1.1, which this peer does not."""
    return chance.choice(
        [*(code for code in Codes if code not in (Codes.REFUSED_STREAM, Codes.HTTP_1_1_REQUIRED)), 0xFF]
    )


REFUSED, CHANGED = "refused", "changed"
_TABLE: list[tuple[int, str, Callable[[random.Random], Step]]] = [
    (60, "plain", lambda chance: http2.passing),
    (20, "framed", answering),
    (16, "cut", cut),
    (8, CHANGED, changed),
    (3, REFUSED, lambda chance: chance.choice([http2.refused, http2.gone_away(effect=False, last=0), not_begun])),
    (2, "reset behind the end", lambda chance: http2.no_error(None, end=True)),
    (2, "too short", lambda chance: http2.short),
    (1, "no body", lambda chance: http2.no_body),
    (3, "ended", lambda chance: http2.ended(effect=flip(chance), reset=flip(chance))),
    (2, "GOAWAY and the end", lambda chance: http2.gone_away(effect=flip(chance))),
    (5, "GOAWAY", lambda chance: go_away(chance, first=flip(chance))),
    (2, "leaving", http2.leaving),
    (5, "silent", lambda chance: http2.silent(effect=flip(chance))),
    (2, "twice", lambda chance: twice),
    (1, "unasked", lambda chance: unasked(chance.choice([1, 1000]))),
    (6, "flood", flooding),
    (6, "stalled", lambda chance: stalling),
    (2, "large header", lambda chance: http2.big_header(chance.choice([3_000, 20_000]))),
    (2, "answer before the end", lambda chance: early_end),
]


PLAIN = Act("plain", http2.passing)
IGNORED = Act("ignored", lambda stream: None, refuses=True)
DEAF = Act("unheard", lambda stream: None)


def draw(chance: random.Random) -> Act:
    _, name, make = chance.choices(_TABLE, [row[0] for row in _TABLE])[0]
    early = name == "answer before the end" or chance.random() < 0.1
    delay = chance.choice([0.01, 0.05, 0.1, 0.4]) if chance.random() < 0.3 else 0.0
    shown = name + (", early" if early else "") + (f", {delay} s late" if delay else "")
    return Act(shown, make(chance), lies=name == CHANGED, early=early, delay=delay, refuses=name == REFUSED)


def _leave(connection: Http2Peer) -> None:
    connection.send_raw(frame(7, 0, 0, struct.pack(">II", MOST, 0)))


def _leave_and_close(connection: Http2Peer) -> None:
    _leave(connection)
    connection.close()


_BETWEEN: list[tuple[str, Callable[[Http2Peer], None]]] = [
    ("closed", lambda connection: connection.close()),
    ("reset", lambda connection: connection.reset()),
    ("GOAWAY", _leave),
    ("GOAWAY and the end", _leave_and_close),
    ("stalled", lambda connection: connection.stall()),
    ("pings", lambda connection: connection.send_raw(FLOODS["ping"] * 200)),
    ("settings", lambda connection: connection.send_raw(FLOODS["settings"] * 200)),
    ("unknown frames", lambda connection: connection.send_raw(FLOODS["unknown"] * 900)),
    ("one stream at once", lambda connection: connection.allow_streams(1)),
    ("no stream at all", lambda connection: connection.allow_streams(0)),
    ("half a frame", lambda connection: connection.send_half_a_frame()),
]
