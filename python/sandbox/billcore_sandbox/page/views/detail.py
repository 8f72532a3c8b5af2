"""The detail of one entry: its facts, its bytes, why it failed, its chain, and what can be done with it."""

from __future__ import annotations

import json
import sqlite3
from typing import Any, NamedTuple

from billcore_sandbox.control import deliveries
from billcore_sandbox.history import request
from billcore_sandbox.page.request import PREFIX, PageRequest
from billcore_sandbox.page.views import chain, snippets
from billcore_sandbox.page.views.entries import TABLES
from billcore_sandbox.page.views.shown import Room, answer_body, body_of, head_of, raw_url
from billcore_sandbox.page.views.why import reasons
from billcore_sandbox.receiver import target
from billcore_sandbox.service.calls import number_of
from billcore_sandbox.world import World

_ROOM = 180_000  # bytes of HTML for all texts of an entry
_MOST_ATTEMPTS = 20
_MOST_FACT = 400  # characters


class Fact(NamedTuple):
    """A name and a value. url: of the page that shows the value."""

    name: str
    value: str
    url: str | None = None


def opened(page: PageRequest) -> dict[str, Any] | None:
    """Read the entry that the URL opens, such as open=delivery-50001; returns the values of its template.

    None: the URL opens no entry. `row` is None if there is no such entry.
    """
    kind, _, text = page.query.get("open", "").partition("-")
    if not text:
        return None
    number = number_of(text)
    entry: dict[str, Any] = {"kind": kind, "id": text, "row": None}
    if kind == "clock":
        sql = "SELECT id, account, details FROM changes WHERE kind = 'clock' AND id = ?"
        row = page.world.store.one(sql, number)
        return entry if row is None else {**entry, "row": row, **_clock(page, row)}
    if kind not in TABLES:
        return entry
    table, key = TABLES[kind]
    row = page.world.store.one(f"SELECT * FROM {table} WHERE {key} = ?", number)
    if row is None:
        return entry
    shown = {"request": _request, "effect": _effect, "state": _state, "delivery": _delivery}[kind]
    found = chain.of(page.world, kind, row)
    return {**entry, "row": row, "chain": found, **shown(page, row, found)}


def _request(page: PageRequest, row: sqlite3.Row, found: chain.Chain) -> dict[str, Any]:
    # Without the bodies, which may be large, and are shown in another way.
    shown, room = request(page.world.store, {**dict(row), "body": b"", "answer_body": b""}), Room(_ROOM)  # type: ignore[arg-type]
    number, late = row["id"], shown["late"]
    kind, _, rest = row["target"].split("/", 2)[-1].partition("?")[0].partition("/")
    facts = [
        Fact("Operation", row["operation"] or "unknown path"),
        Fact("Target", row["target"]),
        *_objects(page.world, page, {f"{kind}_id": rest.partition("/")[0]}),
        Fact("Account", shown["account"] or "none"),
        Fact("At", row["at"]),
        Fact("Duration", "not answered yet" if row["duration_ms"] is None else f"{row['duration_ms']:.1f} ms"),
        Fact("Status", _status(row)),
        Fact("Fault", row["fault"] or ""),
        Fact("Unknown parameters", ", ".join(shown["unknown"])),
    ]
    if late is not None:
        done = f"done at {late['done_at']}, status {late['status']}" if late["done_at"] else "not done yet"
        facts.append(Fact("Late", f"due at {late['due']}, {done}"))
    if row["repeats"] is not None:
        facts.append(_entry(page, "Repeats", "request", row["repeats"]))
    again = page.world.store.all("SELECT id FROM requests WHERE repeats = ? ORDER BY id LIMIT 10", number)
    facts += [_entry(page, "Repeated by", "request", each["id"]) for each in again]
    head = head_of(room, f"{row['method']} {row['target']} HTTP/1.1", shown["headers"])
    answer_head = None
    if shown["answer_headers"] is not None:
        answer_head = head_of(room, f"HTTP/1.1 {_status(row)}", shown["answer_headers"])
    return {
        "facts": _shown(facts),
        "head": head,
        "body": body_of(room, "body", row["body"], raw_url("request", number, "body")),
        "answer_head": answer_head,
        "answer": body_of(room, "answer", row["answer_body"] or b"", raw_url("request", number, "answer")),
        "snippets": snippets.of_request(page, row, found.effects),
    }


def _status(row: sqlite3.Row) -> str:
    if row["status"] is not None:
        return str(row["status"])
    return "no answer yet" if row["duration_ms"] is None else "no complete answer was sent"


