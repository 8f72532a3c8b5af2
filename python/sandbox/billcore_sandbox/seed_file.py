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
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec

from billcore_sandbox.clock import add_interval, iso, iso_precise

if TYPE_CHECKING:
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
        tables = tomllib.loads(Path(path).read_text("utf-8"))
        found = msgspec.convert(tables, File)
    except OSError as error:
        raise SeedFileError(f"cannot read the seed file {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SeedFileError(f"the seed file {path} is not TOML: {error}") from None
    except msgspec.ValidationError as error:
        raise SeedFileError(f"the seed file {path} is wrong: {error}") from None
    kinds = {product.name: product.type for product in found.products}
    if len(kinds) < len(found.products):
        raise SeedFileError(f"the seed file {path} is wrong: two products have one name")
    for subscription in found.subscriptions:
        if kinds.get(subscription.product, "one_time") == "one_time":
            raise SeedFileError(
                f"the seed file {path} is wrong: no recurring product is named {subscription.product!r}"
            )
        try:
            json.dumps(subscription.metadata, allow_nan=False)
        except (TypeError, ValueError):
            raise SeedFileError(f"the seed file {path} is wrong: JSON has no dates, no nan and no inf") from None
    return found


def fill(filler: Filler, file: File, account: int, begin: datetime) -> None:
    """Add the entries of the seed file to an account whose clock begins at `begin`."""
    products = {product.name: _add_product(filler, product, account) for product in file.products}
    for subscription in file.subscriptions:
        _add_subscription(filler, subscription, products[subscription.product], account, begin)


def _add_product(filler: Filler, product: Product, account: int) -> dict[str, Any]:
    interval = None if product.type == "one_time" else product.interval or "month"
    cycles = product.cycles or 3 if product.type == "fixed_cycle" else None
    return filler.add(
        "products",
        account=account,
        name=product.name,
        description=product.description,
        type=product.type,
        price=product.price,
        currency=product.currency,
        vat_rate=product.vat_rate,
        interval=interval,
        price_includes_vat=0,
        image=None,
        images="[]",
        use_cart=0,
        stock_tracking=0,
        out_of_stock=0,
        stays_active=int(product.stays_active),
        cycles=cycles,
    )


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
        custom_fields="[]",
        metadata=json.dumps(subscription.metadata),
    )
    if works or status == "delayed":
        due = iso_precise(end if works else begin + timedelta(days=1))
        filler.add("jobs", account=account, due=due, kind="subscription", subject=row["id"], cause="renew")
