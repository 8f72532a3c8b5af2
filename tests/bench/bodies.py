"""Makes the webhook deliveries of the benchmarks: events like those of the service, of an exact size, signed with
Python's hmac."""

from __future__ import annotations

import hashlib
import hmac
import json
from itertools import cycle
from pathlib import Path
from typing import Any

SECRET = "whsec-0123456789abcdefghijklmnop"

NOTE = "blue seats for the night train to Bergen with a window and one quiet table"


def _subscription() -> dict[str, Any]:
    """Returns the complete subscription of the webhook test vectors, with only one custom field."""
    vectors = json.loads((Path(__file__).parent.parent / "fixtures" / "webhook_vectors.json").read_text("utf-8"))
    full = next(case for case in vectors["cases"] if case["name"] == "subscription.created_full")
    data = json.loads(full["body_text"])["data"]
    return {**data, "custom_fields": [{"id": 7, "label": "Seats", "type": "number", "value": 3}]}


SUBSCRIPTION = _subscription()


def spelled(value: object) -> bytes:
    """Returns the value as compact JSON in the service's encoding: ASCII, with escaped slashes."""
    return json.dumps(value, separators=(",", ":")).replace("/", "\\/").encode()


def filled(document: dict[str, Any], metadata: dict[str, str], size: int) -> bytes:
    """Serialises the document to exactly `size` bytes. Adds entries to `metadata`, which must be an object within the
    document, until the size is reached."""
    words = cycle(NOTE.split())
    missing = size - len(spelled(document))
    while missing > 0:
        for _ in range(max(1, missing // 200)):  # no entry takes more than 200 bytes
            key = f"note_{len(metadata) + 1}"
            room = missing - len(spelled({key: ""})) + 2 - bool(metadata)
            if room > 120:  # enough bytes for an entry of 8 words and at least one more entry
                metadata[key] = " ".join(next(words) for _ in range(8))
            else:
                metadata[key] = (NOTE + " and so on and so on, as before" * 2)[:room]
        missing = size - len(spelled(document))
    text = spelled(document)
    if len(text) != size:
        raise ValueError(f"made {len(text)} bytes instead of {size}")
    return text


def body(size: int) -> bytes:
    """Returns a subscription.updated event, padded to `size` bytes."""
    metadata: dict[str, str] = {}
    event = {
        "id": 90211,
        "name": "subscription.updated",
        "account": 17,
        "created_at": "2025-04-25T09:30:00+02:00",
        "data": {**SUBSCRIPTION, "metadata": metadata},
    }
    return filled(event, metadata, size)


def write(folder: Path, size: int, secret: str = SECRET) -> None:
    """Writes a delivery to the files `body`, `signature` and `secret`, for the benchmarks in all languages. secret: the
    secret that signs; a contender verifies with SECRET."""
    folder.mkdir()
    text = body(size)
    (folder / "body").write_bytes(text)
    (folder / "signature").write_text(hmac.new(secret.encode(), text, hashlib.sha256).hexdigest(), "ascii")
    (folder / "secret").write_text(SECRET, "ascii")
