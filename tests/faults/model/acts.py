"""What the model's peer does with a request in HTTP/1, and with an idle connection."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from .. import steps
from ..proxy import Exchange, Gone, RawAnswer, Step, passing
from ..test_strays import STRAYS, behind
from .peer import Act
from .service import KEY, refusal
from .wire import read_http1

Make = Callable[[random.Random], Step]
# Maps each status to whether a write that gets this status may have had an effect.
EFFECTS = {
    301: False,
    401: False,
    402: False,
    404: False,
    422: False,
    429: False,
    408: True,
    500: True,
    502: True,
    503: True,
}
EARLY_HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"
INTERIM = [EARLY_HINTS, b"HTTP/1.1 102 X\r\n\r\n", b"HTTP/1.1 100 Continue\r\n\r\n"]
# What may get into an answer by mistake.
WORDS = [
    *[b"\r\n", b"\n", b"\r", b"\0", b"\r\n\r\n", b" ", b":", b"0\r\n\r\n", b"ffffffffffffffff\r\n", b'"', b"}"],
    *[b"HTTP/1.1 200 OK\r\n", b"HTTP/1.0 404 X\r\n\r\n", b"HTTP/1.1 101 X\r\n\r\n", b"http/1.1 402 X\r\n"],
    *[b"Content-Length: 3\r\n", b"Content-Length: \r\n", b"Content-Encoding: gzip\r\n", b"Connection: close\r\n"],
    *[b"Transfer-Encoding: chunked\r\n", b"Transfer-Encoding: gzip\r\n", b"Retry-After: 1\r\n", b" folded: x\r\n"],
    *[b"no colon\r\n", b"HTTP/x.1 402 X\r\n"],
    *STRAYS.values(),
]


def drawn_status(chance: random.Random) -> tuple[int, bool, list[str]]:
    """Returns a random status, whether a write takes effect before this answer, and further header lines."""
    status = chance.choice(list(EFFECTS))
    more = ["Retry-After: 0"] if chance.random() < 0.5 else []
    if status == 301:
        more = ["Location: https://elsewhere.example/"]
    if status == 503 and chance.random() < 0.3:
        more = ["Retry-After: 50"]  # more than any call has left
    return status, EFFECTS[status] and chance.random() < 0.5, more


def _answer(exchange: Any, chance: random.Random) -> RawAnswer:
    """Returns an honest answer, or one with a status other than 200."""
    if chance.random() < 0.7:
        answer: RawAnswer = exchange.forward()
        return answer
    status, effect, more = drawn_status(chance)
    if effect:
        exchange.forward()
    return refusal(status, exchange.asked, *more)


def framed(answer: RawAnswer, chance: random.Random) -> bytes:
    """Writes an answer in one of the ways that HTTP/1.1 allows."""
    interim = b"".join(chance.choice(INTERIM) for _ in range(chance.choice([0, 0, 0, 1, 2])))
    first, *lines = answer.with_headers(Content_Length=None).split(b"\r\n")[:-2]
    sizes = chance.sample([1, 40, 3000, 3001], chance.choice([0, 0, 1, 3]))
    lines += [b"X-%d: %s" % (size, b"x" * size) for size in sizes]
    lines.append(b"X-Echo: " + KEY.encode())
    if chance.random() < 0.5:
        body, framing = answer.body, b"Content-Length: %d" % len(answer.body)
    else:
        body, framing = _chunked(answer.body, chance), b"Transfer-Encoding: chunked"
    lines.insert(chance.randint(0, len(lines)), framing if chance.random() < 0.7 else framing.lower())
    return interim + b"\r\n".join([first, *lines, b"", b""]) + body


def _chunked(body: bytes, chance: random.Random) -> bytes:
    most, form = chance.choice([7, 20, 300, 5000]), chance.choice([b"%x\r\n", b"%X\r\n", b"%x;a=1\r\n"])
    out = b""
    while body:
        size = chance.randint(1, most)
        piece, body = body[:size], body[size:]
        out += form % len(piece) + piece + b"\r\n"
    trailers = b"X-Sum: 1\r\nX-Request-Id: of-the-trailers\r\n" if chance.random() < 0.3 else b""
    return out + b"0\r\n" + trailers + b"\r\n"


def send(exchange: Exchange, data: bytes, chance: random.Random, most: int) -> None:
    """Sends the bytes in random pieces; none begins behind the first `most` bytes."""
    count = chance.choice([0, 0, 1, 2, 8]) if most > 1 else 0
    places = sorted(chance.randrange(1, most) for _ in range(count))
    for begin, end in zip([0, *places], [*places, len(data)], strict=True):
        exchange.send(data[begin:end])
        if end < len(data) and exchange.stopped.wait(chance.choice([0, 0, 0.002, 0.01])):
            raise Gone


def answering(chance: random.Random) -> Step:
    def step(exchange: Any) -> None:
        data = framed(_answer(exchange, chance), chance)
        send(exchange, data, chance, len(data))

    return step


def cut(chance: random.Random) -> Step:
    """Ends the answer at any byte, and ends the connection or stays silent."""

    def step(exchange: Any) -> None:
        data = framed(_answer(exchange, chance), chance)
        data = data[: chance.randrange(len(data))]
        send(exchange, data, chance, len(data))
        chance.choice([exchange.close, exchange.close, exchange.reset, exchange.hang])()

    return step


def changed(chance: random.Random) -> Step:
    """Changes an answer at any byte. The bytes that may begin another answer are sent with the last byte of the
    answer, so that the client has them when its call ends."""

    def step(exchange: Any) -> None:
        data = edited(framed(_answer(exchange, chance), chance), chance)
        answer = read_http1(data)
        send(exchange, data, chance, answer.end if answer.state == "whole" else 0)
        after = chance.random()
        if after < 0.4:
            exchange.close()
        elif after < 0.5:
            exchange.reset()

    return step


def edited(data: bytes, chance: random.Random, first: int = 0) -> bytes:
    for _ in range(chance.choice([1, 1, 2, 5])):
        at = chance.randint(first, chance.choice([len(data), min(len(data), first + 200)]))
        size = chance.randint(1, 30)
        data = chance.choice(
            [
                data[:at] + bytes([chance.randrange(256)]) + data[at + 1 :],
                data[:at] + chance.choice(WORDS) + data[at:],
                data[:at] + data[at + size :],
                data[: at + size] + data[at:],
            ]
        )
    return data


def refusing(chance: random.Random) -> Step:
    status, effect, more = drawn_status(chance)

    def step(exchange: Any) -> None:
        if effect:
            exchange.forward()
        exchange.send(refusal(status, exchange.asked, *more).raw)

    return step


def bodyless(behind: bytes) -> Step:
    """Sends an answer that has no body, and bytes behind it."""

    def step(exchange: Any) -> None:
        exchange.forward()
        exchange.send(b"HTTP/1.1 204 No Content\r\n\r\n" + behind)

    return step


def twice(exchange: Any) -> None:
    answer = exchange.forward()
    exchange.send(answer.raw + answer.raw)


def closing(first: Step, chance: random.Random) -> Step:
    return steps.then(first, reset=flip(chance), pause=chance.choice([0, 0.0003, 0.001]))


def flip(chance: random.Random) -> bool:
    return chance.random() < 0.5


# Rows are (weight, name, step, whether stray bytes remain on the connection).
_TABLE: list[tuple[int, str, Make, bool]] = [
    (40, "plain", lambda chance: passing, False),
    (16, "framed", answering, False),
    (10, "cut", cut, False),
    (14, "changed", changed, False),
    (2, "no length", lambda chance: steps.no_length, False),
    (2, "no length, cut", lambda chance: steps.no_length_cut, False),
    (1, "HTTP/1.0", lambda chance: steps.http10, False),
    (1, "HTTP/1.0, kept", lambda chance: steps.http10_keep_alive, False),
    (1, "large header", lambda chance: steps.big_header(chance.choice([60_000, 120_000])), False),
    (2, "too long", lambda chance: steps.longer(chance.randint(1, 400), hold=flip(chance)), False),
    (3, "too short", lambda chance: steps.shorter(chance.randint(1, 60)), True),
    (3, "twice", lambda chance: twice, True),
    (3, "two answers", lambda chance: steps.two_answers, True),
    (2, "no body", lambda chance: bodyless(b""), False),
    (2, "no body, and a stray", lambda chance: bodyless(chance.choice(list(STRAYS.values()))), True),
    (2, "gzip", lambda chance: steps.gzipped(), False),
    (2, "gzip, cut", lambda chance: steps.gzipped(chance.randint(1, 20)), False),
    (5, "ended", lambda chance: steps.ended(effect=flip(chance), reset=flip(chance)), False),
    (3, "silent", lambda chance: steps.silent(effect=flip(chance)), False),
    (6, "closed behind the answer", lambda chance: closing(passing, chance), False),
    (2, "closed behind the status", lambda chance: closing(refusing(chance), chance), False),
]
_BEHIND = ["length", "length-apart", "length-split", "chunked", "chunked-apart", "chunked-split"]


PLAIN = Act("plain", passing)


def http1(chance: random.Random) -> Act:
    if chance.random() < 0.06:
        kind, stray = chance.choice(_BEHIND), chance.choice(list(STRAYS))
        return Act(f"{stray} behind {kind}", behind(kind, STRAYS[stray]), spoils=True)
    _, name, make, spoils = chance.choices(_TABLE, [row[0] for row in _TABLE])[0]
    early = chance.random() < 0.1
    delay = chance.choice([0.01, 0.1, 0.4]) if chance.random() < 0.15 else 0.0
    shown = name + (", early" if early else "") + (f", {delay} s late" if delay else "")
    return Act(shown, make(chance), spoils, name == "changed", early, delay)


def between_calls(chance: random.Random) -> tuple[str, bytes, str]:
    """Chooses a random act for an idle connection: its name, the bytes to send, and how to end the connection ("": it
    stays open)."""
    drawn = chance.random()
    if drawn < 0.5:
        return "nothing", b"", ""
    if drawn < 0.8:
        name = chance.choice(list(STRAYS))
        return f"stray {name}", STRAYS[name], "close" if name == "408" or chance.random() < 0.2 else ""
    end = chance.choice(["close", "reset"])
    return end, b"", end
