"""The first judge: compares each call's result with what the peer did, that is, with the requests that it received and
the effects in its ledger. The second judge is in wire.py."""

from __future__ import annotations

import math
from collections.abc import Iterator

import billcore
from support.waiting import LATE

from .callers import Call
from .peer import Peer

MOST_PAGES = 16

# The errors that a read may raise; a write may also raise OutcomeUnknownError.
_ERRORS = (billcore.ApiError, billcore.TransportError, billcore.DecodeError)


def judge(call: Call, peer: Peer) -> Iterator[str]:
    """Yields a text for each rule that the call's result breaks."""
    if not call.ended:
        yield "it never ended"
        return
    pages = MOST_PAGES if call.kind == "list" else 1
    if call.took > call.timeout * pages + LATE:
        yield "it ended long after its deadline"
    if call.calm and call.error is not None:
        yield "it failed although the peer was honest"
    lied = peer.lied.get((call.kind, call.number), math.inf) <= call.over
    yield from _error(call, lied)
    yield from _write(call, peer, lied) if call.is_write else () if lied else _read(call, peer)


def _error(call: Call, lied: bool) -> Iterator[str]:
    error = call.error
    if error is None:
        return
    if error["class"] == "CancelledError":
        if call.cancel_after is None:
            yield "CancelledError, but it was not cancelled"
        return
    kind = getattr(billcore, error["class"], object)
    allowed = (*_ERRORS, billcore.OutcomeUnknownError) if call.is_write else _ERRORS
    if not issubclass(kind, allowed) and not (lied and call.kind == "list" and kind is billcore.PaginationError):
        yield f"{error['class']} is not an error of such a call"
    ids, texts = (None, str(call.number)), (None, f"for {call.number}")
    if issubclass(kind, billcore.ApiError) and not lied:
        told = error.get("request_id"), error.get("api_message")
        if told[0] not in ids or told[1] not in texts:
            yield f"the error is that of another call: {told}"
    if not call.is_write and error.get("outcome_unknown"):
        yield "the outcome of a read is never unknown"


def said(call: Call) -> int | None:
    """Returns the number of effects that the caller's result states: 1, 0, or None when the outcome is unknown."""
    error = call.error
    if error is None:
        return 1
    if error.get("outcome_unknown"):
        return None
    # If a complete 2xx answer cannot be decoded, the write was done.
    return 1 if error["class"] == "DecodeError" and 200 <= error.get("http_status", 0) < 300 else 0


def _write(call: Call, peer: Peer, lied: bool) -> Iterator[str]:
    effects = peer.service.effects[call.kind, call.number]
    arrived = peer.arrived[call.kind, call.number]
    if arrived > 1:
        yield f"it was sent {arrived} times"
    if effects > 1:
        yield f"it has {effects} effects"
    name = "" if call.error is None else call.error["class"]
    if arrived and issubclass(getattr(billcore, name, object), billcore.TransportError):
        yield "it arrived, but the caller was told that it was not sent"
    if arrived and name == "CancelledError" and said(call) == 0:
        yield "it was sent, but the cancellation has no note"
    if lied:
        return
    if said(call) not in (None, effects):
        yield f"it has {effects} effects, but the caller was told of {said(call)}"
    if call.error is None and call.kind != "delete":
        yield from _own(call)


def _own(call: Call) -> Iterator[str]:
    is_product = call.kind in ("product", "update")
    own = call.number if is_product else f"{call.kind}-{call.number}"
    if call.result["id"] != own:
        yield f"the answer is that of {call.result['id']}"
    if call.head is not None and call.head[1] not in (None, str(call.number)):
        yield f"the request id is {call.head[1]}"


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
        if missing and call.verdict == "complete":
            yield f"complete, without {missing}"
        if len(at_first) == len(in_the_end) and call.verdict != "complete":
            yield f"{call.verdict}, although the list did not move"
