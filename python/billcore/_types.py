"""Names for annotations, loaded on first use."""

from typing import Literal, TypeAlias

SubscriptionStatus: TypeAlias = Literal[
    "pending", "future_start", "trialing", "active", "delayed", "unpaid", "cancelled", "expired"
]
"""Service interface: Subscription status. The service may send others."""

OrderState: TypeAlias = Literal[
    "created",
    "confirmed",
    "payment_pending_user",
    "payment_pending",
    "payment_failed",
    "payment_cancelled",
    "payment_refunded",
    "paid",
]
"""Service interface: Order state. The service may send others."""

SignatureReason: TypeAlias = Literal["body_too_large", "missing", "malformed", "mismatch", "stale"]
"""Why a signature check failed, in the order in which the checks are made."""

VerdictReason: TypeAlias = Literal[
    "total_changed", "overlap", "repeated_page", "list_shrank", "stopped", "total_differs", "undecodable_item"
]
"""Why a record may have been missed."""
