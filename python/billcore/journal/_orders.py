"""Converts orders and final errors to and from the JSON text that the journal stores; says what an error means."""

from __future__ import annotations

import json
from typing import Any

from .. import _webhook
from .._errors import ApiError, BillcoreError, DecodeError, PaymentError, TransportError
from .._interface import is_repeated
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
    return PaymentError(*stored["positional"], **{**stored["named"], "text": stored["text"]})


def state_after(error: BaseException, certain: bool) -> str:
    """The state of a key after client.subscriptions.charge() raised this error."""
    if isinstance(error, DecodeError):
        return "unread"
    if isinstance(error, PaymentError):
        return "declined" if certain else "refused"
    if isinstance(error, ApiError):
        return "unknown" if error.outcome_unknown or error.status < 400 else "refused"
    if isinstance(error, BillcoreError):
        return "unknown" if error.outcome_unknown else "not_sent"
    # The call was interrupted or cancelled, or memory ran out: the charge may have been sent.
    return "not_sent" if getattr(error, "nothing_sent", False) else "unknown"


def may_pass(error: BaseException) -> bool:
    """Whether a call that raised this error of the client may succeed later, without a change by a person."""
    return isinstance(error, TransportError) or (isinstance(error, ApiError) and is_repeated(error.status))
