"""Tests every fault between a request and its answer, for reads and for writes, on new and reused connections.

The expected outcomes follow three rules: a read is retried or fails with a typed error, a write that was sent is
never retried, and the client's result never contradicts the ledger.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

import billcore

from . import steps
from .proxy import Exchange, Step, passing
from .scene import ANY_BODY, WRITES, Scene, World

OK = "ok"
LOST, LATE = "OutcomeUnknownError/ConnectionError", "OutcomeUnknownError/TimeoutError"
SHORT = 0.4  # seconds: the deadline of calls that get no answer


@dataclass(frozen=True)
class Row:
    """A fault and the expected results of calls.

    once: result of a read that meets the fault once, with retries. always: result of a read that meets the fault at
    each attempt. retried: whether the client retries a read after the fault. write: result of a write with the fault.
    unspecified: result of a write whose answer may have any body, if it differs from `write`. effect: number of
    effects in the sandbox.
    """

    name: str
    step: Step
    once: str = OK
    always: str = "ConnectionError"
    write: str = LOST
    unspecified: str | None = None
    effect: int = 1
    retried: bool = True
    timeout: float = 10.0


def served(name: str, step: Step) -> Row:
    """A row with an unusual but valid answer."""
    return Row(name, step, always=OK, write=OK, retried=False)


def final(name: str, step: Step, error: str, write: str, *, unspecified: str | None = None, effect: int = 1) -> Row:
    """A row with a fault after which the client does not retry."""
    return Row(name, step, error, error, write, unspecified, effect, retried=False)


def status(name: str, step: Step, error: str, *, effect: int = 0) -> Row:
    return Row(name, step, always=error, write=error, effect=effect)


def late(name: str, step: Step, *, effect: int = 1) -> Row:
    return Row(name, step, "TimeoutError", "TimeoutError", LATE, effect=effect, retried=False, timeout=SHORT)


ROWS = [
    Row("reset-unread", steps.reset_unread, effect=0),
    Row("reset-after-1-byte", steps.reset_after(1), effect=0),
    Row("reset-after-60-bytes", steps.reset_after(60), effect=0),
    Row("reset-after-the-request", steps.ended(effect=False, reset=True), effect=0),
    Row("close-after-the-request", steps.ended(effect=False, reset=False), effect=0),
    Row("reset-after-the-effect", steps.ended(effect=True, reset=True)),
    Row("close-after-the-effect", steps.ended(effect=True, reset=False)),
    Row("reset-in-the-status-line", steps.cut("status", reset=True)),
    Row("close-in-the-status-line", steps.cut("status", reset=False)),
    Row("reset-in-the-headers", steps.cut("head", reset=True)),
    Row("close-in-the-headers", steps.cut("head", reset=False)),
    Row("reset-after-the-headers", steps.cut("headers", reset=True)),
    Row("close-after-the-headers", steps.cut("headers", reset=False)),
    Row("half-a-body-and-reset", steps.cut("body", reset=True)),
    Row("half-a-body-and-close", steps.cut("body", reset=False)),
    Row("length-too-long", steps.longer(10, hold=False)),
    late("length-too-long-and-open", steps.longer(10, hold=True)),
    Row("length-too-short", steps.shorter(10), always="DecodeError", write="DecodeError", unspecified=OK),
    served("no-length", steps.no_length),
    Row("no-length-and-cut", steps.no_length_cut),
    Row("length-no-number", steps.bad_length),
    served("length-said-twice", steps.lengths("{}, {}")),
    served("length-in-two-headers", steps.lengths("{}", "{}")),
    Row("lengths-that-differ", steps.lengths("{}, 3")),
    Row("lengths-that-differ-in-two-headers", steps.lengths("{}", "3")),
    Row("lengths-that-differ-the-other-way", steps.lengths("3", "{}")),
    Row("length-and-no-number", steps.lengths("{}, many")),
    served("two-answers", steps.two_answers),
    served("dripping", steps.drip(0.001, 100)),
    late("dripping-for-ever", steps.drip(0.05, 1)),
    late("silent", steps.silent(effect=False), effect=0),
    late("silent-after-the-effect", steps.silent(effect=True)),
    late("silent-after-the-headers", steps.silent_after_headers),
    Row("chunked-cut", steps.chunked(b"", close=True)),
    Row("chunk-cut", steps.chunked(b"40\r\n{", close=True)),
    Row("chunk-broken", steps.chunked(b"zz\r\n", close=False)),
    served("chunked-with-trailers", steps.chunked(b"0\r\nX-Sum: 1\r\nX-More: 2\r\n\r\n", close=False)),
    served("trailer-like-a-status-line", steps.chunked(b"0\r\nHTTP/1.1 500: x\r\n\r\n", close=False)),
    served("interim-answers", steps.interim),
    served("http-1.0", steps.http10),
    served("http-1.0-keep-alive", steps.http10_keep_alive),
    final("no-http", steps.garbage, "ConnectionError", LOST),
    served("header-of-90-kb", steps.big_header(90_000)),
    final("headers-of-2-mb", steps.big_header(50_000, 40), "ConnectionError", LOST),
    served("gzip", steps.gzipped()),
    Row("gzip-cut", steps.gzipped(cut=5)),
    served("gzip-in-chunks", steps.chunked(b"0\r\n\r\n", close=False, gzipped=True)),
    Row("gzip-in-chunks-and-cut", steps.chunked(b"", close=True, gzipped=True)),
    final("gzip-bomb", steps.gzip_bomb, "DecodeError", "DecodeError", unspecified=OK),
    final(
        "no-json", steps.canned(200, body=b"<h1>Hello</h1>", effect=True), "DecodeError", "DecodeError", unspecified=OK
    ),
    status("408", steps.canned(408), "ApiError"),
    status("408-after-the-effect", steps.canned(408, effect=True), "ApiError", effect=1),
    status("429", steps.canned(429), "RateLimitError"),
    status("429-retry-after-0", steps.canned(429, "Retry-After: 0"), "RateLimitError"),
    status("500-after-the-effect", steps.canned(500, effect=True), "ServerError", effect=1),
    status("502-html", steps.canned(502, "Content-Type: text/html", body=b"<h1>Bad gateway</h1>"), "ServerError"),
    status("503", steps.canned(503), "ServerError"),
    status("503-retry-after-0", steps.canned(503, "Retry-After: 0"), "ServerError"),
    status("503-retry-after-nonsense", steps.canned(503, "Retry-After: soon"), "ServerError"),
    status("504-after-the-effect", steps.canned(504, body=b"", effect=True), "ServerError", effect=1),
    final("400", steps.canned(400), "BadRequestError", "BadRequestError", effect=0),
    final("402", steps.canned(402), "PaymentError", "PaymentError", effect=0),
]
# Rows with a fault of the connection, not of an answer's content.
CONNECTION_ROWS = [row for row in ROWS if row.write in (LOST, LATE)]


def combined(chosen: list[Row], names: str, *cases: tuple[Any, ...]) -> pytest.MarkDecorator:
    """Parametrises a test with each row and each case; a slow row gets only the first two cases."""
    values = [
        pytest.param(row, *case, id="-".join([row.name, *map(str, case)]))
        for row in chosen
        for case in cases[: 2 if row.timeout == SHORT else None]
    ]
    return pytest.mark.parametrize(f"row,{names}", values)


@combined(ROWS, "operation,reused", ("orders.get", True), ("subscriptions.list", False))
def test_a_read_recovers_from_one_faulty_answer(
    world: World, language: str, row: Row, operation: str, reused: bool
) -> None:
    with Scene(world, language) as scene:
        if reused:
            assert scene.call("orders.get", max_retries=2).name == OK
        scene.proxy.add(row.step)
        outcome = scene.call(operation, max_retries=2, timeout=row.timeout)
        assert outcome.name == row.once, outcome
        scene.proxy.wait_for(1 + reused)
        attempts = reused + (2 if row.retried else 1)
        assert len(scene.proxy.seen) == attempts
        assert scene.call("orders.get", max_retries=2).name == OK
        assert len(scene.proxy.seen) == attempts + 1


@pytest.mark.one_language
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_a_read_gives_up_on_an_answer_that_stays_faulty(world: World, language: str, row: Row) -> None:
    with Scene(world, language, script=[row.step] * 2) as scene:
        outcome = scene.call("orders.get", max_retries=1, timeout=row.timeout)
        attempts = 2 if row.retried else 1
        assert outcome.name == row.always, outcome
        scene.proxy.wait_for(1)
        assert not outcome.unknown and len(scene.proxy.seen) == attempts
        if outcome.name not in (OK, "DecodeError"):
            assert outcome.error["attempts"] == attempts


@combined([row for row in ROWS if row.timeout != SHORT], "reused", (False,), (True,))
def test_a_read_without_retries_is_sent_once(world: World, language: str, row: Row, reused: bool) -> None:
    with Scene(world, language) as scene:
        if reused:
            assert scene.call("orders.get", max_retries=0, timeout=row.timeout).name == OK
        scene.proxy.add(row.step)
        assert scene.call("orders.get", max_retries=0, timeout=row.timeout).name == row.always
        assert len(scene.proxy.seen) == 1 + reused


@combined(
    ROWS,
    "operation,reused",
    ("subscriptions.charge", True),
    ("subscriptions.charge", False),
    *((operation, True) for operation in WRITES[1:]),
)
def test_a_write_with_a_faulty_answer_is_sent_once(
    world: World, language: str, row: Row, operation: str, reused: bool
) -> None:
    with Scene(world, language) as scene:
        if reused:
            assert scene.call("orders.get", max_retries=2).name == OK
        scene.proxy.add(row.step, passing)
        outcome = scene.call(operation, max_retries=2, timeout=row.timeout)
        expected = row.unspecified if row.unspecified and operation in ANY_BODY else row.write
        assert outcome.name == expected, outcome
        scene.proxy.wait_for(1 + reused)
        assert scene.proxy.writes == 1, "sent twice"
        if outcome.name not in (OK, "DecodeError"):
            assert outcome.error["attempts"] == 1
        assert scene.call("orders.get", max_retries=2).name == OK
        if reused:
            assert len({seen.connection for seen in scene.proxy.seen[:2]}) == 1, "the connection was not reused"
    assert outcome.reply["effects"] == row.effect


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("operation", ["orders.get", "subscriptions.charge", "products.delete"])
def test_a_redirect_is_not_followed(world: World, language: str, operation: str, status: int) -> None:
    with Scene(world, language) as scene, Scene(world, language) as elsewhere:
        scene.proxy.add(steps.canned(status, f"Location: {elsewhere.base_url}/order/1", body=b""))
        outcome = scene.call(operation, max_retries=2)
        assert outcome.name == "ApiError" and outcome.error["http_status"] == status
        assert outcome.unknown == (operation != "orders.get")
        assert elsewhere.proxy.accepted == 0 and len(scene.proxy.seen) == 1


@pytest.mark.parametrize("size", [110_000, 200_000, 1_000_000])
@pytest.mark.parametrize("operation", ["orders.get", *WRITES])
def test_a_header_over_libcurls_limit(world: World, language: str, operation: str, size: int) -> None:
    """libcurl reports a header over its size limit as "Out of memory". The client cannot read the answer, so the
    outcome of a write is unknown."""
    with Scene(world, language, script=[steps.big_header(size)] * 3) as scene:
        outcome = scene.call(operation, max_retries=2)
        assert outcome.name == ("ConnectionError" if operation == "orders.get" else LOST), outcome
        assert "header" in outcome.error["message"] and "memory" not in outcome.error["message"], outcome
        assert len(scene.proxy.seen) == 1


LONG = steps.canned(200, body=b'{"data":{"id":"%s"}}' % (b"x" * 5000), effect=True)


@pytest.mark.one_language
@pytest.mark.parametrize("step", [LONG, steps.transfer_bomb, steps.gzip_bomb], ids=["long", "bomb", "gzip-bomb"])
@pytest.mark.parametrize("operation", ["orders.get", *WRITES])
def test_an_answer_over_max_response(world: World, language: str, operation: str, step: Step) -> None:
    with Scene(world, language, script=[step] * 3) as scene:
        outcome = scene.call(operation, max_retries=2, max_response=4096)
        assert outcome.name == ("DecodeError" if operation == "orders.get" else "OutcomeUnknownError/DecodeError")
        assert len(scene.proxy.seen) == 1


@pytest.mark.one_language
def test_trailers_are_not_headers(world: World, language: str) -> None:
    def step(exchange: Exchange) -> None:
        answer = exchange.forward()
        head = answer.with_headers(Content_Length=None, Transfer_Encoding="chunked", X_Request_Id="of-the-head")
        trailers = b"X-Request-Id: of-the-trailers\r\nRetry-After: 60\r\nHTTP/1.1 500: x\r\n"
        exchange.send(head + b"%x\r\n%s\r\n0\r\n%s\r\n" % (len(answer.body), answer.body, trailers))

    with Scene(world, language, script=[step]) as scene, billcore.Client(**scene.options(max_retries=0)) as client:
        product = client.products.list().first()
        assert product is not None and product.response_info is not None
        assert product.response_info.request_id == "of-the-head" and product.response_info.status == 200
        assert not {"retry-after", "http/1.1 500"} & set(product.response_info.headers)
