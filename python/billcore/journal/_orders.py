"""Converts orders and final errors to and from the JSON text that the journal stores."""

from __future__ import annotations

import json
from typing import Any

from .. import _webhook
from .._errors import PaymentError
from .._webhook import Order

_FIELDS = ("status", "code", "message", "request_id", "body", "retry_after", "attempts")


def dump_order(order: Order) -> str:
    return json.dumps(order.to_dict())


def load_order(text: str) -> Order:
    restore: Any = _webhook._restore
    order: Order = restore("Order", text, "data")
    return order


def dump_error(error: object) -> str | None:
    """Returns a PaymentError (402) as JSON; None for any other error, because no other error is final."""
    if not isinstance(error, PaymentError):
        return None
    named = {name: getattr(error, name) for name in ("method", "path", "headers")}
    return json.dumps({"positional": [getattr(error, name) for name in _FIELDS], "named": named, "text": str(error)})


def load_error(text: str) -> PaymentError:
    stored = json.loads(text)
    return PaymentError(*stored["positional"], **stored["named"], text=stored["text"])
