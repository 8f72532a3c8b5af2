"""Faults of events: they change the body of a new event, its delivery, or one attempt of a delivery."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable
from typing import Any

from billcore_sandbox import events
from billcore_sandbox.errors import encode

SELECTORS = ("account", "event", "endpoint_id")
PADDING = 2 << 20  # bytes; more than receivers usually accept

# The fields of each kind of fault, with their defaults. At most one fault of BODY_KINDS and one of DELIVERY_KINDS
# happen to a new event, and at most one fault of ATTEMPT_KINDS happens to each attempt.
BODY_KINDS: dict[str, dict[str, Any]] = {
    "event_integers": {},
    "event_unknown_name": {},
    "event_unknown_fields": {},
    "event_escapes": {"style": "raw"},
}
DELIVERY_KINDS: dict[str, dict[str, Any]] = {
    "event_duplicate": {"copies": 1, "concurrent": False},
    "event_reorder": {"delay": 60.0},
    "event_delay": {"delay": 1.0},
    "event_hold": {},
    "event_drop": {},
}
ATTEMPT_KINDS: dict[str, dict[str, Any]] = {
    "event_signature": {},
    "event_old_secret": {},
    "event_truncated": {},
    "event_oversize": {"bytes": PADDING},
}
KINDS = {**BODY_KINDS, **DELIVERY_KINDS, **ATTEMPT_KINDS}

_AMOUNTS = ("price", "price_with_vat", "price_without_vat", "total", "total_with_vat")
_UNKNOWN_NAME = "invoice.exploded"
_UNKNOWN_FIELDS = {"schema": "2031-01-01", "sandbox": {"nested": [1, None, "ø"]}, "retry": False}


def facts(account: str, event: str, endpoint_id: int) -> dict[str, Any]:
    """The values of an event with which the selectors of a fault are compared."""
    return {"account": account, "event": event, "endpoint_id": endpoint_id}


# ---- When an event is made -------------------------------------------------------------------------------------------


def make(kind: str, fields: dict[str, Any], envelope: dict[str, Any]) -> tuple[dict[str, Any], bytes]:
    """Change an envelope as the fault's kind defines; returns the new envelope, and its bytes."""
    changed = _CHANGES[kind](envelope) if kind in _CHANGES else envelope
    return changed, _STYLES[fields["style"]](changed) if kind == "event_escapes" else encode(changed)


def _integers(envelope: dict[str, Any]) -> dict[str, Any]:
    """Replace the id by an odd number over 2^53, which a double cannot represent, and ids in data by ids over 2^63."""
    number, data = 2**53 + 2 * int(envelope["id"]) + 1, envelope["data"]
    changed = {**envelope, "id": str(number) if isinstance(envelope["id"], str) else number}
    if isinstance(data, dict):
        large = {name: data[name] + 2**53 + 1 for name in _AMOUNTS if isinstance(data.get(name), int)}
        if "id" in data:
            large["id"] = int(data["id"]) + 2**63
        if "products" in data:
            large["products"] = [product + 2**63 for product in data["products"]]
        changed["data"] = {**data, **large}
    return changed


def _unknown_name(envelope: dict[str, Any]) -> dict[str, Any]:
    return {**envelope, "name": _UNKNOWN_NAME}


def _unknown_fields(envelope: dict[str, Any]) -> dict[str, Any]:
    data = envelope["data"]
    return {**envelope, **_UNKNOWN_FIELDS, "data": {**data, **_UNKNOWN_FIELDS} if isinstance(data, dict) else data}


def _raw(value: Any) -> bytes:
    """JSON in UTF-8, with `/` unescaped."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def _html(value: Any) -> bytes:
    r"""JSON as encoders for HTML pages write it, with `<`, `>`, `&`, `'` and `"` as \u003C and so on."""
    text = encode(value).decode("ascii")
    text = re.sub(r"\\.", lambda found: r"\u0022" if found[0] == r"\"" else found[0], text)
    return re.sub("[<>&']", lambda found: f"\\u{ord(found[0]):04X}", text).encode("ascii")


def _pretty(value: Any) -> bytes:
    """JSON with line ends, indented by four spaces for each level."""
    return json.dumps(value, indent=4).replace("/", "\\/").encode("ascii") + b"\n"


_CHANGES: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "event_integers": _integers,
    "event_unknown_name": _unknown_name,
    "event_unknown_fields": _unknown_fields,
}
_STYLES: dict[str, Callable[[Any], bytes]] = {"raw": _raw, "html": _html, "pretty": _pretty}


# ---- When an attempt is made -----------------------------------------------------------------------------------------


def fits(kind: str, body: bytes) -> bool:
    """Whether a fault of ATTEMPT_KINDS can happen to this body: event_oversize needs a JSON object for its member."""
    return kind != "event_oversize" or _is_object(body)


def change(kind: str, fields: dict[str, Any], endpoint: sqlite3.Row, body: bytes, signature: str) -> tuple[bytes, str]:
    """The body and the signature of an attempt to which a fault happens."""
    secret = endpoint["secret"]
    if kind == "event_signature":
        return body, events.sign(body + b" ", secret)
    if kind == "event_old_secret":
        return body, events.sign(body, endpoint["old_secret"] or events.sign(secret.encode(), "another")[:32])
    if kind == "event_truncated":
        return truncated(body), signature
    padded = oversize(body, fields["bytes"])
    return padded, events.sign(padded, secret)


def truncated(body: bytes) -> bytes:
    """The first half of a body, cut so that it ends with a whole character."""
    return body[: len(body) // 2].decode("utf-8", "ignore").encode("utf-8")


def oversize(body: bytes, size: int) -> bytes:
    """The body with a further member `padding`, whose value has `size` bytes."""
    begin, end, rest = body.rpartition(b"}")
    comma = b"" if begin.rstrip().endswith(b"{") else b","
    return begin + comma + b'"padding":"' + b"x" * size + b'"' + end + rest


def _is_object(body: bytes) -> bool:
    try:
        return isinstance(json.loads(body), dict)
    except (ValueError, RecursionError):
        return False
