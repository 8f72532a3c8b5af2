"""from_wsgi() reads the body itself, reads no more than necessary, and raises an error if other code has already read
the body."""

from __future__ import annotations

import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import billcore
from billcore import webhooks

from .support import BODY, HEADER, OTHER, SECRET, SIGNATURE, refused, signature_refused

VERIFIER = webhooks.Verifier(SECRET)
MISSING: Any = object()
SIZE = len(BODY)


class Input:
    """A wsgi.input that returns at most `piece` bytes per read(), and raises `end` after the last byte."""

    def __init__(self, body: bytes, piece: int = 1 << 20, end: Exception | None = None) -> None:
        self._body, self._piece, self._end = io.BytesIO(body), piece, end
        self.asked = 0

    def read(self, size: int) -> bytes:
        self.asked += size
        found = self._body.read(min(size, self._piece))
        if not found and self._end is not None:
            raise self._end
        return found

    @property
    def left(self) -> bytes:
        return self._body.read()


def environ(stream: Any = MISSING, length: Any = SIZE, signature: Any = SIGNATURE, **more: Any) -> dict[str, Any]:
    return {
        "REQUEST_METHOD": "POST",
        "CONTENT_LENGTH": None if length is None else str(length),
        "wsgi.input": io.BytesIO(BODY) if stream is MISSING else stream,
        "HTTP_HOST": "example.com",
        **({} if signature is None else {"HTTP_SERVICE_SIGNATURE": signature}),
        **more,
    }


def chunked(stream: Any, **more: Any) -> dict[str, Any]:
    return environ(stream, "", HTTP_TRANSFER_ENCODING="chunked", **{"wsgi.input_terminated": True}, **more)


@given(st.integers(1, 200), st.booleans())
def test_a_body_in_any_pieces(piece: int, sized: bool) -> None:
    stream = Input(BODY, piece)
    event = webhooks.from_wsgi(environ(stream) if sized else chunked(stream), VERIFIER)
    assert (event.id, event.raw) == (9, BODY)


def test_nothing_is_read_after_the_body() -> None:
    stream = Input(BODY + b"the next request")
    assert webhooks.from_wsgi(environ(stream), VERIFIER).raw == BODY
    assert stream.left == b"the next request"
    stream = Input(BODY)
    with signature_refused("mismatch", r"\(0 bytes\)|empty"):  # PEP 3333: without a length, the body is empty
        webhooks.from_wsgi(environ(stream, ""), VERIFIER)
    assert stream.asked == 0


@pytest.mark.parametrize("length", [None, ""])
def test_a_server_that_ends_the_input(length: Any) -> None:
    assert webhooks.from_wsgi(environ(Input(BODY), length, **{"wsgi.input_terminated": True}), VERIFIER).id == 9


@pytest.mark.parametrize("between", [",", ", ", " ,\t"])
def test_a_signature_that_came_twice_is_joined_by_the_server(between: str) -> None:
    assert webhooks.from_wsgi(environ(signature=SIGNATURE + between + SIGNATURE), VERIFIER).id == 9
    for pair in ((SIGNATURE, "0" * 64), ("0" * 64, SIGNATURE), (SIGNATURE, ""), ("", SIGNATURE)):
        with signature_refused("malformed"):
            webhooks.from_wsgi(environ(signature=between.join(pair)), VERIFIER)


def test_refused_as_by_the_verifier() -> None:
    with signature_refused("missing", HEADER):
        webhooks.from_wsgi(environ(signature=None), VERIFIER)
    for signature in ("", SIGNATURE.upper(), SIGNATURE + "," + "0" * 64, SIGNATURE + ",", "\xe9" * 64, "\ud800"):
        with signature_refused("malformed"):
            webhooks.from_wsgi(environ(signature=signature), VERIFIER)
    with signature_refused("mismatch"):
        webhooks.from_wsgi(environ(), webhooks.Verifier(OTHER))
    with pytest.raises(billcore.DecodeError):
        webhooks.from_wsgi(environ(io.BytesIO(b"no"), 2, webhooks.sign(b"no", SECRET)), VERIFIER)


