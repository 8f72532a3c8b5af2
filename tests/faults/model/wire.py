"""The second judge: compares each call's result with the bytes that the peer sent.

It shares no code with the first judge or the library. It reads an answer only if every client must read the same from
its bytes; what a client makes of other bytes is not checked.
"""

from __future__ import annotations

import json
import math
import re
import time
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import hpack

from .callers import Call
from .service import KEY, Asked

MOST_HEAD = 16 << 10  # bytes; a client may refuse a longer head
_HEAD = re.compile(rb"HTTP/1\.1 ([1-5]\d\d) [ -~]*\r\n((?:[A-Za-z0-9-]+: [ -~]*\r\n)*)\r\n")
_CHUNK = re.compile(rb"([0-9a-fA-F]{1,6})(?:;[ -~]*)?\r\n")
_TRAILERS = re.compile(rb"(?:[A-Za-z0-9-]+: [ -~]*\r\n)*\r\n")
_FIELD = re.compile(rb"[a-z][a-z0-9-]*: ([!-~]([ -~]*[!-~])?)?")
_STATUS = re.compile(rb"HTTP/[^\n]*?(\d\d\d)")
_UNUSUAL = {b"upgrade", b"connection"}
_CLASSES = {
    301: "ApiError",
    408: "ApiError",
    401: "AuthenticationError",
    402: "PaymentError",
    404: "NotFoundError",
    422: "ValidationError",
    429: "RateLimitError",
    500: "ServerError",
    502: "ServerError",
    503: "ServerError",
}
# The types of frames.
_DATA, _HEADERS, _PRIORITY_FRAME, _RST_STREAM, _SETTINGS, _PING, _WINDOW_UPDATE, _CONTINUATION = 0, 1, 2, 3, 4, 6, 8, 9
_END_STREAM, _END_HEADERS, _PADDED, _PRIORITY = 1, 4, 8, 0x20  # the flags of frames
_WITHOUT_ANSWER = {"OutcomeUnknownError", "TransportError", "ConnectionError", "TimeoutError", "TlsError"}
_REPEATED = {408, 429, *range(500, 600)}  # the statuses after which a read is sent again


@dataclass(frozen=True)
class Request:
    """A request that has arrived. at: how many bytes the peer had sent on the connection before. time: monotonic."""

    asked: Asked
    at: int
    stream: int
    time: float


@dataclass
class Track:
    """What went over one connection."""

    http2: bool
    sent: bytearray = field(default_factory=bytearray)
    sends: list[int] = field(default_factory=list)  # the number of all bytes sent, after each send
    requests: list[Request] = field(default_factory=list)
    end: str = ""  # how the peer ended the connection
    ended: float = math.inf

    def ask(self, asked: Asked, stream: int = 0) -> None:
        self.requests.append(Request(asked, len(self.sent), stream, time.monotonic()))

    def send(self, data: bytes) -> None:
        self.sent += data
        self.sends.append(len(self.sent))

    def finish(self, how: str) -> None:
        if not self.end:
            self.end, self.ended = how, time.monotonic()


@dataclass(frozen=True)
class Answer:
    """What was sent to a request. state: `whole`, `cut` before its end, or `unclear`. end: the number of bytes in
    HTTP/1, if that is clear; then the content of a `cut` answer has no end."""

    state: str
    status: int = 0
    body: bytes = b""
    end: int = 0


UNCLEAR, CUT = Answer("unclear"), Answer("cut")


