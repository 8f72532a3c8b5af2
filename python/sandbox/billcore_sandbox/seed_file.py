"""Your own products and subscriptions (--seed-file) for the first account, instead of its demo data.

[[products]]
name = "Gym pass"
type = "subscription"          # subscription, fixed_cycle, donation, one_time
price = 19900                  # cents, without VAT
interval = "month"

[[subscriptions]]
product = "Gym pass"
reference_id = "customer-7"
status = "active"
"""

from __future__ import annotations

import json
import tomllib
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from billcore_sandbox.clock import add_interval, iso, iso_precise
from billcore_sandbox.seed import Filler


class SeedFileError(Exception):
    """The seed file cannot be used; the message names the entry and its error."""


class Product(msgspec.Struct, forbid_unknown_fields=True):
    """One [[products]] entry."""

    name: Annotated[str, msgspec.Meta(min_length=1)]
    type: Literal["subscription", "fixed_cycle", "donation", "one_time"] = "subscription"
    price: Annotated[int, msgspec.Meta(ge=0, le=10**15)] = 10_000
    currency: Annotated[str, msgspec.Meta(pattern="^[A-Z]{3}$")] = "DKK"
    vat_rate: Annotated[float, msgspec.Meta(ge=0, le=100)] = 25.0
    interval: str | None = None
    description: str | None = None
    cycles: Annotated[int, msgspec.Meta(ge=1, le=100_000)] | None = None
    stays_active: bool = False


class Subscription(msgspec.Struct, forbid_unknown_fields=True):
    """One [[subscriptions]] entry."""

    product: str
    reference_id: str | None = None
    reference_name: str | None = None
    status: Literal["active", "trialing", "delayed", "unpaid", "cancelled", "expired"] = "active"
    billing: Literal["card", "mobile", "invoice"] = "card"
    declines: bool = False
    metadata: dict[str, Any] = {}


class File(msgspec.Struct, forbid_unknown_fields=True):
    """A whole seed file."""

    products: list[Product]
    subscriptions: list[Subscription] = []


def read(path: str) -> File:
    """The entries of the seed file. Raises SeedFileError with a message of one sentence."""
    try:
        found = msgspec.convert(tomllib.loads(Path(path).read_text("utf-8")), File)
    except OSError as error:
        raise SeedFileError(f"cannot read the seed file {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SeedFileError(f"the seed file {path} is not TOML: {error}") from None
    except msgspec.ValidationError as error:
        raise SeedFileError(f"the seed file {path} is wrong: {error}") from None
    if (mistake := _mistake(found)) is not None:
        raise SeedFileError(f"the seed file {path} is wrong: {mistake}")
    return found


def _mistake(file: File) -> str | None:
    """A mistake that the types of the entries cannot express; None if there is none."""
    kinds = {product.name: product.type for product in file.products}
    if len(kinds) < len(file.products):
        return "two products have one name"
    for subscription in file.subscriptions:
        if kinds.get(subscription.product, "one_time") == "one_time":
            return f"no recurring product is named {subscription.product!r}"
        try:
            json.dumps(subscription.metadata, allow_nan=False)
        except (TypeError, ValueError):
            return "JSON has no dates, no nan and no inf"
    return None


def fill(file: File, filler: Filler, account: int, begin: datetime) -> None:
    """Add the entries of the seed file to an account whose clock begins at `begin`."""
    products = {each.name: filler.add("products", **product_columns(each, account)) for each in file.products}
    for subscription in file.subscriptions:
        _add_subscription(filler, subscription, products[subscription.product], account, begin)


def product_columns(product: Any, account: int) -> dict[str, Any]:
    """The columns of a new product with the fields of Product."""
    recurs = product.type != "one_time"
    names = ("name", "description", "type", "price", "currency", "vat_rate", "stays_active")
    return {
        "account": account,
        **{name: getattr(product, name) for name in names},
        "interval": product.interval or "month" if recurs else None,
        "cycles": product.cycles or 3 if product.type == "fixed_cycle" else None,
    }


def _add_subscription(
    filler: Filler, subscription: Subscription, product: dict[str, Any], account: int, begin: datetime
) -> None:
    status, interval = subscription.status, product["interval"]
    end = add_interval(begin, interval)
    works = status in ("active", "trialing")
    row = filler.add(
        "subscriptions",
        account=account,
        product_id=product["id"],
        price=product["price"],
        vat=round(product["vat_rate"] * 100),
        currency=product["currency"],
        created_at=iso(begin),
        renews_at=iso(end if works else begin) if works or status in ("delayed", "unpaid") else None,
        trial_ends_at=iso(end) if status == "trialing" else None,
        ends_at=iso(begin) if status in ("cancelled", "expired") else None,
        retry_at=iso(begin + timedelta(days=1)) if status == "delayed" else None,
        anchor=iso(end if status == "trialing" else begin),
        reference_id=subscription.reference_id,
        reference_name=subscription.reference_name,
        status=status,
        cancelled=int(status == "cancelled"),
        billing=subscription.billing,
        declines=int(subscription.declines),
        failures=int(status == "delayed"),
        cycles_paid=(product["cycles"] or 0) if status == "expired" else int(status != "trialing"),
        metadata=json.dumps(subscription.metadata),
    )
    if works or status == "delayed":
        due = iso_precise(end if works else begin + timedelta(days=1))
        filler.add("jobs", account=account, due=due, kind="subscription", subject=row["id"], cause="renew")
