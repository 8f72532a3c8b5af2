"""What the model's peer does with a request in HTTP/1, and with an idle connection."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from .. import steps
from ..proxy import Step, passing
from ..test_strays import STRAYS, behind
from .peer import Act
from .service import refusal

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


def drawn_status(chance: random.Random) -> tuple[int, bool, list[str]]:
    """Returns a random status, whether a write takes effect before this answer, and further header lines."""
    status = chance.choice(list(EFFECTS))
    more = ["Retry-After: 0"] if chance.random() < 0.5 else []
    if status == 301:
        more = ["Location: https://elsewhere.example/"]
    return status, EFFECTS[status] and chance.random() < 0.5, more


def refusing(chance: random.Random) -> Step:
    status, effect, more = drawn_status(chance)

    def step(exchange: Any) -> None:
        if effect:
            exchange.forward()
        exchange.send(refusal(status, exchange.asked, *more).raw)

    return step


def twice(exchange: Any) -> None:
    answer = exchange.forward()
    exchange.send(answer.raw + answer.raw)


def closing(first: Step, chance: random.Random) -> Step:
    return steps.then(first, reset=chance.random() < 0.5, pause=chance.choice([0, 0.0003, 0.001]))


def _flip(chance: random.Random) -> bool:
    return chance.random() < 0.5


# Rows are (weight, name, step, whether stray bytes remain on the connection).
_TABLE: list[tuple[int, str, Make, bool]] = [
    (45, "plain", lambda chance: passing, False),
    (4, "in pieces", lambda chance: steps.drip(chance.choice([0.0, 0.002, 0.01]), chance.choice([60, 300])), False),
    (3, "chunked", lambda chance: steps.chunked(b"0\r\n\r\n", close=False), False),
    (2, "trailers", lambda chance: steps.chunked(b"0\r\nX-Sum: 1\r\nX-Request-Id: none\r\n\r\n", close=False), False),
    (3, "chunks cut", lambda chance: steps.chunked(chance.choice([b"", b"0\r\n", b"5\r\nab"]), close=True), False),
    (2, "interim", lambda chance: steps.interim, False),
    (2, "no length", lambda chance: steps.no_length, False),
    (2, "no length, cut", lambda chance: steps.no_length_cut, False),
    (1, "HTTP/1.0", lambda chance: steps.http10, False),
    (1, "HTTP/1.0, kept", lambda chance: steps.http10_keep_alive, False),
    (1, "bad length", lambda chance: steps.bad_length, False),
    (1, "two lengths", lambda chance: steps.lengths("{}", "3"), True),
    (1, "garbage", lambda chance: steps.garbage, False),
    (1, "large header", lambda chance: steps.big_header(chance.choice([3_000, 60_000, 120_000])), False),
    (
        5,
        "cut",
        lambda chance: steps.cut(chance.choice(["status", "head", "headers", "body"]), reset=_flip(chance)),
        False,
    ),
    (2, "too long", lambda chance: steps.longer(chance.randint(1, 400), hold=_flip(chance)), False),
    (3, "too short", lambda chance: steps.shorter(chance.randint(1, 60)), True),
    (3, "twice", lambda chance: twice, True),
    (3, "two answers", lambda chance: steps.two_answers, True),
    (5, "ended", lambda chance: steps.ended(effect=_flip(chance), reset=_flip(chance)), False),
    (3, "silent", lambda chance: steps.silent(effect=_flip(chance)), False),
    (1, "silent after the headers", lambda chance: steps.silent_after_headers, False),
    (9, "status", refusing, False),
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
    return Act(shown, make(chance), spoils, early, delay)


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
