"""The bodies of control requests. An unknown field is refused, because it is probably misspelt."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

import msgspec

from billcore_sandbox.faults import KINDS
from billcore_sandbox.options import Options, of_accounts
from billcore_sandbox.seed_file import Product

Billing = Literal["card", "mobile", "invoice"]
Days = Annotated[int, msgspec.Meta(ge=0, le=100_000)]
Id = str | int
Seconds = Annotated[float, msgspec.Meta(ge=0, le=10**9)]
Uri = Annotated[str, msgspec.Meta(extra_json_schema={"format": "uri", "pattern": "^https?://"})]
Time = Annotated[str, msgspec.Meta(extra_json_schema={"format": "date-time"})]
Number = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]  # fits SQLite's integers
Count = Annotated[int, msgspec.Meta(ge=1, le=10**9)]
# TOKEN matches a header's name; LINE matches a line without spaces at its ends. `(?!\n)` is needed, because `$` alone
# also matches before a line end.
TOKEN = r"^[!#$%&'*+.^_`|~0-9A-Za-z-]+$(?!\n)"
LINE = r"^([^\x00-\x20\x7f]([^\x00-\x1f\x7f]*[^\x00-\x20\x7f])?)?$(?!\n)"


class Body(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """account: the UUID of an account; the default is the account of the object, or the first account."""

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
    """A new billing method. declines: whether its later payments are declined."""

    billing: Billing | None = None
    declines: bool | None = None


class NewProduct(Product, forbid_unknown_fields=True, kw_only=True):
    """A product as an administrator creates it. price: cents without VAT. cycles: payments of a fixed_cycle product."""

    type: Literal["subscription", "fixed_cycle", "donation", "one_time"] = "one_time"
    account: str | None = None


class NewGroup(Body):
    """A product group."""

    name: Annotated[str, msgspec.Meta(min_length=1)]
    products: list[Number]


class Group(Body):
    """The changes of a product group."""

    name: Annotated[str, msgspec.Meta(min_length=1)] | None = None
    products: Annotated[list[Number], msgspec.Meta(min_length=1)] | None = None


class Settings(Body):
    """Settings of an endpoint. retry_schedule: seconds before each retry; null: that of the account."""

    concurrency: Annotated[int, msgspec.Meta(ge=1, le=100)] | msgspec.UnsetType = msgspec.UNSET
    paused: bool | msgspec.UnsetType = msgspec.UNSET
    retry_schedule: Annotated[list[Seconds], msgspec.Meta(max_length=100)] | msgspec.UnsetType | None = msgspec.UNSET
    keep_alive: bool | msgspec.UnsetType = msgspec.UNSET


class NewEndpoint(Settings, kw_only=True):
    """A new endpoint. secret: 32 characters; by default, the sandbox makes a secret."""

    url: Uri
    secret: Annotated[str, msgspec.Meta(pattern="^[!-~]{32}$")] | None = None


class Rotation(Body):
    """A new secret. overlap: seconds of the account's clock in which the old secret still signs some deliveries."""

    secret: Annotated[str, msgspec.Meta(pattern="^[!-~]{32}$")] | None = None
    overlap: Seconds = 0.0


class Later(Body):
    """A delivery to send again. after: seconds of the account's clock until the first attempt."""

    after: Seconds = 0.0


class Edit(Later):
    """A delivery to send with another body. body: a text that is sent unchanged. changes: members that replace members
    of the envelope with the same names; in `data`, the members that are not named stay. sign: false keeps the signature
    of the original body."""

    body: str | None = None
    changes: dict[str, Any] | None = None
    sign: bool = True


class Demo(msgspec.Struct):
    """demo: false makes an account without demo data. The other fields are options, as the command line has them."""

    demo: bool = True


_TYPES = {**get_type_hints(Options), "start": Time}


def _field(option: dataclasses.Field[Any]) -> tuple[str, Any, Any]:
    """The field of an option: its name, its JSON type and its default."""
    type_ = _TYPES[option.name]
    if "choices" in option.metadata:
        type_ = Literal[option.metadata["choices"]]
    about = msgspec.Meta(description=option.metadata["help"])
    return option.name, Annotated[type_ | msgspec.UnsetType, about], msgspec.UNSET


if TYPE_CHECKING:
    NewAccount = Demo
else:
    NewAccount = msgspec.defstruct(
        "NewAccount",
        [_field(each) for each in of_accounts()],
        bases=(Demo,),
        namespace={"__doc__": Demo.__doc__},
        module=__name__,
        forbid_unknown_fields=True,
        kw_only=True,
    )


class ClockChange(Body):
    """Move the account's clock forward, to a time or by a duration; stop it or let it run.

    settle: false makes all changes before the deliveries. timeout: real seconds, after which the clock stops on its
    way, and the same time as `to` makes it go on.
    """

    to: Time | None = None
    days: Annotated[float, msgspec.Meta(ge=0, le=100_000)] = 0.0
    seconds: Annotated[float, msgspec.Meta(ge=0, le=10**10)] = 0.0
    freeze: bool = False
    run: bool = False
    settle: bool = True
    timeout: Annotated[float, msgspec.Meta(ge=0, le=600)] = 30.0