def read_http1(data: bytes) -> Answer:
    """Reads the answer at the beginning of the bytes, as in RFC 9112."""
    at = 0
    while True:
        head = _HEAD.match(data, at)
        if head is None:
            begun = data[at : at + 9] == b"HTTP/1.1 "[: len(data) - at] and len(data) - at < MOST_HEAD
            return UNCLEAR if _has_empty_line(data[at:]) or not begun else CUT
        at, status = head.end(), int(head[1])
        fields = [line.partition(b": ") for line in head[2].split(b"\r\n")[:-1]]
        named = [(name.lower(), value) for name, _, value in fields]
        framing = [each for each in named if each[0] in (b"content-length", b"transfer-encoding")]
        codings = [value for name, value in named if name == b"content-encoding"]
        if any(name in _UNUSUAL for name, _ in named) or len(head[0]) > MOST_HEAD or status == 101:
            return UNCLEAR
        if status >= 200:
            break
        if framing:
            return UNCLEAR
    if status in (204, 304):
        return UNCLEAR if framing else Answer("whole", status, b"", at)
    if len(framing) != 1:
        return UNCLEAR
    name, value = framing[0]
    if name == b"transfer-encoding":
        answer = _read_chunks(data, at, status) if value == b"chunked" else UNCLEAR
    elif re.fullmatch(rb"\d{1,6}", value) is None:
        return UNCLEAR
    else:
        end = at + int(value)
        answer = Answer("whole", status, data[at:end], end) if len(data) >= end else CUT
    return _decoded(answer, codings) if codings and answer.state == "whole" else answer


def _decoded(answer: Answer, codings: list[bytes]) -> Answer:
    decoder = zlib.decompressobj(wbits=31)
    try:
        body = decoder.decompress(answer.body)
    except zlib.error:
        return UNCLEAR
    # An error status counts, whatever its body is.
    if codings != [b"gzip"] or decoder.unused_data or (answer.status >= 300 and not decoder.eof):
        return UNCLEAR
    return replace(answer, body=body) if decoder.eof else replace(answer, state="cut")


def _has_empty_line(data: bytes) -> bool:
    return b"\n\n" in data or b"\n\r" in data


def _read_chunks(data: bytes, at: int, status: int) -> Answer:
    body = b""
    while True:
        size = _CHUNK.match(data, at)
        if size is None:
            return CUT if re.fullmatch(rb"[0-9a-fA-F]{0,6}(;[ -~]*)?\r?", data[at:]) else UNCLEAR
        at, length = size.end(), int(size[1], 16)
        if length == 0:
            trailers = _TRAILERS.match(data, at)
            if trailers is not None:
                return Answer("whole", status, body, trailers.end())
            return UNCLEAR if _has_empty_line(b"\n" + data[at:]) else CUT
        body += data[at : at + length]
        at += length
        if data[at : at + 2] != b"\r\n":
            return CUT if len(data) < at else UNCLEAR
        at += 2


@dataclass
class _Stream:
    status: int = 0
    length: int | None = None
    body: bytes = b""
    ended: bool = False
    cut: bool = False
    odd: bool = False

    def take_head(self, decoder: hpack.Decoder, block: bytes) -> bool:
        """Takes an interim or final head, or trailers; returns False if it is none of these."""
        try:
            listed = list(decoder.decode(block, raw=True))
            fields = dict(listed)
            status, length = int(fields.get(b":status", b"0")), int(fields.get(b"content-length", b"-1"))
        except (hpack.HPACKError, ValueError):
            return False
        plain = all(_FIELD.fullmatch(name + b": " + value) for name, value in listed[status > 0 :])
        if not plain or len(fields) < len(listed) or status > 599 or (status > 0 and listed[0][0] != b":status"):
            return False
        if self.status == 0 and status >= 200:
            self.status, self.length = status, None if length < 0 else length
            return True
        return (status == 0) == (self.status > 0)

    def answer(self) -> Answer:
        if self.length is not None and len(self.body) < self.length:
            return UNCLEAR if self.odd else CUT
        if self.odd or self.length not in (None, len(self.body)) or self.status in (204, 304):
            return UNCLEAR
        # Without a length, some releases of libcurl do not tell whether the stream was cut: see core/guarantees.md.
        if self.ended and (self.length is not None or _data_of(self.body) is not None or self.status >= 300):
            return Answer("whole", self.status, self.body)
        return CUT if self.status == 0 else UNCLEAR


