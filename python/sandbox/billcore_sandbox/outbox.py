"""New deliveries: the rows that an effect adds for the events that it fires."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from billcore_sandbox import clock, event_faults, events
from billcore_sandbox.errors import encode
from billcore_sandbox.work import Work


@dataclass(frozen=True, slots=True)
class _New:
    """A delivery to add to the store.

    after: seconds until the delivery starts. cause: the column `cause` of the job that starts the delivery. together:
    the seq of a delivery that starts at the same moment. faults: the kinds of the faults that happened to the delivery.
    """

    id: int
    endpoint: sqlite3.Row
    event: str
    body: bytes
    signature: str
    after: float = 0.0
    cause: str = "deliver"
    together: int | None = None
    faults: list[str] = field(default_factory=list)


def emit(work: Work, event: str, data: dict[str, Any]) -> None:
    """Fire `event` with the full resource `data`: one delivery for every enabled endpoint of the account."""
    shaped = events.shape(work.options, event, _count(work), data)
    for endpoint in work.receivers():
        seq = _reserve(work)
        _first(work, seq, seq, endpoint, event, shaped)


def test_hook(work: Work, endpoint: sqlite3.Row, data: Any) -> None:
    """Send test.hook, with which an administrator tests an endpoint; its envelope id is 0."""
    _first(work, _reserve(work), 0, endpoint, events.TEST_HOOK, data)


def again(
    work: Work,
    delivery: sqlite3.Row,
    endpoint: sqlite3.Row,
    *,
    body: bytes | None = None,
    number: int | None = None,
    sign: bool = True,
    after: float = 0.0,
) -> int:
    """Send a delivery again after `after` seconds; returns the new row's seq.

    body: a body to send instead. number: the id in this body. sign: false keeps the original signature.
    """
    seq = _reserve(work)
    body = delivery["body"] if body is None else body
    number = delivery["id"] if number is None else number
    signature = _signature(work, endpoint, seq, body) if sign else delivery["signature"]
    _insert(work, seq, _New(number, endpoint, delivery["event"], body, signature, after))
    return seq


def replay(work: Work, delivery: sqlite3.Row, endpoint: sqlite3.Row, *, after: float = 0.0) -> int | None:
    """Send a delivery's payload again with a new id, and return the id (also the seq); None if the body has no id."""
    seq = _reserve(work)
    body = events.with_id(delivery["body"], seq)
    if body is None:
        return None
    signature = _signature(work, endpoint, seq, body)
    _insert(work, seq, _New(seq, endpoint, delivery["event"], body, signature, after))
    return seq


def release(work: Work, endpoint: int, before: int) -> None:
    """Start deliveries that event_reorder held back until the endpoint's delivery with seq `before` was attempted."""
    # The query reads the jobs first, because there are fewer jobs than deliveries.
    rows = work.db.execute(
        "SELECT j.subject FROM jobs j INDEXED BY jobs_reorder CROSS JOIN deliveries d ON d.seq = j.subject"
        " WHERE j.cause = 'reorder' AND j.subject < ? AND d.endpoint_id = ? ORDER BY j.subject",
        (before, endpoint),
    ).fetchall()
    for row in rows:
        work.unschedule("delivery", row["subject"])
        work.new_deliveries.append(row["subject"])


def _first(work: Work, seq: int, number: int, endpoint: sqlite3.Row, event: str, data: Any) -> None:
    """Add the delivery of a new event, and apply the faults that happen to it, unless the delivery is held back."""
    shown = str(number) if work.options.delivery_ids == "string" else number
    created_at = clock.iso(work.now)
    envelope = {"id": shown, "name": event, "account": work.account.number, "created_at": created_at, "data": data}
    body, faults, met = encode(envelope), work.faults, []
    fate = None
    if work.may_reach(endpoint["url"]):
        facts = event_faults.facts(work.account.uuid, event, endpoint["id"])
        if (fault := faults.take(event_faults.BODY_KINDS, facts)) is not None:
            envelope, body = event_faults.make(fault.kind, fault.fields, envelope)
            met.append(fault.kind)
        if (fate := faults.take(event_faults.DELIVERY_KINDS, facts)) is not None:
            met.append(fate.kind)
    signature = _signature(work, endpoint, seq, body)
    new = _New(int(envelope["id"]), endpoint, envelope["name"], body, signature, faults=met)
    if fate is None:
        _insert(work, seq, new)
    elif fate.kind == "event_drop":
        _insert(work, seq, new, "dropped", "the fault event_drop dropped it")
    elif fate.kind == "event_hold":
        _insert(work, seq, new, "on_hold", "the fault event_hold holds it")
    elif fate.kind == "event_duplicate":
        new = replace(new, together=seq if fate.fields["concurrent"] else None)
        for each in (seq, *(_reserve(work) for _ in range(fate.fields["copies"]))):
            _insert(work, each, new)
    else:
        cause = "reorder" if fate.kind == "event_reorder" else "deliver"
        _insert(work, seq, replace(new, after=fate.fields["delay"], cause=cause))


def _count(work: Work) -> int:
    """Count an event of the account; returns how many it had before."""
    account = (work.account.number,)
    work.db.execute("UPDATE accounts SET events = events + 1 WHERE number = ?", account)
    return int(work.db.execute("SELECT events FROM accounts WHERE number = ?", account).fetchone()[0]) - 1


def _reserve(work: Work) -> int:
    work.db.execute("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'deliveries'")
    return work.last_id("deliveries")


def _signature(work: Work, endpoint: sqlite3.Row, seq: int, body: bytes) -> str:
    """The signature with the endpoint's secret; during an overlap, with the old secret if seq is even."""
    until = endpoint["old_secret_until"]
    overlaps = until is not None and seq % 2 == 0 and work.now < clock.parse(until)
    return events.sign(body, endpoint["old_secret"] if overlaps else endpoint["secret"])


def _insert(work: Work, seq: int, new: _New, state: str = "pending", reason: str | None = None) -> None:
    url = new.endpoint["url"]
    if state == "pending" and not work.may_reach(url):
        state = "held_back"
        reason = f"{urlsplit(url).hostname} is no loopback host: allow it with --deliver-to or --deliver-anywhere"
    columns = {
        "seq": seq,
        "id": new.id,
        "account": work.account.number,
        "endpoint_id": new.endpoint["id"],
        "event": new.event,
        "url": url,
        "body": new.body,
        "signature": new.signature,
        "state": state,
        "reason": reason,
        "together": new.together,
        "faults": json.dumps(new.faults),
        "request_id": work.request,
        "state_id": work.state_id,
    }
    work.insert("deliveries", columns)
    work.made.append(seq)
    if state != "pending":
        return
    if new.after:
        work.schedule("delivery", seq, new.cause, work.now + timedelta(seconds=new.after))
    else:
        work.new_deliveries.append(seq)
