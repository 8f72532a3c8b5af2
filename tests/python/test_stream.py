"""Verification of a body in chunks."""

from __future__ import annotations

import itertools
import threading
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import billcore
from billcore import webhooks

from .support import SECRET, sign

OTHER = "z" * 32


@given(st.binary(max_size=2000), st.lists(st.integers(0, 2000), max_size=5))
def test_stream_takes_any_pieces(body: bytes, cuts: list[int]) -> None:
    stream = webhooks.Verifier([OTHER, SECRET]).stream()
    places = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    for begin, end in itertools.pairwise(places):
        stream.update(memoryview(body)[begin:end])
    assert stream.finish(sign(body)).secret_index == 1


def test_stream_ends_once() -> None:
    stream = webhooks.Verifier(SECRET, max_body=4).stream()
    stream.update(b"body")
    with pytest.raises(webhooks.SignatureError, match="mismatch"):
        stream.finish(sign(b"other"))
    for again in (lambda: stream.finish(sign(b"body")), lambda: stream.update(b"")):
        with pytest.raises(billcore.InvalidArgumentError, match="ended"):
            again()
    large = webhooks.Verifier(SECRET, max_body=4).stream()
    with pytest.raises(webhooks.SignatureError) as caught:
        large.update(b"bodies")
    assert (caught.value.reason, caught.value.http_status) == ("body_too_large", 413)
    with pytest.raises(webhooks.SignatureError, match="body_too_large"):
        large.finish(sign(b""))


@pytest.mark.parametrize("piece", ["text", None, {}, 7])
def test_stream_refuses_what_is_no_bytes(piece: Any) -> None:
    with pytest.raises(billcore.InvalidArgumentError, match="piece"):
        webhooks.Verifier(SECRET).stream().update(piece)


def test_a_stream_belongs_to_one_thread() -> None:
    stream = webhooks.Verifier(SECRET, max_body=1 << 30).stream()
    piece = bytes(50 << 20)
    refused = threading.Event()
    stop = threading.Event()

    def interfere() -> None:
        while not stop.is_set():
            try:
                stream.update(b"")
            except billcore.InvalidArgumentError:
                refused.set()

    thread = threading.Thread(target=interfere)
    thread.start()
    updated = 0
    while not refused.is_set() and updated < 100:
        try:
            stream.update(piece)
            updated += 1
        except billcore.InvalidArgumentError:
            refused.set()
    stop.set()
    thread.join()
    assert refused.is_set()
