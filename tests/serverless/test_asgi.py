"""from_asgi() reads the body itself, reads no more than necessary, and raises an error if other code has already read
the body."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import billcore
from billcore import webhooks

from .support import BODY, HEADER, OTHER, SECRET, SIGNATURE, refused, signature_refused

VERIFIER = webhooks.Verifier(SECRET)
SIGNED = ((HEADER.lower().encode(), SIGNATURE.encode()),)
DISCONNECT = {"type": "http.disconnect"}


class Request:
    """A request of an ASGI server that, like uvicorn, sends no further message after the body."""

    def __init__(self, *messages: dict[str, Any], headers: Any = SIGNED, length: int | bytes | None = None) -> None:
        self.scope: dict[str, Any] = {"type": "http", "headers": list(headers)}
        if length is not None:
            self.scope["headers"].append((b"content-length", length if isinstance(length, bytes) else b"%d" % length))
        self._messages = list(messages)
        self.received = 0

    async def receive(self) -> dict[str, Any]:
        self.received += 1
        if not self._messages:
            await asyncio.get_running_loop().create_future()
        return self._messages.pop(0)

    def event(self, verifier: webhooks.Verifier = VERIFIER, timeout: float | None = 60.0) -> webhooks.Event:
        return asyncio.run(self.again(verifier, timeout))

    def again(
        self, verifier: webhooks.Verifier = VERIFIER, timeout: float | None = 60.0
    ) -> Coroutine[Any, Any, webhooks.Event]:
        return webhooks.from_asgi(self.scope, self.receive, verifier, timeout=timeout)


def part(body: bytes, more: bool | None = None) -> dict[str, Any]:
    return {"type": "http.request", "body": body} | ({} if more is None else {"more_body": more})


def parts(body: bytes, cuts: list[int]) -> list[dict[str, Any]]:
    places = [0, *sorted(cut % (len(body) + 1) for cut in cuts), len(body)]
    pieces = [body[start:end] for start, end in itertools.pairwise(places)]
    return [part(piece, True) for piece in pieces[:-1]] + [part(pieces[-1], False)]


@given(st.lists(st.integers(0, 1000), max_size=6), st.booleans())
def test_a_body_in_any_pieces(cuts: list[int], sized: bool) -> None:
    request = Request(*parts(BODY, cuts), length=len(BODY) if sized else None)
    event = request.event()
    assert (event.id, event.raw, request.received) == (9, BODY, len(cuts) + 1)


def test_an_empty_message_and_absent_fields() -> None:
    request = Request({"type": "http.request", "more_body": True}, part(BODY, True), {"type": "http.request"})
    assert request.event().id == 9
    assert Request(part(BODY)).event().id == 9


def test_a_signature_that_came_twice() -> None:
    assert Request(part(BODY), headers=[*SIGNED, *SIGNED]).event().id == 9
    joined = (HEADER.encode(), f"{SIGNATURE}, {SIGNATURE}".encode())
    assert Request(part(BODY), headers=[joined]).event().id == 9
    assert Request(part(BODY), headers=[*SIGNED, joined]).event().id == 9


def test_refused_as_by_the_verifier() -> None:
    with signature_refused("missing", HEADER):
        Request(part(BODY), headers=()).event()
    with signature_refused("malformed"):
        Request(part(BODY), headers=[(HEADER.encode(), b"\xff" * 64)]).event()
    with signature_refused("malformed"):
        Request(part(BODY), headers=[*SIGNED, (HEADER.encode(), b"0" * 64)]).event()
    with signature_refused("mismatch"):
        Request(part(BODY)).event(webhooks.Verifier(OTHER))
    with pytest.raises(billcore.DecodeError):
        Request(part(b"no"), headers=[(HEADER.encode(), webhooks.sign(b"no", SECRET).encode())]).event()


def test_a_body_over_the_limit_is_not_read_to_its_end() -> None:
    verifier = webhooks.Verifier(SECRET, max_body=50)
    declared, undeclared = Request(length=51), Request(*(part(b"x" * 20, True) for _ in range(9)))
    with pytest.raises(webhooks.SignatureError) as expected:
        verifier.unwrap(b"x" * 51, None)
    with signature_refused("body_too_large", "has 51 bytes") as caught:
        declared.event(verifier)
    assert (str(caught.value), declared.received) == (str(expected.value), 0)
    with signature_refused("body_too_large", r"over max_body \(50\)"):
        undeclared.event(verifier)
    assert undeclared.received == 3
    verifier = webhooks.Verifier(SECRET, max_body=len(BODY))
    assert Request(*parts(BODY, [7]), length=len(BODY)).event(verifier).id == 9
    assert Request(*parts(BODY, [7])).event(verifier).id == 9
    with signature_refused("body_too_large"):
        Request(*parts(BODY + b"x", [7])).event(verifier)


def test_a_second_read_is_noticed() -> None:
    request = Request(part(BODY), part(b""))
    assert request.event().id == 9
    with refused(billcore.InvalidArgumentError, r"^the body was already read.*unwrap_request\(body, headers\)"):
        request.event()
    assert request.received == 1


def test_a_body_read_before_is_noticed() -> None:
    with refused(billcore.InvalidArgumentError, r"already read, or the sender disconnected.*unwrap_request"):
        Request(part(b""), length=len(BODY)).event()
    with signature_refused("disconnected", r"or the body was already read.*unwrap_request"):
        Request(DISCONNECT, length=len(BODY)).event()


def test_an_empty_body_of_undeclared_size_says_what_it_may_be() -> None:
    with signature_refused("mismatch", "empty; if it was already read.*unwrap_request"):
        Request(part(b"")).event()
    with signature_refused("mismatch", r"\(0 bytes\)"):  # Content-Length is 0
        Request(part(b""), length=0).event()
    with signature_refused("missing"):
        Request(part(b""), headers=()).event()


def test_waiting_for_a_body_that_was_read_ends() -> None:
    with signature_refused("timeout", r"within 0\.01 s: the sender is slow, or it was already read.*unwrap_request"):
        Request(length=len(BODY)).event(timeout=0.01)
    with signature_refused("timeout"):
        Request(part(BODY[:9], True), length=len(BODY)).event(timeout=0.01)


def test_a_time_out_of_the_caller_is_the_callers() -> None:
    async def outer() -> None:
        async with asyncio.timeout(0.01):
            await Request().again(timeout=60)

    async def broken() -> dict[str, Any]:
        raise TimeoutError("of the server")

    with pytest.raises(TimeoutError) as caught:
        asyncio.run(outer())
    assert not isinstance(caught.value, billcore.BillcoreError)
    with pytest.raises(TimeoutError, match="of the server") as caught:
        asyncio.run(webhooks.from_asgi(Request().scope, broken, VERIFIER))
    assert not isinstance(caught.value, billcore.BillcoreError)


def test_cancellation_passes() -> None:
    async def cancel() -> None:
        task = asyncio.ensure_future(Request().again())
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel())


@pytest.mark.parametrize("length", [None, len(BODY)])
def test_a_sender_who_disconnects(length: int | None) -> None:
    with signature_refused("disconnected", "disconnected after 11 bytes"):
        Request(part(BODY[:11], True), DISCONNECT, length=length).event()
    with signature_refused("disconnected", f"ended after 11 of {len(BODY)} bytes"):
        Request(part(BODY[:11]), length=len(BODY)).event()


@pytest.mark.parametrize("timeout", [None, 10.0])
def test_it_needs_no_loop_of_asyncio(timeout: float | None) -> None:
    with pytest.raises(StopIteration) as stopped:
        Request(*parts(BODY, [3, 5])).again(timeout=timeout).send(None)
    assert stopped.value.value.id == 9


@pytest.mark.parametrize(
    ("scope", "text"),
    [
        (None, "scope must be the ASGI scope"),
        ([], "scope must be the ASGI scope.* not a list"),
        ({}, "type must be 'http'"),
        ({"type": "websocket", "headers": []}, "type must be 'http'"),
        ({"type": "http"}, "headers"),
        ({"type": "http", "headers": [("service-signature", SIGNATURE)]}, "pairs of bytes"),
        ({"type": "http", "headers": {"a": "b"}}, "pairs of bytes"),
        ({"type": "http", "headers": [(b"a", b"b", b"c")]}, "pairs of bytes"),
        ({"type": "http", "headers": [(b"Content-Length", b"-1")]}, "Content-Length"),
        ({"type": "http", "headers": [(b"Content-Length", b"\xb2")]}, "Content-Length"),
        ({"type": "http", "headers": [(b"Content-Length", b"1" * 5000)]}, "Content-Length"),
        ({"type": "http", "headers": [(b"content-length", b"1"), (b"content-length", b"2")]}, "Content-Length"),
    ],
)
def test_an_asgi_scope_that_is_no_request_is_refused(scope: Any, text: str) -> None:
    with refused(billcore.InvalidArgumentError, text):
        asyncio.run(webhooks.from_asgi(scope, Request(part(BODY)).receive, VERIFIER))


@pytest.mark.parametrize("message", [None, {}, {"type": "websocket.receive"}, part("text")])  # type: ignore[arg-type]
def test_an_asgi_message_that_is_no_body_is_refused(message: Any) -> None:
    with refused(billcore.InvalidArgumentError):
        Request(message).event()


def test_arguments_of_other_types_are_refused() -> None:
    nothing: Any = None
    for timeout in (0, -1, float("nan"), True, "1", timedelta(seconds=5)):
        with refused(billcore.InvalidArgumentError, "timeout must be a positive number"):
            Request(part(BODY)).event(timeout=timeout)  # type: ignore[arg-type]
    for accepted in (None, float("inf"), 1e300, 10**300, 1):
        assert Request(part(BODY)).event(timeout=accepted).id == 9
    with refused(billcore.InvalidArgumentError, "^timeout is out of range"):
        Request(part(BODY)).event(timeout=10**400)
    with refused(billcore.InvalidArgumentError, "receive must be the ASGI callable"):
        asyncio.run(webhooks.from_asgi(Request().scope, nothing, VERIFIER))
    with refused(billcore.InvalidArgumentError, "verifier must be a Verifier"):
        asyncio.run(webhooks.from_asgi(Request().scope, Request().receive, nothing))


def test_a_request_is_no_scope() -> None:
    from starlette.requests import Request as StarletteRequest

    request: Any = StarletteRequest(Request().scope, Request().receive)
    with refused(billcore.InvalidArgumentError, r"\(request\.scope\), not a Request"):
        asyncio.run(webhooks.from_asgi(request, request.receive, VERIFIER))