def read_http2(data: bytes, opened: Iterable[int]) -> dict[int, Answer]:
    """Reads the answers of these streams, as in RFC 9113. After a frame that breaks a rule, all is unclear."""
    streams = {number: _Stream() for number in opened}
    decoder, at = hpack.Decoder(), 0
    while len(data) - at >= 9:
        length, kind, flags = int.from_bytes(data[at : at + 3]), data[at + 3], data[at + 4]
        number = int.from_bytes(data[at + 5 : at + 9])
        payload = data[at + 9 : at + 9 + length]
        if len(payload) < length:
            break
        at += 9 + length
        first = at == 9 + length  # the settings of the server
        if not first and not _take_frame(streams, decoder, kind, flags, number, payload):
            for each in streams.values():
                each.odd = each.odd or not each.ended
            break
    return {number: each.answer() for number, each in streams.items()}


def _take_frame(
    streams: dict[int, _Stream], decoder: hpack.Decoder, kind: int, flags: int, number: int, payload: bytes
) -> bool:
    """Takes a frame; returns False if it breaks a rule, or if what follows is not certain."""
    stream = streams.get(number)
    if kind in (_DATA, _HEADERS):
        if stream is None or stream.ended or stream.cut:
            return False
        if flags & _PADDED:
            payload = payload[1 : len(payload) - payload[0]] if payload and payload[0] < len(payload) else b""
        if kind == _DATA and stream.status == 0:
            return False
        if kind == _DATA:
            stream.body += payload
        elif not flags & _END_HEADERS or flags & _PRIORITY or not stream.take_head(decoder, payload):
            return False
        stream.ended = bool(flags & _END_STREAM)
        left = 0 if stream.length is None else stream.length - len(stream.body)
        return left == 0 or (left > 0 and not stream.ended) if stream.status > 0 else not stream.ended
    if kind == _RST_STREAM and stream is not None:
        stream.cut = True
        return True
    return _is_harmless(kind, flags, number, payload)


def _is_harmless(kind: int, flags: int, number: int, payload: bytes) -> bool:
    """Whether every client goes on after a frame, without a change for the answers."""
    if kind == _PRIORITY_FRAME:
        return number > 0 and len(payload) == 5 and payload[:4] == bytes(4)
    if kind == _SETTINGS:
        return number == 0 and (not payload or (len(payload) == 6 and payload[:2] == b"\0\3" and not flags & 1))
    if kind == _PING:
        return number == 0 and len(payload) == 8
    if kind == _WINDOW_UPDATE:
        return len(payload) == 4 and 0 < int.from_bytes(payload) < 1 << 16
    return kind > _CONTINUATION


def answers_of(track: Track) -> list[tuple[Request, Answer]]:
    """Returns the requests of a connection and what was sent to them."""
    requests = track.requests
    if track.http2:
        read = read_http2(bytes(track.sent), [each.stream for each in requests])
        return [(each, read[each.stream]) for each in requests]
    found: list[tuple[Request, Answer]] = []
    ends = [each.at for each in requests[1:]] + [len(track.sent)]
    clear = True
    for request, end in zip(requests, ends, strict=False):
        clear = clear and (bool(found) or request.at == 0)
        answer = read_http1(bytes(track.sent[request.at : end])) if clear else UNCLEAR
        clear = clear and answer.end > 0 and answer.end == end - request.at
        found.append((request, answer))
    return found


def judge_connections(tracks: Iterable[Track]) -> Iterator[str]:
    """Yields a text for each request that must not have been sent over its connection."""
    for number, track in enumerate(tracks):
        answered = [] if track.http2 else answers_of(track)
        for (request, answer), (further, _) in pairwise(answered):
            end, what = request.at + answer.end, f"{further.asked} was sent over connection {number}"
            if answer.state == "cut" and answer.end == 0:
                yield f"{what}, before the answer to {request.asked} had ended"
            # Of bytes that were sent apart from the answer, the client may have known nothing.
            if answer.end > 0 and end < further.at and end not in track.sends:
                yield f"{what}, after bytes behind the answer to {request.asked}"


