"""Control routes for deliveries: list them, and send a delivery again, unchanged, with a new id or edited."""

from __future__ import annotations

import json
import re
import sqlite3
from typing import Any

from billcore_sandbox import attempts, events, outbox
from billcore_sandbox.control import answers, bodies, records
from billcore_sandbox.control.common import named_account, no_endpoint, one_of
from billcore_sandbox.control.lists import Conditions, of_list
from billcore_sandbox.errors import Refusal, encode, invalid, not_found
from billcore_sandbox.events import NAMES
from billcore_sandbox.service.calls import number_of
from billcore_sandbox.store import Account
from billcore_sandbox.work import Work
from billcore_sandbox.world import World

STATES = ("pending", "on_hold", "delivered", "failed", "held_back", "dropped")
_PLAIN = (
    *("seq", "id", "endpoint_id", "event", "url", "state", "reason", "signature"),
    *("request_id", "effect_id", "state_id"),
)


def listed(world: World, page: bodies.DeliveryPage) -> records.Deliveries:
    """List deliveries with their attempts, bodies and signatures."""
    match = bodies.DeliveryMatch(page.event, page.endpoint_id, page.state)
    causes = {"request_id = ?": page.request_id, "effect_id = ?": page.effect_id}
    rows, about = of_list(world, "deliveries", {**matched_deliveries(world, match), **causes}, page)
    return {"deliveries": [record(world, row) for row in rows], **about}


def matched_deliveries(world: World, match: bodies.DeliveryMatch) -> Conditions:
    """The condition for deliveries that `match` selects. Raises Refusal 422 for an unknown event, state or endpoint."""
    if match.event is not None:
        one_of("event", match.event, NAMES)
    if match.state is not None:
        one_of("state", match.state, STATES)
    number = match.endpoint_id
    if number is not None and world.store.one("SELECT id FROM endpoints WHERE id = ?", number) is None:
        raise no_endpoint(number)
    return {"event = ?": match.event, "state = ?": match.state, "endpoint_id = ?": number}


def record(world: World, row: sqlite3.Row) -> Any:
    """A delivery as the control routes show it."""
    sql = "SELECT due FROM jobs WHERE kind = 'delivery' AND subject = ?"
    job = world.store.one(sql, row["seq"]) if row["state"] == "pending" else None
    return {
        **{name: row[name] for name in _PLAIN},
        "next_attempt": None if job is None else job["due"],
        "account": world.store.uuid_of(row["account"]),
        "faults": json.loads(row["faults"]),
        "attempts": attempts.shown(row),
        "body": row["body"].decode("utf-8"),
    }


def last_answer(world: World, account: Account) -> Any:
    """The last attempt at the latest of the account's pending deliveries; None if no attempt was made."""
    own = "endpoint_id IN (SELECT id FROM endpoints WHERE account = ?) AND state = 'pending'"
    sql = f"SELECT * FROM deliveries WHERE {own} AND attempts != '[]' ORDER BY seq DESC LIMIT 1"
    row = world.store.one(sql, account.number)
    return None if row is None else attempts.shown(row)[-1]


def redeliver(world: World, body: bodies.Later, number: str) -> answers.SentAgain:
    """Send a delivery again as a duplicate, with the same id and bytes."""
    row, endpoint = _find(world, body, number)
    with world.effect(world.store.by_number[row["account"]]) as work:
        seq = outbox.again(work, row, endpoint, sign=_is_right(row, endpoint), after=body.after)
        return _done(work, "redeliver", row, seq, row["id"])


def replay(world: World, body: bodies.Later, number: str) -> answers.SentAgain:
    """Send a delivery again with the original payload and a new id."""
    row, endpoint = _find(world, body, number)
    with world.effect(world.store.by_number[row["account"]]) as work:
        seq = outbox.replay(work, row, endpoint, after=body.after)
        if seq is None:
            raise invalid("The body of this delivery does not begin with an id: use redeliver or edit.")
        return _done(work, "replay", row, seq, seq)


def edit(world: World, body: bodies.Edit, number: str) -> answers.SentAgain:
    """Send a delivery again with another body: `body` unchanged, or `changes` merged into the envelope."""
    row, endpoint = _find(world, body, number)
    if (body.body is None) == (body.changes is None):
        raise invalid("edit takes one of body (the text to send) and changes (members of the envelope).")
    delivery_id = row["id"]
    if body.body is not None:
        sent = body.body.encode("utf-8")
    else:
        assert body.changes is not None
        sent = encode(_merged(row["body"], body.changes))
        delivery_id = _stored(body.changes.get("id"), delivery_id)
    with world.effect(world.store.by_number[row["account"]]) as work:
        seq = outbox.again(work, row, endpoint, body=sent, number=delivery_id, sign=body.sign, after=body.after)
        return _done(work, "edit", row, seq, delivery_id)


