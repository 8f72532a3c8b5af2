"""Why a delivery has not arrived, in plain sentences."""

from __future__ import annotations

import json
import sqlite3
from http import HTTPStatus
from typing import Any

from billcore_sandbox import events
from billcore_sandbox.page.render import short
from billcore_sandbox.page.views.shown import answer_body, sent_body
from billcore_sandbox.world import World

_MOST_EXPLAINED = 1 << 20  # bytes of a body: signing and explain() take about 20 ms for them
# What an error of a connection means, by a text in it.
_ERRORS = {
    "connection was refused": "Start the receiver, or register the URL with its port.",
    "no answer within": "The receiver was too slow: answer first, and do the work afterwards.",
    "reset": "The connection was reset: the receiver ended, or closed the connection, while it worked on the event.",
    "without an answer": "The receiver closed the connection: look for an error in its log.",
    "ssl": "TLS failed: the sandbox trusts only the certificates that this system trusts, and those in SSL_CERT_FILE.",
    "certificate": "TLS failed: the sandbox trusts only the certificates that this system trusts.",
    "name or service": "The name of the host is not known on this machine.",
    "no valid http": "What answered is no HTTP server: the URL may need https, or another port.",
}
_STATUSES = {
    range(300, 400): "The sandbox follows no redirect: register the URL that the receiver redirects to.",
    range(400, 401): "Receivers answer so to a body that they cannot read, and often to a wrong signature.",
    range(401, 402): "Receivers answer so to a missing or wrong signature.",
    range(403, 404): "Receivers answer so to a wrong signature, and frameworks to a POST without their CSRF token.",
    range(404, 406): "The receiver runs, but takes no POST at this path.",
    range(413, 414): "The receiver takes no body of this size.",
    range(500, 600): "The receiver's program failed: look for an error in its log.",
}
_FAULTS = {
    "event_signature": "The fault event_signature made the signature wrong on purpose: to refuse it is right.",
    "event_old_secret": "The fault event_old_secret signed it with another secret than the endpoint's.",
    "event_truncated": "The fault event_truncated sent half of the body with the signature of the whole body.",
    "event_oversize": "The fault event_oversize sent a very large body, with a right signature.",
    "event_escapes": "The fault event_escapes wrote the JSON in another way. A receiver that writes it anew before it"
    " checks the signature gets other bytes.",
    "event_integers": "The fault event_integers sent integers that some JSON parsers round.",
    "event_unknown_name": "The fault event_unknown_name sent an event that no receiver knows.",
    "event_unknown_fields": "The fault event_unknown_fields sent fields that no receiver knows.",
}


def reasons(world: World, row: sqlite3.Row) -> list[str]:
    """Why the delivery has not arrived; [] if it has, or was not attempted yet."""
    made = json.loads(row["attempts"])
    if row["state"] == "delivered" or (row["state"] == "pending" and not made):
        return []
    said = [f"{row['reason'][:1].upper()}{row['reason'][1:]}."] if row["reason"] else []
    if not made:
        return said
    last = made[-1]
    if last["status"] is None:
        error = str(last["error"])
        said += [f"No answer: {error}.", *_first(error.lower(), _ERRORS)]
    elif not 200 <= last["status"] < 300:
        said += _refused(last)
        said += [text for each, text in _FAULTS.items() if each in (last["fault"], *json.loads(row["faults"]))]
        said += _signature(world, row, last)
    return said


def _first(text: str, table: dict[str, str]) -> list[str]:
    return [meaning for each, meaning in table.items() if each in text][:1]


def _refused(attempt: dict[str, Any]) -> list[str]:
    status = attempt["status"]
    name = f" {HTTPStatus(status).phrase}" if status in list(HTTPStatus) else ""
    begin = short(answer_body(attempt).decode("utf-8", "backslashreplace"), 200)
    said = f"The receiver answered {status}{name}{f': {begin}' if begin else ', without a body.'}"
    return [said, *(text for each, text in _STATUSES.items() if status in each)]


def _signature(world: World, row: sqlite3.Row, attempt: dict[str, Any]) -> list[str]:
    """Which secret gives the signature that was sent, and what the client's explain() finds, if it is installed."""
    endpoint = world.store.one("SELECT secret, old_secret FROM endpoints WHERE id = ?", row["endpoint_id"])
    if endpoint is None or len(row["body"]) + attempt.get("bytes", 0) > _MOST_EXPLAINED:
        return []
    body, signature = sent_body(row, attempt), attempt.get("signature", row["signature"])
    secrets = [each for each in (endpoint["secret"], endpoint["old_secret"]) if each is not None]
    right = [events.sign(body, each) == signature for each in secrets]
    said = []
    if right[0]:
        said.append(
            "The signature is right for the endpoint's secret. If the receiver refuses it, the receiver has another"
            " secret, or did not check the bytes that were sent."
        )
    if len(secrets) == 2:
        said.append(
            "It is signed with the secret before the rotation: a receiver that has only the new one refuses it."
            if right[1]
            else "The secret was rotated: a receiver that still has the old one refuses this signature."
        )
    if not any(right):
        said.append("No secret of the endpoint gives this signature for this body.")
    return said + _explained(body, signature, secrets)


def _explained(body: bytes, signature: str, secrets: list[str]) -> list[str]:
    """The causes that the client's explain() names; [] if the client is not installed, or cannot be loaded."""
    try:
        from billcore.webhooks import explain
    except ImportError:
        return []
    return [line[2:] for line in explain(body, signature, secrets).splitlines() if line.startswith("- ")]
