"""The bodies of control requests. An unknown field is refused, because it is probably misspelt."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec

Billing = Literal["card", "mobile", "invoice"]
Days = Annotated[int, msgspec.Meta(ge=0, le=100_000)]
Id = str | int
Number = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]  # what a column of SQLite holds


class Body(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """account: the UUID of an account; without it, the object's account or the first one is meant."""

    account: str | None = None


class Nothing(Body):
    """No further fields."""


class Checkout(Body):
    """A visitor begins to buy a product."""

    product_id: Number
    reference_id: str | None = None
    reference_name: str | None = None
    billing: Billing = "card"
    trial_days: Days = 0
    starts_in_days: Days = 0
    declines: bool = False
    metadata: dict[str, Any] = {}


class BillingMethod(Body):
    """Another billing method; with `declines`, its payments are declined from now on."""

    billing: Billing | None = None
    declines: bool | None = None


class NewProduct(Body):
    """A product as an administrator creates it. price: cents without VAT. cycles: payments of a fixed_cycle product."""

    name: Annotated[str, msgspec.Meta(min_length=1)]
    type: Literal["subscription", "fixed_cycle", "donation", "one_time"] = "one_time"
    price: Annotated[int, msgspec.Meta(ge=0, le=10**15)] = 10_000
    currency: Annotated[str, msgspec.Meta(pattern="^[A-Z]{3}$")] = "DKK"
    vat_rate: Annotated[float, msgspec.Meta(ge=0, le=100)] = 25.0
    interval: str | None = None
    description: str | None = None
    stays_active: bool = False
    cycles: Annotated[int, msgspec.Meta(ge=1, le=100_000)] | None = None


class NewGroup(Body):
    """A product group."""

    name: Annotated[str, msgspec.Meta(min_length=1)]
    products: list[Number]


class Group(Body):
    """What changes of a product group."""

    name: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    products: Annotated[list[Number], msgspec.Meta(min_length=1)] | None = None


class NewEndpoint(Body):
    """A receiver. secret: 32 characters; without it, the sandbox makes one."""

    url: str
    secret: Annotated[str, msgspec.Meta(pattern="^[!-~]{32}$")] | None = None


class Rotation(Body):
    """overlap: seconds of the account's clock in which deliveries with an even id have the old secret."""

    secret: Annotated[str, msgspec.Meta(pattern="^[!-~]{32}$")] | None = None
    overlap: Annotated[float, msgspec.Meta(ge=0, le=10**9)] = 0.0


class NewAccount(msgspec.Struct, forbid_unknown_fields=True):
    """demo: false makes an account without products and subscriptions."""

    demo: bool = True


class ClockChange(Body):
    """Move the account's clock forward, to a time or by a duration; stop it or let it run."""

    to: str | None = None
    days: Annotated[float, msgspec.Meta(ge=0, le=100_000)] = 0.0
    seconds: Annotated[float, msgspec.Meta(ge=0, le=10**10)] = 0.0
    freeze: bool = False
    run: bool = False


class Trigger(Body):
    """A scenario by its name, on a new object or on the object with the id `on`."""

    name: str
    on: Id | None = None


class TestHook(Body):
    """test.hook for one endpoint, or for every endpoint of the account or the sandbox."""

    endpoint_id: Number | None = None
    data: Any = None