class Page(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """Shows only records with an id (deliveries: a seq) over `since` or `after` and under `before`, and at most `limit`
    records: the oldest, or with the order `desc` the latest first. search: a text that a record contains."""

    account: str | None = None
    since: Number = 0
    after: Number = 0
    before: Number | None = None
    order: Literal["asc", "desc"] = "asc"
    limit: Count | None = None
    search: Annotated[str, msgspec.Meta(min_length=1, max_length=1000)] | None = None


class LedgerPage(Page):
    """kind: only effects of this kind. request_id: only effects of this request."""

    kind: str | None = None
    request_id: Number | None = None


class RequestPage(Page):
    """operation: only requests of this operation, given by name, or by the part after the dot if that is unique.
    status: of the answer."""

    operation: str | None = None
    method: str | None = None
    status: Number | None = None


class DeliveryPage(Page):
    """event: only deliveries of the event with this name. state: pending, on_hold, delivered, failed, held_back or
    dropped. request_id, effect_id: only deliveries that this request or this effect caused."""

    event: str | None = None
    state: str | None = None
    endpoint_id: Number | None = None
    request_id: Number | None = None
    effect_id: Number | None = None


class Soonest(msgspec.Struct, forbid_unknown_fields=True):
    """limit: at most so many jobs, the next ones."""

    account: str | None = None
    limit: Count | None = None


class StreamQuery(msgspec.Struct, forbid_unknown_fields=True):
    """after: the cursor of a list, or the id of an event; 0: the whole history; by default, only what happens from now
    on. kind: only events of these kinds, separated by commas."""

    account: str | None = None
    after: str | None = None
    kind: str | None = None


class RequestMatch(msgspec.Struct, forbid_unknown_fields=True):
    """Matches requests. path: below the base URL; * stands for any characters except a slash. status: of the answer."""

    operation: str | None = None
    method: str | None = None
    path: str | None = None
    status: int | None = None


class NonePending(msgspec.Struct, forbid_unknown_fields=True):
    """Wait until no delivery of the account is pending, or no delivery of one event or to one endpoint."""

    event: str | None = None
    endpoint_id: Number | None = None


class DeliveryMatch(NonePending):
    """Matches deliveries. state: by default, every state except pending and on_hold."""

    state: str | None = None


class WantedSubscription(msgspec.Struct, forbid_unknown_fields=True):
    """The id of a subscription, and the status to wait for."""

    id: Id
    status: str


class WantedOrder(msgspec.Struct, forbid_unknown_fields=True):
    """The id of an order, and the state to wait for."""

    id: Id
    state: str


class Wait(Body):
    """The condition to wait for: one of request, delivery, none_pending, subscription, order. timeout: in seconds.
    until_failed: a wait for deliveries also ends when one of them has failed, was held back or dropped."""

    request: RequestMatch | None = None
    delivery: DeliveryMatch | None = None
    none_pending: NonePending | None = None
    subscription: WantedSubscription | None = None
    order: WantedOrder | None = None
    count: Annotated[int, msgspec.Meta(ge=1)] = 1
    since: Number = 0
    until_failed: bool = False
    timeout: Annotated[float, msgspec.Meta(ge=0, le=600)] = 30.0


class Trigger(Body):
    """The name of a scenario to run, on a new subscription or on the subscription with the id `on`."""

    name: Annotated[str, msgspec.Meta(examples=["first-order"])]
    on: Id | None = None


class TestHook(Body):
    """The event test.hook for one endpoint, or for every endpoint of the account or the sandbox."""

    endpoint_id: Number | None = None
    data: Any = None


class Fault(Body):
    """A fault. Selectors choose the requests or events; nth, times and probability choose which of them fail.
    Each field from `status` on is only for certain kinds of faults.

    Without account, a fault happens in every account. optional: a test may end although the fault happened less often.
    """

    kind: Annotated[str, msgspec.Meta(extra_json_schema={"enum": [*KINDS]})]
    operation: str | None = None
    method: str | None = None
    path: str | None = None
    query: dict[str, str] | None = None
    event: str | None = None
    endpoint_id: Number | None = None
    nth: Count = 1
    times: Count = 1
    probability: Annotated[float, msgspec.Meta(gt=0, le=1)] = 1.0
    optional: bool = False

    status: Annotated[int, msgspec.Meta(ge=200, le=599)] | None = None
    retry_after: Annotated[int, msgspec.Meta(ge=0, le=10**6)] | None = None
    body: Any = msgspec.UNSET
    content_type: Annotated[str, msgspec.Meta(pattern=LINE)] | None = None
    headers: dict[Annotated[str, msgspec.Meta(pattern=TOKEN)], Annotated[str, msgspec.Meta(pattern=LINE)]] | None = None
    effect: bool | None = None
    delay: Annotated[float, msgspec.Meta(ge=0, le=10**8)] | None = None
    abort: bool | None = None
    by: Annotated[int, msgspec.Meta(ge=-(10**9), le=10**9)] | None = None
    insert: Annotated[int, msgspec.Meta(ge=0, le=100)] | None = None
    delete: Annotated[int, msgspec.Meta(ge=0, le=1000)] | None = None
    answer: Literal["empty", "not_found", "last_page"] | None = None
    copies: Annotated[int, msgspec.Meta(ge=1, le=100)] | None = None
    concurrent: bool | None = None
    bytes: Annotated[int, msgspec.Meta(ge=1, le=64 << 20)] | None = None
    style: Literal["raw", "html", "pretty"] | None = None
