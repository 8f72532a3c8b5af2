"""Repeats test_answers.py over HTTP/2, where one stream of a connection may break, and the peer may send GOAWAY.

libcurl itself retries a request after REFUSED_STREAM or GOAWAY. billcore must prevent libcurl from retrying a write.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import billcore

from . import http2
from .certificates import Certificates
from .http2 import Codes, Http2Connection, Stream
from .libcurl import release
from .proxy import RawAnswer, passing
from .scene import ANY_BODY, WRITES, Scene, World, skip_on_a_loop
from .test_answers import LATE, LOST, OK, Row, combined, final, late, served, status
from .test_async import call


def row(name: str, step: Any, *, effect: int = 1, **more: Any) -> Row:
    return Row(name, step, effect=effect, **more)


# Only nghttp2 can distinguish the normal end of a stream from a reset with NO_ERROR, and only the build in the wheel
# queries nghttp2. A build outside the wheel accepts an answer whose stream was reset if the answer's JSON is complete.
SEES_FRAMES = not release()

ROWS = [
    row("reset-after-the-request", http2.broken(Codes.INTERNAL_ERROR, "request"), effect=0),
    row("cancelled-after-the-effect", http2.broken(Codes.CANCEL, "effect")),
    row("reset-after-the-effect", http2.broken(Codes.INTERNAL_ERROR, "effect")),
    row("reset-after-the-headers", http2.broken(Codes.INTERNAL_ERROR, "headers")),
    row("reset-in-the-body", http2.broken(Codes.PROTOCOL_ERROR, "body")),
    row("connection-reset-after-the-request", http2.ended(effect=False, reset=True), effect=0),
    row("connection-closed-after-the-request", http2.ended(effect=False, reset=False), effect=0),
    row("connection-reset-after-the-effect", http2.ended(effect=True, reset=True)),
    row("connection-closed-after-the-effect", http2.ended(effect=True, reset=False)),
    row("goaway-after-the-effect", http2.gone_away(effect=True)),
    row("goaway-error", http2.gone_away(effect=True, code=Codes.ENHANCE_YOUR_CALM)),
    row("reset-without-error-in-the-body", http2.no_error(-5)),
    row("reset-without-error-in-a-string", http2.no_error(12)),
    row("reset-without-error-in-a-string-apart", http2.no_error(12, apart=True)),
    row("reset-without-error-after-the-headers", http2.no_error(0)),
    row("reset-without-error-after-the-headers-apart", http2.no_error(0, apart=True)),
    served("reset-without-error-after-the-end", http2.no_error(None, end=True)),
    (row if SEES_FRAMES else served)("reset-without-error-for-the-end", http2.no_error(None, apart=True)),
    row("connection-broken-after-the-headers", http2.broken_off(0)),
    row("connection-broken-in-a-string", http2.broken_off(12)),
    row("connection-broken-for-the-end", http2.broken_off(None)),
    served("no-length", http2.no_length),
    served("trailers", http2.trailers),
    row("body-too-short", http2.short),
    row("body-missing", http2.no_body),
    row("ended-by-the-headers", http2.canned(200, ("content-length", "5"), effect=True)),
    row("connection-closed-in-the-body", http2.cut),
    served("dripping", http2.drip),
    served("gzip", http2.gzipped()),
    served("gzip-without-length", http2.gzipped(length=False)),
    row("gzip-cut", http2.gzipped(cut=5)),
    row("gzip-too-short", http2.gzipped(short=5)),
    late("silent", http2.silent(effect=False), effect=0),
    late("silent-after-the-effect", http2.silent(effect=True)),
    late("silent-after-the-headers", http2.silent_after_headers),
    status("503-after-the-effect", http2.canned(503, effect=True), "ServerError", effect=1),
    status("429", http2.canned(429, ("retry-after", "0")), "RateLimitError"),
    final("301", http2.canned(301, ("location", "https://elsewhere.example/")), "ApiError", "ApiError", effect=0),
]


# All calls have the same options, so that the driver reuses one client and its connections. The deadline is long
# enough for a TLS connection on a busy machine.
GIVEN = {"max_retries": 2, "timeout": 3.0}


class Http2Scene(Scene):
    def __init__(
        self,
        world: World,
        language: str,
        certificates: Certificates,
        kind: type[Http2Connection] = Http2Connection,
    ) -> None:
        super().__init__(world, language, tls=certificates.http2, kind=kind)
        self._bundle = str(certificates.bundle)

    def options(self, **more: Any) -> dict[str, Any]:
        return super().options(ca_bundle=self._bundle, **more)


@combined(ROWS, "operation", ("orders.get",))
def test_a_read_recovers_from_a_faulty_http2_answer(
    world: World, language: str, certificates: Certificates, row: Row, operation: str
) -> None:
    with Http2Scene(world, language, certificates) as scene:
        assert scene.call("orders.get", max_retries=2).name == OK
        scene.proxy.add(row.step)
        assert scene.call(operation, max_retries=2, timeout=row.timeout).name == row.once
        scene.proxy.wait_for(2)
        assert len(scene.proxy.seen) == (3 if row.retried else 2)
        # The next call may need a new connection, for which the time-out of a late call is too short.
        assert scene.call("orders.get", max_retries=0).name == OK
        before = len(scene.proxy.seen)
        scene.proxy.add(row.step)
        assert scene.call(operation, max_retries=0, timeout=row.timeout).name == row.always
        scene.proxy.wait_for(before + 1)
        assert len(scene.proxy.seen) == before + 1, "sent again without retries"


@combined(ROWS, "operation", *((operation,) for operation in WRITES))
def test_a_write_with_a_faulty_http2_answer_is_sent_once(
    world: World, language: str, certificates: Certificates, row: Row, operation: str
) -> None:
    with Http2Scene(world, language, certificates) as scene:
        assert scene.call("orders.get", max_retries=2).name == OK
        scene.proxy.add(row.step)
        outcome = scene.call(operation, max_retries=2, timeout=row.timeout)
        assert outcome.name == (row.unspecified if operation in ANY_BODY and row.unspecified else row.write), outcome
        scene.proxy.wait_for(2)
        assert scene.proxy.writes == 1, "sent twice"
        assert scene.call("orders.get", max_retries=2).name == OK
    assert outcome.reply["effects"] == row.effect


REFUSALS = [http2.refused, http2.gone_away(effect=False, last=0)]
NAMES = ["refused-stream", "goaway"]


@pytest.mark.parametrize("operation", ["orders.get", "subscriptions.charge", "subscriptions.cancel"])
@pytest.mark.parametrize("refusal", REFUSALS, ids=NAMES)
def test_a_refused_stream_is_sent_again_if_the_client_sees_the_frames(
    world: World, language: str, certificates: Certificates, refusal: Any, operation: str
) -> None:
    """The service says that it did not process the request. Where the client sees the frames, it sends the request
    again, also a write; elsewhere the outcome of a write is unknown."""
    write = operation != "orders.get"
    with Http2Scene(world, language, certificates) as scene:
        assert scene.call("orders.get", max_retries=2).name == OK
        scene.proxy.add(refusal)
        outcome = scene.call(operation, max_retries=2)
        assert outcome.name == (OK if SEES_FRAMES or not write else LOST), outcome
        scene.proxy.add(*[refusal] * 3)
        outcome = scene.call(operation, max_retries=2)
        assert outcome.name == ("ConnectionError" if SEES_FRAMES or not write else LOST), outcome
        assert ("did not process" in outcome.error["message"]) == SEES_FRAMES
        assert outcome.unknown == (write and not SEES_FRAMES)
        scene.proxy.forget()


@pytest.mark.skipif(not SEES_FRAMES, reason="only the wheel sees the frames of HTTP/2")
def test_a_refusal_after_a_part_of_the_answer_proves_nothing(
    world: World, language: str, certificates: Certificates
) -> None:
    with Http2Scene(world, language, certificates) as scene:
        for place in ("headers", "body"):
            scene.proxy.add(http2.broken(Codes.REFUSED_STREAM, place))
            outcome = scene.call("subscriptions.charge", max_retries=2)
            assert outcome.name == LOST, outcome
        assert scene.proxy.writes == 2


@pytest.mark.skipif(not SEES_FRAMES, reason="only the wheel reads what has arrived when it cannot send any more")
def test_an_answer_that_arrived_before_a_reset_counts(world: World, certificates: Certificates) -> None:
    """The client cannot send the acknowledgement of the server's settings, which it reads before the answer."""

    def answered_and_reset(stream: http2.Stream) -> None:
        http2.passing(stream)
        stream.reset()

    async def main(scene: Scene) -> None:
        async with billcore.AsyncClient(**scene.options(max_retries=0)) as client:
            for _ in range(150):
                scene.proxy.add(answered_and_reset)
                outcome = await call(scene, client, "subscriptions.charge")
                assert outcome.name == OK, outcome
                scene.proxy.wait_until_closed()

    with Http2Scene(world, "python", certificates) as scene:
        asyncio.run(main(scene))


