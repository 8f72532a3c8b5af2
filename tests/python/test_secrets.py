"""No text shows a secret, even if the server echoes the request's headers in every encoding and place."""

from __future__ import annotations

import base64
import copy
import html
import json
import logging
import pickle
import re
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import billcore
from billcore import webhooks
from conformance.server import Reply, Request

from .calls_support import calling
from .conftest import Serve
from .support import API_KEY, SANITIZED, SECRET, SUBSCRIPTION, data, resource

PACKAGE = Path(billcore.__file__).resolve().parent
PLAIN = "live_9fA2xQ7mZ0pL4vTb8Kc"
# A key with every character that an encoder may write differently.
AWKWARD = "live/9f+A2\"x\\Q7'm<Z>0p&L=4%2Fv~T:b8{K}c"


def spellings(text: str) -> list[str]:
    """The text in the encodings of common string encoders. redact_test.cpp has more."""
    quoted = json.dumps(text)[1:-1]
    return [
        text,
        quoted,
        quoted.replace("/", "\\/"),
        "".join(f"\\u{ord(c):04X}" for c in text),
        quote(text, safe=""),
        html.escape(text),
        quote(text.swapcase(), safe=""),
        text.encode().hex(),
        *(base64.b64encode(before + text.encode()).decode() for before in (b"", b"u:", b"me:")),
    ]


def echoed(request: Request) -> str:
    """All headers of the request in all encodings, as one line."""
    return " ".join(spelt for name, value in request.headers for spelt in (name, *spellings(value)))


def answer(
    status: int, body: bytes, headers: dict[str, str] | None = None, reason: str = "Canned", trailer: str | None = None
) -> bytes:
    head = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in (headers or {}).items())]
    if trailer is None:
        head.append(f"Content-Length: {len(body)}")
    else:
        head.append("Transfer-Encoding: chunked")
        body = b"%x\r\n%b\r\n0\r\nX-Echo: %b\r\n\r\n" % (len(body), body, trailer.encode("latin-1"))
    return "\r\n".join([*head, "", ""]).encode("latin-1") + body


Shape = Callable[[int, str, str], bytes]  # (status, API key, result of echoed()) -> an answer
BODIES: dict[str, Callable[[str, str], bytes]] = {
    "of the interface": lambda key, echo: json.dumps({"error": {"code": key, "message": f"key {echo}"}}).encode(),
    "other JSON": lambda key, echo: json.dumps({key: [{"seen": echo}], "again": key}).encode(),
    "HTML": lambda key, echo: f"<html><p title='{html.escape(key)}'>{html.escape(echo)}</p>{echo}".encode(),
    "text": lambda key, echo: (" ".join(spellings(key)) + "\n" + echo).encode(),
}


def with_body(body: Callable[[str, str], bytes], fixed: int | None = None) -> Shape:
    return lambda status, key, echo: answer(fixed or status, body(key, echo))


SHAPES: dict[str, Shape] = {
    **{f"body {name}": with_body(body) for name, body in BODIES.items()},
    "header": lambda status, _, echo: answer(status, b"null", {"X-Echo": echo, "X-Again": echo, "Server": echo}),
    "reason": lambda status, _, echo: answer(status, b"null", reason=echo),
    "request id": lambda status, key, _: answer(status, b"null", {"X-Request-Id": " ".join(spellings(key))}),
    "Location": lambda status, key, _: answer(status, b"", {"Location": f"/{quote(key)}?k={key}"}),
    # libcurl does not accept a trailer line longer than 4 KiB.
    "trailer": lambda status, key, echo: answer(status, key.encode(), trailer=echo[:3000]),
}
STATUSES = (302, 401, 402, 404, 422, 429, 503)  # each with an exception of its own

# Invalid answers, each of which contains the API key.
BROKEN: dict[str, Shape] = {
    "no HTTP": lambda _, key, echo: f"{key} {echo}\r\n\r\n".encode(),
    "a wrong length": lambda _, key, __: f"HTTP/1.1 200 OK\r\nContent-Length: {key}\r\n\r\n{key}".encode(),
    "too short": lambda _, key, __: f"HTTP/1.1 200 {key}\r\nContent-Length: 9999\r\nX: {key}\r\n\r\n{key}".encode(),
    "a broken chunk": lambda _, key, __: f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{key}\r\n".encode(),
    "an unknown encoding": lambda _, key, __: answer(200, key.encode(), {"Content-Encoding": key}),
    "a header without a colon": lambda _, key, __: f"HTTP/1.1 200 OK\r\n{key}\r\n\r\n".encode(),
    "too much": lambda _, key, __: answer(200, key.encode() * 5000),
}
NOT_AS_PROMISED: dict[str, Shape] = {
    **{f"body {name}": with_body(body, 200) for name, body in BODIES.items()},
    "data is text": lambda _, key, echo: answer(200, json.dumps({"data": key, "pagination": echo}).encode()),
    "trailing text": lambda _, key, __: answer(200, b'{"data":{}} ' + key.encode()),
    "no UTF-8": lambda _, key, __: answer(200, b"\xff\xfe" + key.encode()),
}