def judge_calls(calls: Iterable[Call], tracks: Iterable[Track]) -> Iterator[tuple[Call, str]]:
    """Yields a text for each rule that the result of a call breaks."""
    exchanges: dict[tuple[str, int], list[tuple[Request, Answer, Track]]] = {}
    for track in tracks:
        for request, answer in answers_of(track):
            exchanges.setdefault((request.asked.what, request.asked.mark), []).append((request, answer, track))
    for call in calls:
        for broken in _judge(call, exchanges.get((call.kind, call.number), [])):
            yield call, broken


def _judge(call: Call, sent: list[tuple[Request, Answer, Track]]) -> Iterator[str]:
    error = call.error or {}
    if KEY in json.dumps([error, call.result, call.head], default=repr):
        yield "it shows the key"
    if "\n" in error.get("message", ""):
        yield "the error is not one line"
    if not call.ended or call.kind == "list":
        return
    sent = sorted(sent, key=lambda each: each[0].time)
    answers = [answer for _, answer, _ in sent]
    whole = [answer.status for answer in answers if answer.state == "whole"]
    if len(sent) > call.max_retries + 1 and not call.is_write:
        yield f"it was sent {len(sent)} times, with {call.max_retries} retries"
    if call.error is None and UNCLEAR not in answers and not any(200 <= status < 300 for status in whole):
        yield f"it succeeded, but {whole or 'nothing whole'} was sent"
    said = error.get("http_status", 0) if call.error else call.head[0] if call.head else 0
    named = [int(status) for at, _, track in sent for status in _STATUS.findall(track.sent[at.at :])]
    known = named if UNCLEAR in answers else whole
    if said not in (0, *known) and error.get("class") not in _WITHOUT_ANSWER and not any(t.http2 for _, _, t in sent):
        yield f"status {said}, but {known or 'nothing whole'} was sent"
    for place, (_, answer, track) in enumerate(sent):
        again = place + 1 < len(sent)
        is_final = answer.state == "whole" and (call.is_write or answer.status not in _REPEATED)
        # The peer does not see an attempt that failed before it was sent; the error counts it.
        tried = again or (error.get("attempts") or 0) > place + 1
        is_final = is_final and not (tried and not call.is_write and _breaks_off(answer))
        if is_final and not _may_be_lost(call, track, again):
            yield from _of_answer(call, answer)
            if again:
                yield "it was sent again after a final answer"
            return


def _breaks_off(answer: Answer) -> bool:
    """Whether the JSON of a successful answer is incomplete: the client then sends a read again."""
    return 200 <= answer.status < 300 and answer.body[:1] in (b"{", b"[", b'"') and answer.body[-1:] != b"}"


def _may_be_lost(call: Call, track: Track, again: bool) -> bool:
    """Whether a call may end without a whole answer that was sent to it: at its deadline, cancelled, or because the
    connection ended before everything was read. Over HTTP/2 other streams may break the connection, and the next one
    may not begin. again: the call sent a further request."""
    error = call.error or {}
    told = error.get("class"), error.get("cause")
    late = "TimeoutError" in told and call.took >= call.timeout - 0.01
    ended = track.ended <= call.over and track.end != "closed"
    broken = track.http2 and (again or not {"ConnectionError", "TlsError"}.isdisjoint(told))
    return late or ended or broken or "CancelledError" in told


def _data_of(body: bytes) -> Any:
    """Returns the object `data` of a body; None if there is none."""
    try:
        data = json.loads(body.decode())["data"]
    except (ValueError, LookupError, TypeError):
        return None
    return data if isinstance(data, dict) else None


def _of_answer(call: Call, answer: Answer) -> Iterator[str]:
    """Compares the result of a call with the final answer to it."""
    error, what = call.error, f"the answer was {answer.status} {answer.body[:60]!r}"
    data = _data_of(answer.body)
    if not 200 <= answer.status < 300:
        if error is None or error.get("http_status") != answer.status:
            yield what
        elif error["class"] != _CLASSES.get(answer.status, error["class"]):
            yield f"{error['class']}, but {what}"
    elif call.kind == "delete" or data is not None:
        if error is not None or (call.kind != "delete" and call.result != data):
            yield what
    elif error is None or error["class"] != "DecodeError":
        yield f"{what}, without data"
