"""Python libraries that verify an event and read its id, its name and the subscription's status.

Each contender is a Python statement, executed in a namespace that holds one delivery. stripe signs a timestamp that
must not be old, so each round makes a new namespace. Only the benchmark's own environment has these packages.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from types import GenericAlias
from typing import Any

from billcore import webhooks

from .bodies import SECRET, Delivery

# import_module() gives the packages the type Any, so mypy accepts that they may not be installed.
msgspec, orjson, stripe = (import_module(name) for name in ("msgspec", "orjson", "stripe"))

Names = dict[str, Any]
KEY = SECRET.encode()

_text, _maybe = (str, ""), (str | None, None)
CUSTOM_FIELD = msgspec.defstruct("CustomField", [("id", int), ("label", str), ("type", str), ("value", Any)])
# The struct has every field of the interface, with defaults, because an event may lack fields. Times stay text,
# because converting them would take longer.
SUBSCRIPTION = msgspec.defstruct(
    "Subscription",
    [
        ("id", int | str),
        ("price", int, 0),
        ("vat", int, 0),
        *((name, *_text) for name in ("currency", "created_at")),
        *((name, *_maybe) for name in ("renews_at", "ends_at", "trial_ends_at", "reference_id", "reference_name")),
        *((name, *_text) for name in ("status", "update_card_url", "invoices_url", "cancel_url")),
        ("custom_fields", GenericAlias(list, CUSTOM_FIELD), []),
        ("metadata", dict[str, Any], {}),
    ],
)
EVENT = msgspec.defstruct(
    "Event", [("id", int | str), ("name", str), ("account", int), ("created_at", str), ("data", SUBSCRIPTION)]
)

READ_OBJECT = "event.id\nevent.name\nevent.data.status\n"
READ_DICT = "event['id']\nevent['name']\nevent['data']['status']\n"
CHECK = "if not hmac.compare_digest(hmac.new(key, body, 'sha256').hexdigest(), signature):\n    raise ValueError\n"


@dataclass(frozen=True)
class Contender:
    label: str
    statement: str
    names: Callable[[Delivery], Names]


def _plain(one: Delivery) -> Names:
    decode = msgspec.json.Decoder(EVENT).decode
    parsers = {"decode": decode, "orjson": orjson, "json": json}
    return {"hmac": hmac, "key": KEY, "body": one.body, "signature": one.signature, **parsers}


def _stripe(one: Delivery) -> Names:
    now = int(time.time())
    mac = hmac.new(one.secret.encode(), f"{now}.".encode() + one.body, hashlib.sha256).hexdigest()
    return {"stripe": stripe, "body": one.body, "header": f"t={now},v1={mac}", "secret": SECRET}


def _ours(one: Delivery) -> Names:
    named = {"webhooks": webhooks, "verifier": webhooks.Verifier(SECRET), "secret": SECRET}
    return {**named, "body": one.body, "signature": one.signature}


CONTENDERS = {
    "msgspec": Contender("hmac + msgspec struct of all fields", CHECK + "event = decode(body)\n" + READ_OBJECT, _plain),
    "orjson": Contender("hmac + orjson", CHECK + "event = orjson.loads(body)\n" + READ_DICT, _plain),
    "json": Contender("hmac + json", CHECK + "event = json.loads(body)\n" + READ_DICT, _plain),
    "stripe": Contender(
        "stripe Webhook.construct_event",
        "event = stripe.Webhook.construct_event(body, header, secret)\nevent.id\nevent['name']\nevent.data.status\n",
        _stripe,
    ),
    "unwrap": Contender("billcore Verifier.unwrap", "event = verifier.unwrap(body, signature)\n" + READ_OBJECT, _ours),
    "one_shot": Contender(
        "billcore webhooks.unwrap (one shot)",
        "event = webhooks.unwrap(body, signature, secret)\n" + READ_OBJECT,
        _ours,
    ),
    "verify": Contender(
        "billcore Verifier.verify (nothing parsed, nothing read)", "verifier.verify(body, signature)\n", _ours
    ),
}
