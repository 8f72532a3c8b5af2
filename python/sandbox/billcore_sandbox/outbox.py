"""New deliveries: the rows that an effect adds for the events that it fires."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from billcore_sandbox import clock, events
from billcore_sandbox.errors import encode

if TYPE_CHECKING:
    from billcore_sandbox.world import Work


def emit(work: Work, event: str, data: dict[str, Any]) -> None:
    """Fire `event` with the full resource `data`: one delivery for every enabled endpoint of the account."""
    for endpoint in work.receivers():
        seq = _reserve(work)
        shaped = encode(events.shape(work.options, event, seq, data))
        _first(work, seq, seq, endpoint, event, shaped)


def test_hook(work: Work, endpoint: sqlite3.Row, data: Any) -> None:
    """The event that an administrator sends to try an endpoint; its envelope id is 0."""
    _first(work, _reserve(work), 0, endpoint, events.TEST_HOOK, encode(data))


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
    """Send a delivery again after some seconds; returns the new row's seq.

    body, number: other bytes, and the id in them. sign: false leaves the signature as it is.
    """
    seq = _reserve(work)
    body = delivery["body"] if body is None else body
    number = delivery["id"] if number is None else number
    signature = _signature(work, endpoint, seq, body) if sign else delivery["signature"]
    insert(work, seq, number, endpoint, delivery["event"], body, signature, after=after)
    return seq


def replay(work: Work, delivery: sqlite3.Row, endpoint: sqlite3.Row, *, after: float = 0.0) -> int | None:
    """Send a delivery's payload again under a new id, which is also its seq; None if its body begins with no id."""
    seq = _reserve(work)
    body = events.with_id(delivery["body"], seq)
    if body is None:
        return None
    signature = _signature(work, endpoint, seq, body)
    insert(work, seq, seq, endpoint, delivery["event"], body, signature, after=after)
    return seq


def _first(work: Work, seq: int, number: int, endpoint: sqlite3.Row, event: str, data: bytes) -> None:
    shown = str(number) if work.options.delivery_ids == "string" else number
    body = events.envelope(shown, event, work.account.number, clock.iso(work.now), data)
    insert(work, seq, number, endpoint, event, body, _signature(work, endpoint, seq, body))


def _reserve(work: Work) -> int:
    work.db.execute("UPDATE sqlite_sequence SET seq = seq + 1 WHERE name = 'deliveries'")
    row = work.db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'deliveries'").fetchone()
    return int(row["seq"])


def _signature(work: Work, endpoint: sqlite3.Row, seq: int, body: bytes) -> str:
    """The signature with the endpoint's secret; while an old secret overlaps, with that one for every even seq."""
    until = endpoint["old_secret_until"]
    overlaps = until is not None and seq % 2 == 0 and work.now < clock.parse(until)
    return events.sign(body, endpoint["old_secret"] if overlaps else endpoint["secret"])


def insert(
    work: Work,
    seq: int,
    number: int,
    endpoint: sqlite3.Row,
    event: str,
    body: bytes,
    signature: str,
    *,
    after: float = 0.0,
) -> None:
    """Add the row of a delivery, which starts `after` seconds of the account's clock."""
    url, state, reason = endpoint["url"], "pending", None
    if not work.world.dispatcher.may_reach(url):
        state = "held_back"
        reason = f"{urlsplit(url).hostname} is no loopback host: allow it with --deliver-to or --deliver-anywhere"
    work.db.execute(
        "INSERT INTO deliveries (seq, id, account, endpoint_id, event, url, body, signature, state, reason, attempts)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '[]')",
        (seq, number, work.account.number, endpoint["id"], event, url, body, signature, state, reason),
    )
    if state != "pending":
        return
    if after:
        work.schedule("delivery", seq, "deliver", work.now + timedelta(seconds=after))
    else:
        work.new_deliveries.append(seq)