@pytest.mark.parametrize("operation", ["orders.get", "subscriptions.charge"])
@pytest.mark.parametrize("frame", ["stream", "goaway"])
def test_a_service_that_wants_http1(
    world: World, language: str, certificates: Certificates, frame: str, operation: str
) -> None:
    """The client sends a read again over HTTP/1.1, never a write, and uses HTTP/1.1 from then on."""
    if frame == "goaway" and not SEES_FRAMES:
        pytest.skip("only the wheel sees the frames of HTTP/2")
    refusal: http2.Http2Step = http2.http1_required
    if frame == "goaway":
        refusal = http2.gone_away(effect=False, last=0, code=Codes.HTTP_1_1_REQUIRED)
    given: dict[str, Any] = {"ca_bundle": str(certificates.bundle), "http2": True}
    for max_retries in (1, 0):
        with Scene(world, language, tls=certificates.both, kind=http2.by_protocol) as scene:
            scene.proxy.add(refusal)
            outcome = scene.call(operation, max_retries=max_retries, **given)
            if operation == "orders.get" and max_retries == 1:
                assert outcome.name == OK, outcome
            else:
                assert outcome.name == (LOST if operation != "orders.get" else "ConnectionError"), outcome
                assert "the next call uses HTTP/1.1" in outcome.error["message"]
            before = len(scene.proxy.seen)
            assert before == (2 if outcome.name == OK else 1)
            for _ in range(2):
                scene.proxy.add(passing)  # a step for HTTP/1.1
                assert scene.call("orders.get", max_retries=max_retries, **given).name == OK
            assert scene.call("subscriptions.charge", max_retries=max_retries, **given).name == OK