def test_a_header_of_ones_own() -> None:
    verifier = webhooks.Verifier(SECRET, header="x-Hook-signature")
    assert webhooks.from_wsgi(environ(signature=None, HTTP_X_HOOK_SIGNATURE=SIGNATURE), verifier).id == 9
    with signature_refused("missing", "x-Hook-signature"):
        webhooks.from_wsgi(environ(), verifier)


def test_a_declared_size_over_the_limit_is_refused_unread() -> None:
    stream = Input(BODY)
    with signature_refused("body_too_large", f"has {len(BODY)} bytes"):
        webhooks.from_wsgi(environ(stream), webhooks.Verifier(SECRET, max_body=len(BODY) - 1))
    assert stream.asked == 0
    assert webhooks.from_wsgi(environ(), webhooks.Verifier(SECRET, max_body=len(BODY))).id == 9


def test_reading_stops_as_soon_as_it_is_too_much() -> None:
    stream = Input(b"x" * 1000, 20)
    with signature_refused("body_too_large", r"over max_body \(50\)"):
        webhooks.from_wsgi(chunked(stream), webhooks.Verifier(SECRET, max_body=50))
    assert len(stream.left) == 1000 - 51


def test_a_second_read_is_noticed() -> None:
    again = environ()
    assert webhooks.from_wsgi(again, VERIFIER).id == 9
    with refused(billcore.InvalidArgumentError, r"^the body was already read.*unwrap_request\(body, headers\)"):
        webhooks.from_wsgi(again, VERIFIER)


def test_a_body_read_before_is_noticed() -> None:
    stream = io.BytesIO(BODY)
    stream.read()
    with refused(billcore.InvalidArgumentError, "already read, or the sender disconnected.*unwrap_request"):
        webhooks.from_wsgi(environ(stream), VERIFIER)
    with signature_refused("mismatch", "empty; if it was already read.*unwrap_request"):
        webhooks.from_wsgi(chunked(stream), VERIFIER)


class BrokenChunk(Exception):
    """As gunicorn's ParseException, not an OSError."""


def test_a_body_that_ends_early() -> None:
    with signature_refused("disconnected", f"after 11 of {len(BODY)} bytes"):
        webhooks.from_wsgi(environ(io.BytesIO(BODY[:11])), VERIFIER)
    ends = [ConnectionResetError("reset"), TimeoutError("slow"), OSError("request data read error")]
    for end in (*ends, BrokenChunk("no line end")):
        with signature_refused("disconnected", "failed after 11 bytes") as caught:
            webhooks.from_wsgi(environ(Input(BODY[:11], end=end)), VERIFIER)
        assert caught.value.__cause__ is end


@pytest.mark.parametrize("length", ["-1", "+5", " ", "5.0", "0x10", "1_0", "²", "1" * 5000, "5, 5"])
def test_a_content_length_that_is_no_number_is_refused_unread(length: Any) -> None:
    stream = Input(BODY)
    with refused(billcore.InvalidArgumentError, "Content-Length"):
        webhooks.from_wsgi(environ(stream, length), VERIFIER)
    assert stream.asked == 0


def test_a_server_that_does_not_end_a_chunked_body() -> None:
    with refused(billcore.InvalidArgumentError, "does not say where the body ends"):
        webhooks.from_wsgi(environ(Input(BODY), "", HTTP_TRANSFER_ENCODING="chunked"), VERIFIER)


@pytest.mark.parametrize("value", [None, [], {}, {"HTTP_SERVICE_SIGNATURE": SIGNATURE}, "environ"])
def test_a_value_that_is_no_wsgi_environ_is_refused(value: Any) -> None:
    with refused(billcore.InvalidArgumentError, "environ must be the WSGI environ"):
        webhooks.from_wsgi(value, VERIFIER)


def test_body_signature_and_verifier_of_other_types_are_refused() -> None:
    nothing: Any = None
    with refused(billcore.InvalidArgumentError, "body as a str, not as bytes"):
        webhooks.from_wsgi(environ(io.StringIO(BODY.decode())), VERIFIER)
    with refused(billcore.InvalidArgumentError, "must be str or bytes"):
        webhooks.from_wsgi(environ(signature=7), VERIFIER)
    with refused(billcore.InvalidArgumentError, "verifier must be a Verifier"):
        webhooks.from_wsgi(environ(), nothing)
