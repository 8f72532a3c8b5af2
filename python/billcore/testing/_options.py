"""The options of an account of the sandbox; public as billcore.testing.AccountOptions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Literal, TypedDict


class ErrorAnswer(TypedDict, total=False):
    """The status and the code with which an operation refuses a request, instead of the sandbox's."""

    status: int
    code: str


class AccountOptions(TypedDict, total=False):
    """What the sandbox does where the service interface defines nothing: for one account, or for a whole sandbox.

    The sandbox's README has a table of what each option changes. `errors` maps operations to the codes of their errors,
    such as {"charge": {"charge_declined": {"status": 409, "code": "declined"}}}. `rate_limit` is a number of requests,
    and the seconds of the account's clock in which they are allowed: further requests get 429 with Retry-After.
    """

    secret: str
    settlement: Literal["by-billing", "immediate", "manual"]
    charge_total: Literal["amount-times-quantity", "amount"]
    donation_status: Literal[402, 403, 422]
    cancel: Literal["by-product", "cancelled", "active"]
    cancel_ends_at: Literal["paid-period", "now"]
    second_cancel: Literal["ok", "refuse"]
    swap_to_one_time: Literal["ok", "refuse"]
    unchanged_event: Literal["sent", "none"]
    delete_body: Literal["product", "null", "empty"]
    errors: Mapping[str, Mapping[str, ErrorAnswer]] | None
    rate_limit: tuple[int, float] | None
    subscriptions_per_page: int
    products_per_page: int
    event_ids: Literal["mixed", "int", "string"]
    event_payload: Literal["mixed", "full", "reduced"]
    retry_schedule: Sequence[float]
    delivery_ids: Literal["int", "string"]
    updated_too: bool
    signature_header: str
    start: datetime | str | None
    renewal_retries: Sequence[float]
    invoice_days: float | None
    delivery_timeout: float