OPERATIONS: list[Callable[[Any], Any]] = [
    lambda client: client.subscriptions.list().collect(),
    lambda client: client.subscriptions.get("s"),
    lambda client: client.subscriptions.charge("s", product_id=1, amount=100),
    lambda client: client.subscriptions.orders("s").first(),
    lambda client: client.products.delete(1),
    lambda client: client.request("PATCH", "/x", json={}),
]


class Heard(logging.Handler):
    """Collects all log records."""

    def __init__(self) -> None:
        super().__init__(0)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts += [record.getMessage(), repr(record.__dict__)]


@pytest.fixture
def heard() -> Iterator[Heard]:
    handler = Heard()
    loggers = [logging.getLogger(), logging.getLogger("billcore")]
    levels = [logger.level for logger in loggers]
    loggers[0].addHandler(handler)
    for logger in loggers:
        logger.setLevel(1)
    yield handler
    loggers[0].removeHandler(handler)
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)


def texts_of(error: BaseException) -> list[str]:
    """Every text that a report of this exception could show."""
    texts = [
        "".join(traceback.format_exception(error)),
        *(pickle.dumps(error, protocol).decode("latin-1") for protocol in (0, pickle.HIGHEST_PROTOCOL)),
    ]
    one: BaseException | None = error
    while one is not None:
        texts += [str(one), repr(one), repr(one.args), repr(one.__dict__), *getattr(one, "__notes__", [])]
        for frame, _ in traceback.walk_tb(one.__traceback__):
            if Path(frame.f_code.co_filename).resolve().is_relative_to(PACKAGE):
                texts.append(repr(frame.f_locals))
        one = one.__cause__ or one.__context__
    return texts