def hold(world: World, body: bodies.Nothing, number: str) -> answers.Held:
    """Keep a pending delivery from being sent until it is released."""
    row, endpoint = _find(world, body, number)
    if row["state"] != "pending":
        raise Refusal(422, "not_allowed", f"The delivery is {row['state']}: only a pending delivery can be held.")
    with world.effect(world.store.by_number[row["account"]]) as work:
        job = work.db.execute("SELECT 1 FROM jobs WHERE kind = 'delivery' AND subject = ?", (row["seq"],)).fetchone()
        if job is None and not world.dispatcher.waits(endpoint["id"], row["seq"]):
            raise Refusal(422, "not_allowed", "The delivery is being attempted: hold it after the attempt.")
        work.unschedule("delivery", row["seq"])
        return _moved(work, row, "hold", "on_hold", "a control route holds it")


def release(world: World, body: bodies.Nothing, number: str) -> answers.Held:
    """Send a delivery that is on hold."""
    row, endpoint = _find(world, body, number)
    if row["state"] != "on_hold":
        raise Refusal(422, "not_allowed", f"The delivery is {row['state']}: only a delivery on hold can be released.")
    with world.effect(world.store.by_number[row["account"]]) as work:
        # A delivery that was held in the queue of a busy or paused endpoint may still be there, in its place.
        if not world.dispatcher.waits(endpoint["id"], row["seq"]):
            work.new_deliveries.append(row["seq"])
        return _moved(work, row, "release", "pending", None)


def _moved(work: Work, row: sqlite3.Row, kind: str, state: str, reason: str | None) -> answers.Held:
    work.db.execute("UPDATE deliveries SET state = ?, reason = ? WHERE seq = ?", (state, reason, row["seq"]))
    work.record(kind, delivery_id=row["id"], seq=row["seq"])
    return {"seq": row["seq"], "id": row["id"], "state": state}


def test_hook(world: World, body: bodies.TestHook) -> answers.EndpointIds:
    """Send test.hook to one endpoint, or to every endpoint (of the account, if one is named)."""
    named = named_account(world, body.account)
    rows = world.store.all("SELECT * FROM endpoints WHERE state = 'enabled' ORDER BY id")
    if named is not None:
        rows = [row for row in rows if row["account"] == named.number]
    if body.endpoint_id is not None:
        rows = [row for row in rows if row["id"] == body.endpoint_id]
    if not rows:
        raise not_found()
    for row in rows:
        with world.effect(world.store.by_number[row["account"]]) as work:
            outbox.test_hook(work, row, body.data)
    return {"endpoints": [row["id"] for row in rows]}


def _find(world: World, body: bodies.Body, number: str) -> tuple[sqlite3.Row, sqlite3.Row]:
    """The first delivery with the id `number` (or the delivery with the seq, for seq:NUMBER), and its endpoint."""
    column, text = ("seq", number[4:]) if number.startswith("seq:") else ("id", number)
    sql = f"SELECT * FROM deliveries WHERE {column} = ? ORDER BY seq LIMIT 1"
    row = world.store.one(sql, number_of(text))
    named = named_account(world, body.account)
    if row is None or (named is not None and row["account"] != named.number):
        raise Refusal(404, "not_found", f"No delivery has the {column} {text}: GET /_sandbox/deliveries lists them.")
    endpoint = world.store.one("SELECT * FROM endpoints WHERE id = ?", row["endpoint_id"])
    assert endpoint is not None
    if endpoint["state"] != "enabled":
        what = "enable it first" if endpoint["state"] == "disabled" else "register its URL again for new events"
        raise Refusal(422, "not_allowed", f"The endpoint of this delivery is {endpoint['state']}: {what}.")
    return row, endpoint


def _done(work: Work, kind: str, row: sqlite3.Row, seq: int, delivery_id: int) -> answers.SentAgain:
    work.record(kind, delivery_id=row["id"], new_delivery_id=delivery_id, seq=seq)
    return {"seq": seq, "id": delivery_id}


def _is_right(row: sqlite3.Row, endpoint: sqlite3.Row) -> bool:
    """Whether a secret of the endpoint made the signature; if not, the signature is wrong on purpose and is kept."""
    secrets = [secret for secret in (endpoint["secret"], endpoint["old_secret"]) if secret is not None]
    return any(events.sign(row["body"], secret) == row["signature"] for secret in secrets)


def _merged(body: bytes, changes: dict[str, Any]) -> dict[str, Any]:
    """The envelope with `changes` merged into it; in `data`, the members that `changes` does not name stay."""
    try:
        envelope = json.loads(body)
    except (ValueError, RecursionError):
        envelope = None
    if not isinstance(envelope, dict):
        raise invalid("The body of this delivery is not a JSON object, so changes cannot be merged into it: send body.")
    merged = {**envelope, **changes}
    data, new = envelope.get("data"), changes.get("data")
    if isinstance(data, dict) and isinstance(new, dict):
        merged["data"] = {**data, **new}
    return merged


def _stored(given: Any, otherwise: int) -> int:
    """The id that is stored for a delivery, which is `given` if the column can hold it, else `otherwise`."""
    if isinstance(given, str) and re.fullmatch(r"[0-9]{1,18}", given):
        return int(given)
    return given if type(given) is int and 0 <= given < 2**63 else otherwise
