"""The same promises over HTTP/2, where one stream can break on a connection that lives, and GOAWAY is an end in words.

libcurl sends a request again by itself after REFUSED_STREAM or GOAWAY; a write must not be."""

from __future__ import annotations

import random
from typing import Any

from . import http2
from .certificates import Certificates
from .http2 import Codes, Http2Connection
from .scene import WRITES, Scene, World
from .test_answers import LATE, LOST, OK, SHORT, Row, combined, final, late, served, status


def row(name: str, step: Any, *, effect: int = 1, **more: Any) -> Row:
    return Row(name, step, effect=effect, **more)


ROWS = [
    row("refused-stream", http2.refused, effect=0),
    row("reset-after-the-request", http2.broken(Codes.INTERNAL_ERROR, "request"), effect=0),
    row("cancelled-after-the-effect", http2.broken(Codes.CANCEL, "effect")),
    row("reset-after-the-effect", http2.broken(Codes.INTERNAL_ERROR, "effect")),
    row("reset-after-the-headers", http2.broken(Codes.INTERNAL_ERROR, "headers")),
    row("reset-in-the-body", http2.broken(Codes.PROTOCOL_ERROR, "body")),
    row("connection-reset-after-the-request", http2.ended(effect=False, reset=True), effect=0),
    row("connection-closed-after-the-request", http2.ended(effect=False, reset=False), effect=0),
    row("connection-reset-after-the-effect", http2.ended(effect=True, reset=True)),
    row("connection-closed-after-the-effect", http2.ended(effect=True, reset=False)),
    row("goaway-not-begun", http2.gone_away(effect=False, last=0), effect=0),
    row("goaway-after-the-effect", http2.gone_away(effect=True)),
    row("goaway-error", http2.gone_away(effect=True, code=Codes.ENHANCE_YOUR_CALM)),
    row("body-too-short", http2.short),
    row("body-missing", http2.no_body),
    row("connection-closed-in-the-body", http2.cut),
    served("dripping", http2.drip),
    late("silent", http2.silent(effect=False), effect=0),
    late("silent-after-the-effect", http2.silent(effect=True)),
    late("silent-after-the-headers", http2.silent_after_headers),
    status("503-after-the-effect", http2.canned(503, effect=True), "ServerError", effect=1),
    status("429", http2.canned(429, ("retry-after", "0")), "RateLimitError"),
    final("301", http2.canned(301, ("location", "https://elsewhere.example/")), "ApiError", "ApiError", effect=0),
]


class Http2Scene(Scene):
    def __init__(self, world: World, language: str, certificates: Certificates) -> None:
        super().__init__(world, language, tls=certificates.http2, kind=Http2Connection)
        self._bundle = str(certificates.bundle)

    def options(self, **more: Any) -> dict[str, Any]:
        return super().options(ca_bundle=self._bundle, **more)


@combined(ROWS, "operation", ("orders.get",))
def test_a_read(world: World, language: str, certificates: Certificates, row: Row, operation: str) -> None:
    with Http2Scene(world, language, certificates) as scene:
        assert scene.call("orders.get", max_retries=2, timeout=row.timeout).name == OK
        scene.proxy.add(row.step)
        assert scene.call(operation, max_retries=2, timeout=row.timeout).name == row.once
        assert len(scene.proxy.seen) == (3 if row.retried else 2)
        scene.proxy.add(row.step)
        assert scene.call(operation, max_retries=0, timeout=row.timeout).name == row.always
        assert len(scene.proxy.seen) == (4 if row.retried else 3), "sent again without retries"


@combined(ROWS, "operation", *((operation,) for operation in WRITES))
def test_a_write(world: World, language: str, certificates: Certificates, row: Row, operation: str) -> None:
    with Http2Scene(world, language, certificates) as scene:
        assert scene.call("orders.get", max_retries=2, timeout=row.timeout).name == OK
        scene.proxy.add(row.step)
        outcome = scene.call(operation, max_retries=2, timeout=row.timeout)
        assert outcome.name == row.write, outcome
        assert scene.proxy.writes == 1, "sent twice"
        assert scene.call("orders.get", max_retries=2, timeout=row.timeout).name == OK
    assert outcome.reply["effects"] == row.effect


def test_a_stream_that_is_late_leaves_the_connection(world: World, language: str, certificates: Certificates) -> None:
    with Http2Scene(world, language, certificates) as scene:
        for _ in range(3):
            scene.proxy.add(http2.silent(effect=True))
            assert scene.call("subscriptions.charge", max_retries=2, timeout=SHORT).name == LATE
            assert scene.call("orders.get", max_retries=2, timeout=SHORT).name == OK
        assert scene.proxy.accepted == 1


def test_it_leaves_while_the_next_request_is_written(world: World, language: str, certificates: Certificates) -> None:
    chance = random.Random(2)
    with Http2Scene(world, language, certificates) as scene:
        for _ in range(60):
            scene.proxy.add(http2.leaving(chance))
            assert scene.call("orders.get", max_retries=3).name == OK
            outcome = scene.call("subscriptions.charge", max_retries=3)
            assert outcome.name in (OK, LOST), outcome
            scene.proxy.forget()
    assert OK in {outcome.name for outcome in scene.outcomes if outcome.mark is not None}