def show_nothing_of(key: str, texts: list[str]) -> None:
    spelt = {one.lower() for one in spellings(key)}
    spelt |= {repr(one)[1:-1] for one in spelt}
    assert texts
    looked_at: set[str] = set()
    for text in set(texts):
        lower = text.lower()
        for one in spelt:
            at = lower.find(one)
            assert at < 0, f"{one!r} is in {text[max(at - 200, 0) : at + 200]!r}"
        runs = set(re.findall(r"[\w+/-]{8,}", text)) - looked_at
        looked_at |= runs
        for run in runs:
            for skipped in range(4):
                rest = run[skipped:].translate(str.maketrans("-_", "+/"))
                decoded = base64.b64decode(rest[: len(rest) // 4 * 4])
                assert key.lower().encode() not in decoded.lower(), run


def play(kind: str, shape: Shape, statuses: tuple[int, ...], key: str, broken: bool) -> tuple[int, list[str]]:
    """Runs every operation with every status. Returns how many calls raised, and all texts."""
    status = 0

    def script(request: Request) -> Reply:
        sent = request.header("X-API-KEY")
        assert sent == key
        # The server closes the connection after a broken answer, so that the client does not wait for more.
        return Reply(raw=shape(status, sent, echoed(request)), ending="close" if broken else "keep")

    raised = 0
    texts: list[str] = []
    with (
        calling(kind, script, api_key=key, max_response=100_000) as (_, calls),
        warnings.catch_warnings(record=True) as warned,
    ):
        warnings.simplefilter("always")
        for status in statuses:  # noqa: B007 (the script reads it)
            for operation in OPERATIONS:
                call = operation(calls.client) if kind != "blocking" else None
                texts.append(repr(call))
                try:
                    result = calls.done(call or operation(calls.client))
                except billcore.BillcoreError as error:
                    raised += 1
                    texts += texts_of(error)
                else:  # the operation accepts any body
                    texts += [repr(result), repr(getattr(result, "response_info", None))]
                    texts.append(repr(getattr(result, "headers", None)))
            if not broken:
                response = calls.done(calls.client.request("GET", "/x", raise_on_error=False))
                texts += [repr(response), repr(response.headers), repr(response.response_info)]
        texts += [repr(calls.client), repr(calls.client.orders.get), *(str(one.message) for one in warned)]
    return raised, texts


EVERY = [
    *(("blocking", shape, STATUSES[::3] if SANITIZED else STATUSES, AWKWARD) for shape in SHAPES.values()),
    *(("blocking", shape, (200,), AWKWARD) for shape in NOT_AS_PROMISED.values()),
    *(("blocking", shape, (200,), key) for shape in BROKEN.values() for key in (PLAIN, AWKWARD)),
    # AsyncClient shares the core with Client, but separate code creates its exceptions, notes and log records.
    *(("asyncio", SHAPES[name], (402, 500), AWKWARD) for name in ("body of the interface", "header", "request id")),
]


@pytest.mark.parametrize(("kind", "shape", "statuses", "key"), EVERY)
def test_answers_show_no_key(
    capfd: pytest.CaptureFixture[str], heard: Heard, kind: str, shape: Shape, statuses: tuple[int, ...], key: str
) -> None:
    broken = shape in BROKEN.values()
    raised, texts = play(kind, shape, statuses, key, broken)
    # With a good status, two operations accept any body: delete and request().
    most = len(OPERATIONS) * len(statuses)
    assert raised > 0 if broken else raised == (most - 2 if shape in NOT_AS_PROMISED.values() else most)
    show_nothing_of(key, texts + heard.texts)
    assert capfd.readouterr() == ("", "")


def test_results_show_no_key(serve: Serve) -> None:
    def script(request: Request) -> Reply:
        echo = echoed(request)
        return Reply(raw=answer(200, data(SUBSCRIPTION).body, {"X-Echo": echo, "X-Request-Id": echo}))

    server, client = serve(script)
    made = client.subscriptions.get("s")
    info = made.response_info
    assert info is not None and "[redacted]" in (info.request_id or "") and "[redacted]" in info.headers["x-echo"]
    sent = server.requests[0].header("X-API-KEY")
    assert sent
    show_nothing_of(sent, [repr(made), repr(info), repr(info.headers), pickle.dumps(made).decode("latin-1")])


PORTAL = "https://portal.example/card?signature=S1+S2"


@pytest.mark.parametrize("spelt", spellings(PORTAL))
def test_errors_show_no_portal_url(serve: Serve, spelt: str) -> None:
    names = ("update_card_url", "invoices_url", "cancel_url")
    members = ",".join(f'"{name}":"{spelt}"' for name in names)
    bodies = [
        "{" + members + "}",
        json.dumps({"error": {"code": f"see {PORTAL}", "message": f"see {PORTAL}."}}),
        '{"data":[{' + members + "}]}",
    ]
    statuses = [500, 422, 200]
    _, client = serve([Reply(status=status, body=body.encode()) for status, body in zip(statuses, bodies, strict=True)])
    for _ in bodies:
        with pytest.raises(billcore.BillcoreError) as caught:
            client.subscriptions.cancel("s")
        show_nothing_of("signature", texts_of(caught.value))


def test_resources_show_no_portal_url() -> None:
    made = resource({**SUBSCRIPTION, "created_at": PORTAL, "price": PORTAL, "custom_fields": PORTAL})
    texts = [repr(made), str(made), repr([made])]
    for name in ("created_at", "price", "custom_fields"):
        with pytest.raises(billcore.DecodeError) as caught:
            getattr(made, name)
        texts += texts_of(caught.value)
    show_nothing_of("signature=", texts)
    assert made.to_dict()["price"] == PORTAL and PORTAL in pickle.loads(pickle.dumps(made)).raw


def test_wrong_options_show_no_key() -> None:
    calls: list[Callable[[], object]] = [
        lambda: billcore.Client(base_url="https://a.example/b", api_key=API_KEY, wrong=1),  # type: ignore[call-arg]
        lambda: billcore.Client(base_url="https://a.example/b", api_key=API_KEY, timeout="x"),  # type: ignore[arg-type]
        lambda: billcore.Client(base_url="https://a.example/b", api_key=API_KEY + "\n"),
    ]
    for call in calls:
        with pytest.raises((billcore.BillcoreError, TypeError)) as caught:
            call()
        show_nothing_of(API_KEY, texts_of(caught.value))


def test_what_holds_a_secret_is_not_copied(serve: Serve) -> None:
    _, client = serve([])
    awaited = billcore.AsyncClient(base_url="https://a.example/b", api_key=API_KEY)
    verifier = webhooks.Verifier(SECRET)
    pager = client.products.list()
    groups = (client.subscriptions, client.products, client.orders, client.webhook_endpoints, awaited.orders)
    pagers = (pager, iter(pager), pager.pages(), awaited.products.list())
    calls: list[Callable[[Any], object]] = [copy.copy, copy.deepcopy, pickle.dumps]
    calls += [lambda holder, p=p: pickle.dumps(holder, p) for p in range(pickle.HIGHEST_PROTOCOL + 1)]  # type: ignore[misc]
    for holder in (client, awaited, client.with_options(timeout=1), *groups, *pagers, verifier, verifier.stream()):
        for call in calls:
            words = f"^an? {type(holder).__name__} cannot be pickled or copied: it "
            with pytest.raises(TypeError, match=words) as caught:
                call(holder)
            texts = [*texts_of(caught.value), repr(holder), str(holder)]
            assert not any(SECRET in text or API_KEY in text for text in texts)
