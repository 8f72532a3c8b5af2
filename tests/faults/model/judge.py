"""Compares each caller's result with the requests that the peer received and the effects in its ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import billcore
from support.waiting import LATE

from .callers import NONE, Call
from .peer import Peer

MOST_PAGES = 16

# The errors that a read may raise; a write may also raise OutcomeUnknownError.
_ERRORS = (billcore.ApiError, billcore.TransportError, billcore.DecodeError)


def judge(call: Call, peer: Peer) -> Iterator[str]:
    """Yields a text for each rule that the call's result breaks."""
    if call.result is NONE and call.error is None:
        yield "it never ended"
        return
    pages = MOST_PAGES if call.kind == "list" else 1
    if call.took > call.timeout * pages + LATE:
        yield "it ended long after its deadline"
    if call.calm and call.error is not None:
        yield "it failed although the peer was honest"
    yield from _error(call)
    yield from _write(call, peer) if call.is_write else _read(call, peer)


def _error(call: Call) -> Iterator[str]:
    error = call.error
    if error is None:
        return
    if isinstance(error, asyncio.CancelledError):
        if call.cancel_after is None:
            yield "CancelledError, but it was not cancelled"
        return
    allowed = (*_ERRORS, billcore.OutcomeUnknownError) if call.is_write else _ERRORS
    if not isinstance(error, allowed):
        yield f"{type(error).__name__} is not an error of such a call"
    own = f"for {call.number}"
    if isinstance(error, billcore.ApiError) and (
        error.request_id not in (None, str(call.number)) or error.message not in (None, own)
    ):
        yield f"the error is that of another call: {error.request_id}, {error.message}"
    if not call.is_write and error.outcome_unknown:  # type: ignore[attr-defined]
        yield "the outcome of a read is never unknown"


def said(call: Call) -> int | None:
    """Returns the number of effects that the caller's result states: 1, 0, or None when the outcome is unknown."""
    error = call.error
    if error is None:
        return 1
    if isinstance(error, asyncio.CancelledError):
        return None if getattr(error, "__notes__", []) else 0
    if getattr(error, "outcome_unknown", False):
        return None
    # If a complete 2xx answer cannot be decoded, the write was done.
    return 1 if isinstance(error, billcore.DecodeError) and 200 <= (error.status or 0) < 300 else 0


def _write(call: Call, peer: Peer) -> Iterator[str]:
    effects = peer.service.effects[call.kind, call.number]
    arrived = peer.arrived[call.kind, call.number]
    if arrived > 1:
        yield f"it was sent {arrived} times"
    if effects > 1:
        yield f"it has {effects} effects"
    if said(call) not in (None, effects):
        yield f"it has {effects} effects, but the caller was told of {said(call)}"
    if arrived and isinstance(call.error, billcore.TransportError):
        yield "it arrived, but the caller was told that it was not sent"
    if arrived and isinstance(call.error, asyncio.CancelledError) and said(call) == 0:
        yield "it was sent, but the cancellation has no note"
    if call.error is None and call.kind != "delete":
        yield from _own(call)


def _own(call: Call) -> Iterator[str]:
    is_product = call.kind in ("product", "update")
    own = call.number if is_product else f"{call.kind}-{call.number}"
    if call.result.id != own:
        yield f"the answer is that of {call.result.id}"


def _read(call: Call, peer: Peer) -> Iterator[str]:
    if call.kind != "list":
        if call.error is None:
            yield from _own(call)
        return
    at_first, in_the_end = peer.service.orders(call.number)
    if len(set(call.items)) != len(call.items):
        yield f"an item was yielded twice: {call.items}"
    if strangers := set(call.items) - set(in_the_end):
        yield f"items that are not of this list: {strangers}"
    order = [in_the_end.index(item) for item in call.items if item in in_the_end]
    if len(at_first) == len(in_the_end) and order != list(range(len(order))):
        yield f"of {in_the_end} it yielded {call.items}"
    if call.error is None and len(call.items) != call.take:
        missing = [item for item in at_first if item not in call.items]
        if missing and call.result == "complete":
            yield f"complete, without {missing}"
        if len(at_first) == len(in_the_end) and call.result != "complete":
            yield f"{call.result}, although the list did not move"