def _delivery(page: PageRequest, row: sqlite3.Row, found: chain.Chain) -> dict[str, Any]:
    world, room, seq = page.world, Room(_ROOM), row["seq"]
    # The attempts are shown without the bodies of faults, which may be large.
    shown = deliveries.record(world, {**dict(row), "attempts": "[]"})  # type: ignore[arg-type]
    made = list(enumerate(json.loads(row["attempts"]), 1))
    state = (
        None
        if row["state_id"] is None
        else world.store.one("SELECT * FROM state_changes WHERE id = ?", row["state_id"])
    )
    facts = [
        Fact("Event", row["event"]),
        Fact("Event id", str(row["id"])),
        *([] if state is None else _objects(world, page, {f"{state['object']}_id": state["object_id"]})),
        Fact("URL", row["url"]),
        Fact("Endpoint", str(row["endpoint_id"]), page.link(f"{PREFIX}/endpoints") + f"#endpoint-{row['endpoint_id']}"),
        Fact("State", row["state"]),
        Fact("Reason", row["reason"] or ""),
        Fact("Next attempt", shown["next_attempt"] or ""),
        Fact("Faults", ", ".join(shown["faults"])),
        Fact("Account", shown["account"] or "none"),
    ]
    attempts = []
    body = body_of(room, "body", row["body"], raw_url("delivery", seq, "body"))
    for number, each in reversed(made[-_MOST_ATTEMPTS:]):
        name = f"attempt-{number}"
        changed = each["fault"] in ("event_truncated", "event_oversize")
        attempts.append(
            {
                **{name: each[name] for name in ("at", "status", "error", "fault", "duration_ms")},
                "number": number,
                "changed": raw_url("delivery", seq, "body", number) if changed else None,
                "head": head_of(room, f"POST {target(row['url'])} HTTP/1.1", each["headers"]),
                "answer_head": head_of(room, f"HTTP/1.1 {each['status']}", each["answer_headers"])
                if each["status"] is not None
                else None,
                "answer": body_of(room, name, answer_body(each), raw_url("delivery", seq, "answer", number)),
            }
        )
    text = row["body"].decode("utf-8")
    return {
        "facts": _shown(facts),
        "why": [room.cut(each, 1000) for each in reasons(world, row)],
        "body": body,
        "attempts": attempts[::-1],
        "earlier": max(len(made) - _MOST_ATTEMPTS, 0),
        "edited": text if room.cut(text) == text else None,
        "waits": row["state"] in ("pending", "on_hold"),
    }


def _effect(page: PageRequest, row: sqlite3.Row, found: chain.Chain) -> dict[str, Any]:
    details = json.loads(row["details"])
    facts = [
        Fact("Kind", row["kind"]),
        Fact("At", row["at"]),
        Fact("Account", page.world.store.uuid_of(row["account"]) or "none"),
    ]
    for name, value in details.items():
        linked = _objects(page.world, page, {name: value})
        if name == "seq":
            linked = [_entry(page, "Delivery", "delivery", value)]
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        facts += linked or [Fact(name, text)]
    return {"facts": _shown(facts)}


def _state(page: PageRequest, row: sqlite3.Row, found: chain.Chain) -> dict[str, Any]:
    linked = _objects(page.world, page, {f"{row['object']}_id": row["object_id"]})
    facts = [
        *(linked or [Fact("Object", f"{row['object']} {row['object_id']}")]),
        *(Fact(name.capitalize(), row[name] or "") for name in ("from", "to", "cause", "event", "at")),
        Fact("Account", page.world.store.uuid_of(row["account"]) or "none"),
    ]
    return {"facts": _shown(facts)}


def _clock(page: PageRequest, row: sqlite3.Row) -> dict[str, Any]:
    moved = json.loads(row["details"])
    facts = [
        Fact("From", moved["from"]),
        Fact("To", moved["at"]),
        Fact("Since then", "stopped" if moved["frozen"] else "it runs"),
        Fact("Account", page.world.store.uuid_of(row["account"]) or "none"),
    ]
    return {"facts": _shown(facts)}


def _entry(page: PageRequest, name: str, kind: str, number: object) -> Fact:
    return Fact(name, f"{kind} {number}", page.same(open=f"{kind}-{number}"))


def _objects(world: World, page: PageRequest, members: dict[str, Any]) -> list[Fact]:
    """The members that name a subscription or an order, with links to the view of the subscription."""
    facts = []
    for name, value in members.items():
        number = str(value)
        if name not in ("subscription_id", "order_id") or number_of(number) < 0:
            continue
        subscription: Any = number
        if name == "order_id":
            order = world.store.one("SELECT subscription_id FROM orders WHERE id = ?", int(number))
            subscription = None if order is None else order["subscription_id"]
        url = None if subscription is None else page.link(f"{PREFIX}/subscriptions/{subscription}")
        facts.append(Fact(name.removesuffix("_id").capitalize(), number, url))
    return facts


def _shown(facts: list[Fact]) -> list[Fact]:
    """The facts that have a value, cut to a length that a reader can take in."""
    cut = [
        each._replace(
            name=each.name[:100], value=each.value if len(each.value) <= _MOST_FACT else f"{each.value[:_MOST_FACT]}…"
        )
        for each in facts
    ]
    return [each for each in cut if each.value]