@pytest.mark.parametrize(("size", "count"), [(11_500, 26), (150, 2_000)])
@pytest.mark.parametrize("operation", ["orders.get", "subscriptions.charge"])
def test_headers_over_the_limit(
    world: World, language: str, certificates: Certificates, operation: str, size: int, count: int
) -> None:
    with Http2Scene(world, language, certificates) as scene:
        assert scene.call("orders.get", max_retries=2).name == OK
        scene.proxy.add(http2.big_header(size, count))
        outcome = scene.call(operation, max_retries=2)
        assert outcome.name == ("ConnectionError" if operation == "orders.get" else LOST), outcome
        assert "header" in outcome.error["message"], outcome
        assert len(scene.proxy.seen) == 2, "such headers do not get smaller"
        assert scene.call("orders.get", max_retries=2).name == OK


def test_a_silent_connection_gets_no_further_request(world: World, language: str, certificates: Certificates) -> None:
    """If nothing arrives on a connection after a request was sent, the connection may be dead. The client must not
    reuse a connection that may be dead."""
    skip_on_a_loop(language)
    with Http2Scene(world, language, certificates) as scene:
        assert scene.call("orders.get", **GIVEN).name == OK
        for times in range(1, 4):
            scene.proxy.add(http2.silent(effect=True))
            assert scene.call("subscriptions.charge", **GIVEN).name == LATE
            assert scene.call("orders.get", **GIVEN).name == OK
            assert scene.call("subscriptions.charge", **GIVEN).name == OK
            assert scene.proxy.accepted == 1 + times


def test_a_stream_that_is_late_on_a_live_connection_leaves_it(
    world: World, language: str, certificates: Certificates
) -> None:
    with Http2Scene(world, language, certificates) as scene:
        for _ in range(3):
            scene.proxy.add(http2.silent_after_headers)
            assert scene.call("orders.get", **GIVEN).name == "TimeoutError"
            assert scene.call("orders.get", **GIVEN).name == OK
        assert scene.proxy.accepted == 1


def test_trailers_are_not_headers(world: World, certificates: Certificates) -> None:
    with Http2Scene(world, "python", certificates) as scene:
        scene.proxy.add(http2.trailers)
        arguments, _ = world.arguments("orders.get")
        with billcore.Client(**scene.options(max_retries=0)) as client:
            info = client.orders.get(arguments["args"]["id"]).response_info
        assert info is not None and "x-sum" not in info.headers and info.request_id != "of-the-trailers"


READ_AHEAD = """
import asyncio, sys
import billcore

async def main(url, key, bundle, order):
    given = {"base_url": url, "api_key": key, "ca_bundle": bundle, "timeout": 20, "max_retries": 0, "http2": True}
    async with billcore.AsyncClient(**given) as client:
        await client.orders.get(order)
        await asyncio.gather(*(client.orders.get(order) for _ in range(3)))

asyncio.run(main(*sys.argv[1:]))
"""


def test_an_answer_that_the_tls_library_has_read_ahead(
    world: World, certificates: Certificates, tmp_path: Path
) -> None:
    """The first request finds nothing more to read, the second reads its own answer and, with it, that of the first."""
    library = tmp_path / "late_bytes.so"
    subprocess.run(
        ["cc", "-shared", "-fPIC", "-o", library, Path(__file__).with_name("late_bytes.c"), "-ldl"], check=True
    )
    streams: list[tuple[Stream, RawAnswer]] = []

    def step(stream: Stream) -> None:
        streams.append((stream, stream.forward()))
        if len(streams) == 3:
            for stream, answer in reversed(streams):
                stream.send_at_once(answer)
                if answer is streams[2][1]:
                    time.sleep(0.1)

    with Http2Scene(world, "python", certificates) as scene:
        scene.proxy.add(http2.passing, step, step, step)
        given = scene.options()
        order = world.arguments("orders.get")[0]["args"]["id"]
        subprocess.run(
            [sys.executable, "-c", READ_AHEAD, given["base_url"], given["api_key"], certificates.bundle, order],
            env={**os.environ, "LD_PRELOAD": str(library)},
            check=True,
        )
        assert scene.proxy.accepted == 1 and len(streams) == 3
