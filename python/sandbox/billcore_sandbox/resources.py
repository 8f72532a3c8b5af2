"""Converts rows of the store to resources of the service interface, with their fields in the interface's order."""

from __future__ import annotations

import hashlib
import hmac
import json
import sqlite3
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, Literal, get_args

MAX_INTEGER = 2**63 - 1
PORTAL = "https://portal.billing.example"
# Signs the portal links of demo data. The links protect nothing, so the key need not be secret.
_PORTAL_KEY = b"sandbox portal links"

SubscriptionStatus = Literal[
    "pending", "future_start", "trialing", "active", "delayed", "unpaid", "cancelled", "expired"
]
OrderState = Literal[
    "created",
    "confirmed",
    "payment_pending_user",
    "payment_pending",
    "payment_failed",
    "payment_cancelled",
    "payment_refunded",
    "paid",
]
SUBSCRIPTION_STATUSES: tuple[str, ...] = get_args(SubscriptionStatus)
ORDER_STATES: tuple[str, ...] = get_args(OrderState)


def with_vat(amount: int, basis_points: int) -> int:
    """amount plus VAT in whole cents; half a cent is rounded up (away from zero), in integer arithmetic."""
    return amount + (amount * basis_points + 5000) // 10000


def product_prices(price: int, vat_rate: float, includes_vat: bool) -> tuple[int, int]:
    """(price_with_vat, price_without_vat) in cents, half a cent rounded up."""
    factor = 1 + Decimal(str(vat_rate)) / 100
    if includes_vat:
        return price, int((price / factor).quantize(Decimal(1), ROUND_HALF_UP))
    return int((price * factor).quantize(Decimal(1), ROUND_HALF_UP)), price


def terms(product: sqlite3.Row) -> dict[str, Any]:
    """The columns of a subscription that it takes from its product; its price is without VAT."""
    net = product_prices(product["price"], product["vat_rate"], bool(product["price_includes_vat"]))[1]
    vat = round(product["vat_rate"] * 100)
    return {"product_id": product["id"], "price": net, "vat": vat, "currency": product["currency"]}


def _portal(subscription_id: int, page: str) -> str:
    path = f"{PORTAL}/subscription/{subscription_id}/{page}"
    return f"{path}?signature={hmac.digest(_PORTAL_KEY, path.encode(), hashlib.sha256).hex()}"


_REFERENCES = ("reference_id", "reference_name")
_TIMES = ("created_at", "renews_at", "ends_at", "trial_ends_at")
_SUBSCRIPTION = ("price", "vat", "currency", *_TIMES, *_REFERENCES, "status")
_ORDER = ("created_at", "total", "total_with_vat", "currency", *_REFERENCES, "state", "remote_id")


def _nested(row: sqlite3.Row) -> dict[str, Any]:
    return {name: json.loads(row[name]) for name in ("custom_fields", "metadata")}


def subscription(row: sqlite3.Row) -> dict[str, Any]:
    number = row["id"]
    return {
        "id": str(number),
        **{name: row[name] for name in _SUBSCRIPTION},
        "update_card_url": _portal(number, "card"),
        "invoices_url": _portal(number, "invoices"),
        "cancel_url": _portal(number, "cancel"),
        **_nested(row),
    }


def order(row: sqlite3.Row) -> dict[str, Any]:
    return {
        "id": str(row["id"]),
        **{name: row[name] for name in _ORDER},
        "delivery": None if row["delivery"] is None else {"link": row["delivery"]},
        **_nested(row),
    }


def product(row: sqlite3.Row) -> dict[str, Any]:
    gross, net = product_prices(row["price"], row["vat_rate"], bool(row["price_includes_vat"]))
    rate, currency, interval = row["vat_rate"], row["currency"], row["interval"]
    every = f" / {interval}" if interval else ""
    return {
        **{name: row[name] for name in ("id", "name", "description", "type", "price")},
        "price_with_vat": gross,
        "price_without_vat": net,
        "currency": currency,
        "vat_rate": int(rate) if rate == int(rate) else rate,
        "interval": interval,
        "image": row["image"],
        "images": json.loads(row["images"]),
        **{name: bool(row[name]) for name in ("use_cart", "stock_tracking", "out_of_stock")},
        "strings": {
            "interval": f"every {interval}" if interval else "once",
            "type": row["type"].replace("_", " "),
            "price": money(row["price"], currency) + every,
            "price_with_vat": money(gross, currency) + every,
            # Null for a product without VAT, because the interface says that strings.price_without_vat may be null.
            "price_without_vat": money(net, currency) + every if rate else None,
        },
    }


def product_group(row: sqlite3.Row, members: list[int]) -> dict[str, Any]:
    return {"id": row["id"], "name": row["name"], "products": members}


def money(cents: int, currency: str) -> str:
    """An amount in cents as people write it, such as 15.00 EUR."""
    sign = "-" if cents < 0 else ""
    whole, part = divmod(abs(cents), 100)
    return f"{sign}{whole}.{part:02d} {currency}"
