"""Events: the shape of their data, the envelope, the signature.

Ids appear as integers and as strings, and data is the full resource or a reduced set of its fields. The type of ids
and the set of fields depend only on how many events the account had before, so the same steps give the same data:

    events before mod 4    0         1         2          3
    resource ids           integer   string    integer    string
    fields                 full      full      reduced    reduced
"""

from __future__ import annotations

import hashlib
import hmac
import re
from typing import Any

from billcore_sandbox.options import Options

USER_AGENT = "Service/1.0"
TEST_HOOK = "test.hook"
NAMES = (
    *(f"subscription.{what}" for what in ("created", "updated", "renewed", "cancelled")),
    *(f"order.{what}" for what in ("confirmed", "paid")),
    *(f"{noun}.{what}" for noun in ("product", "product-group") for what in ("updated", "deleted")),
    TEST_HOOK,
)

# Maps the part of an event's name before the dot to the fields of a reduced `data`. Events of product groups always
# have all three fields.
_REDUCED = {
    "subscription": ("id", "price", "currency", "renews_at", "ends_at", "reference_id", "status"),
    "order": ("id", "total", "total_with_vat", "currency", "reference_id", "state", "remote_id", "delivery"),
    "product": ("id", "name", "type", "price", "currency"),
}
_TEXT_IDS = ("subscription", "order")


def shape(options: Options, event: str, before: int, data: dict[str, Any]) -> dict[str, Any]:
    """Give `data` the form in which it is sent. before: how many events the account had before this one."""
    noun = event.partition(".")[0]
    as_int = options.event_ids == "int" or (options.event_ids == "mixed" and before % 2 == 0)
    reduced = options.event_payload == "reduced" or (options.event_payload == "mixed" and before % 4 >= 2)
    shaped = data
    if reduced and noun in _REDUCED:
        shaped = {name: data[name] for name in _REDUCED[noun]}
    if as_int and noun in _TEXT_IDS:
        shaped = {**shaped, "id": int(data["id"])}
    return shaped


def with_id(body: bytes, delivery_id: int) -> bytes | None:
    """The body with another id and otherwise the same bytes; None if the body does not begin with an id."""
    found = re.match(rb'\s*\{\s*"id"\s*:\s*("?)(-?[0-9]+)\1\s*[,}]', body)
    return None if found is None else body[: found.start(2)] + str(delivery_id).encode() + body[found.end(2) :]


def sign(body: bytes, secret: str) -> str:
    """Lowercase hex HMAC-SHA256 of the exact bytes, keyed with the secret's bytes."""
    return hmac.new(secret.encode("ascii"), body, hashlib.sha256).hexdigest()
