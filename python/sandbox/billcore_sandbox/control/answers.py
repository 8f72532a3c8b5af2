"""The answers of control routes as types, which the OpenAPI document shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from billcore_sandbox.control.records import DeliveryRecord, RequestRecord, StateChange

if TYPE_CHECKING:  # the routes return resources as dicts
    Subscription = dict[str, Any]
    Order = dict[str, Any]
    Product = dict[str, Any]
    ProductGroup = dict[str, Any]
else:
    from billcore_sandbox.service.schemas import Order, Product, ProductGroup, Subscription


class MadeAccount(TypedDict):
    """A new account. ids: the ids of the demo data, by the names that README.md lists."""

    account: str
    number: int
    api_key: str
    ids: dict[str, Any]


class AccountId(TypedDict):
    """The UUID of an account."""

    account: str


class MadeKey(TypedDict):
    """A new API key."""

    id: int
    api_key: str


class Key(MadeKey):
    """An API key with its state: valid or revoked."""

    state: str


class Keys(TypedDict):
    """The keys of an account."""

    keys: list[Key]


class ChangedKey(TypedDict):
    """A key that was revoked or rotated. new: the key that replaces a rotated key."""

    id: int
    state: str
    new: MadeKey | None


class ClockShown(TypedDict):
    """The time of an account's clock, and whether the clock is frozen."""

    account: str
    now: str
    frozen: bool


class Happened(TypedDict):
    """The cause of an action, such as `renew`, and the id of its object. refused: why the action was refused."""

    at: str
    cause: str
    subscription: NotRequired[str]
    order: NotRequired[str]
    request: NotRequired[str]
    refused: NotRequired[str]


class Unanswered(TypedDict):
    """An endpoint that did not answer in time during a move, and the number of its pending deliveries."""

    endpoint_id: int
    url: str
    pending: int
    error: str


class MovedClock(ClockShown):
    """A clock after a move. happened: actions of jobs, in order. pending_deliveries: number of pending deliveries.

    unanswered: the endpoints that the move did not wait for after one delivery time-out.
    """

    happened: list[Happened]
    pending_deliveries: int
    unanswered: list[Unanswered]


class Shown(TypedDict):
    """The current subscription and order; null if there is none."""

    subscription: Subscription | None
    order: Order | None


class EventId(TypedDict):
    """The id and name of a new event."""

    id: int | str
    event: str


class Triggered(Shown):
    """The objects after a scenario, and the events that it fired."""

    scenario: str
    deliveries: list[EventId]


class Scenario(TypedDict):
    """A scenario that `trigger` can run."""

    name: str
    about: str


class Scenarios(TypedDict):
    """All scenarios."""

    scenarios: list[Scenario]


class MadeProduct(TypedDict):
    """A new product."""

    product: Product


class ShownGroup(TypedDict):
    """The current product group."""

    group: ProductGroup


class Id(TypedDict):
    """The id of an object."""

    id: int


class Changed(TypedDict):
    """The new state of an object."""

    id: int
    state: str


class Secret(TypedDict):
    """The new secret of an endpoint."""

    id: int
    secret: str


class EndpointIds(TypedDict):
    """The ids of the endpoints that receive the event."""

    endpoints: list[int]


class Seed(TypedDict):
    """The seed of the demo data."""

    seed: int


class Endpoint(TypedDict):
    """An endpoint with its secret and settings."""

    id: int
    account: str | None
    url: str
    secret: str
    state: str
    old_secret: str | None
    old_secret_until: str | None
    concurrency: int
    paused: bool
    keep_alive: bool
    retry_schedule: list[float] | None


class Endpoints(TypedDict):
    """Endpoints that are not deleted."""

    endpoints: list[Endpoint]


class SentAgain(TypedDict):
    """The seq and the id of the new delivery."""

    seq: int
    id: int


class Held(TypedDict):
    """The new state of a delivery that was held or released: on_hold or pending."""

    seq: int
    id: int
    state: str


class FaultRecord(TypedDict):
    """A fault with its selectors. A selector is null if it was not given."""

    id: int
    kind: str
    account: str | None
    operation: str | None
    method: str | None
    path: str | None
    query: dict[str, str] | None
    event: str | None
    endpoint_id: int | None
    nth: int
    times: int
    probability: float
    optional: bool
    seen: int
    fired: int
    left: int


class Faults(TypedDict):
    """Faults, oldest first."""

    faults: list[FaultRecord]


class Waited(TypedDict, total=False):
    """The answer of POST wait, which has exactly one of these members."""

    requests: list[RequestRecord]
    deliveries: list[DeliveryRecord]
    subscription: Subscription
    order: Order


class AccountState(ClockShown):
    """Numbers of an account's subscriptions by status, orders by state, and products by type. options: those that
    differ from the sandbox's."""

    number: int
    options: dict[str, Any]
    subscriptions: dict[str, int]
    orders: dict[str, int]
    products: dict[str, int]


class UnknownParameter(TypedDict):
    """How often an account sent a parameter that the operation does not have."""

    account: str
    operation: str
    name: str
    count: int


class UpcomingJob(TypedDict):
    """A job that waits for its time: the action `cause` on an object. A delivery's id is its seq."""

    due: str
    account: str | None
    object: str
    id: str
    cause: str


class Upcoming(TypedDict):
    """Jobs, the next one first. total: their number without the parameter `limit`."""

    jobs: list[UpcomingJob]
    total: int


class HiddenFields(TypedDict):
    """What the service does not show of a subscription."""

    product_id: int
    billing: str
    declines: bool
    cancelled: bool
    starts_at: str | None
    anchor: str | None
    retry_at: str | None
    failures: int
    cycles_paid: int


class SubscriptionDetails(TypedDict):
    """A subscription with its hidden fields, its state in the table of states, the causes that the state takes, its
    next job, and how it came here."""

    subscription: Subscription
    hidden: HiddenFields
    state: str
    causes: list[str]
    next: UpcomingJob | None
    changes: list[StateChange]


class Cleared(TypedDict):
    """Numbers of records that were deleted."""

    requests: int
    ledger: int
    state_changes: int
    deliveries: int


class HistoryState(TypedDict):
    """The size of the history, its limit, its end (a cursor), and how many records were deleted to keep the limit."""

    bytes: int
    keep_bytes: int
    cursor: str
    forgotten: Cleared


class Counts(TypedDict):
    """Numbers of records."""

    endpoints: int
    deliveries: int
    ledger: int
    requests: int
    jobs: int


class State(TypedDict):
    """The state of the sandbox."""

    seed: int
    now: str
    options: dict[str, Any]
    accounts: list[AccountState]
    counts: Counts
    history: HistoryState
    faults: list[FaultRecord]
    unknown_parameters: list[UnknownParameter]


# TypedDict is called here, because a class statement cannot define a member with the name "from".
Transition = TypedDict(
    "Transition",
    {"machine": str, "from": list[str], "cause": str, "guard": str | None, "to": str, "event": str | None},
)


class States(TypedDict):
    """The rows of states.toml."""

    states: list[Transition]
