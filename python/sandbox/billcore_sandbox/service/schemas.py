"""Resources, queries, bodies and answers of the service as types, in the words and the order of the service interface.

The OpenAPI document shows these types, and a test converts the answers and events of the sandbox to them. If the
interface does not define the type of a field, the type here is any JSON or any string. The sandbox adds limits of its
own only to queries and bodies.
"""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from billcore_sandbox.resources import MAX_INTEGER, OrderState, SubscriptionStatus

Time = Annotated[datetime, Meta(tz=True)]
Cents = Annotated[int, Meta(description="Amount in cents.")]
BasisPoints = Annotated[int, Meta(description="VAT in basis points (2500 = 25 %).")]
Uri = Annotated[str, Meta(extra_json_schema={"format": "uri"})]
Metadata = Annotated[dict[str, Any], Meta(description="Free-form keys and values.")]
OpaqueId = Annotated[str, Meta(description="Opaque: store it as received, and do not validate its format.")]


class CustomFieldValue(msgspec.Struct):
    """The value of a custom field."""

    id: int
    label: str
    type: str
    value: Any


class Subscription(msgspec.Struct):
    """A subscription. For a cancelled subscription, ends_at is the end of the paid period."""

    id: OpaqueId
    price: Cents
    vat: BasisPoints
    currency: str
    created_at: Time
    renews_at: Time | None
    ends_at: Time | None
    trial_ends_at: Time | None
    reference_id: str | None
    reference_name: str | None
    status: SubscriptionStatus
    update_card_url: Uri
    invoices_url: Uri
    cancel_url: Uri
    custom_fields: list[CustomFieldValue]
    metadata: Metadata


class Delivery(msgspec.Struct):
    """The delivery of an order: a link to download the goods."""

    link: Uri


class Order(msgspec.Struct):
    """An order. total: the subtotal. remote_id: the billing method's identifier of the payment."""

    id: OpaqueId
    created_at: Time
    total: Cents
    total_with_vat: Cents
    currency: str
    reference_id: str | None
    reference_name: str | None
    state: OrderState
    remote_id: str | None
    delivery: Delivery | None
    custom_fields: list[CustomFieldValue]
    metadata: Metadata


class ImageSource(msgspec.Struct):
    """The address of an image."""

    src: Uri


class Image(msgspec.Struct):
    """An image of a product in two formats."""

    portrait: ImageSource
    square: ImageSource


class ProductStrings(msgspec.Struct):
    """Display strings of a product."""

    interval: str
    type: str
    price: str | None
    price_with_vat: str | None
    price_without_vat: str | None


class Product(msgspec.Struct):
    """A product. vat_rate: percent. type and interval: the service interface does not list the values."""

    id: int
    name: str
    description: str | None
    type: str
    price: Cents
    price_with_vat: Cents
    price_without_vat: Cents
    currency: str
    vat_rate: float
    interval: str | None
    image: Uri | None
    images: list[Image]
    use_cart: bool
    stock_tracking: bool
    out_of_stock: bool
    strings: ProductStrings


class ProductGroup(msgspec.Struct):
    """A product group, which only events show, and which may have further fields."""

    id: int
    name: str
    products: list[int]


class PageLinks(msgspec.Struct):
    """The URLs of the next and the previous page."""

    next: str | None
    previous: str | None


class Pagination(msgspec.Struct):
    """The position of a page in its list, and the size of the list."""

    total: int
    count: int
    per_page: int
    current_page: int
    total_pages: int
    links: PageLinks


def _page(name: str, item: type[msgspec.Struct], about: str) -> type[msgspec.Struct]:
    fields: list[Any] = [("data", list[item]), ("pagination", Pagination)]  # type: ignore[valid-type]
    return msgspec.defstruct(name, fields, namespace={"__doc__": about})


def _one(name: str, item: type[msgspec.Struct], about: str) -> type[msgspec.Struct]:
    return msgspec.defstruct(name, [("data", item)], namespace={"__doc__": about})


SubscriptionList = _page("SubscriptionList", Subscription, "A page of subscriptions.")
OrderList = _page("OrderList", Order, "A page of orders, latest first.")
ProductList = _page("ProductList", Product, "A page of products.")
OneSubscription = _one("OneSubscription", Subscription, "A subscription as an answer.")
OneOrder = _one("OneOrder", Order, "An order as an answer.")
OneProduct = _one("OneProduct", Product, "A product as an answer.")


class ErrorDetail(msgspec.Struct):
    """The reason of a refusal. The service interface does not list the codes of refusals."""

    code: str
    message: str


class Error(msgspec.Struct):
    """A refusal."""

    error: ErrorDetail


# The sandbox accepts at most 18 digits in a query.
_Page = Annotated[int, Meta(ge=1, lt=10**18, description="The number of the page.")]
_Number = Annotated[int, Meta(gt=-(10**18), lt=10**18)]
_Exactly = Annotated[str, Meta(description="Only subscriptions with exactly this reference_id.")]
_States = Annotated[
    list[OrderState],
    Meta(min_length=1, description="Only orders in one of these states. The parameter may also be repeated."),
]
_Positive = Annotated[int, Meta(ge=1, le=MAX_INTEGER)]


class ProductsQuery(msgspec.Struct):
    """The query of a list: the page."""

    page: _Page = 1


class SubscriptionsQuery(ProductsQuery):
    """The query of a list: the page, and a filter."""

    reference_id: _Exactly | UnsetType = msgspec.field(default=UNSET, name="filter[reference_id]")


class OrdersQuery(ProductsQuery):
    """The query of a list: the page, the page size, and filters."""

    per_page: Annotated[int, Meta(ge=1, le=200)] = 20
    product_id: _Number | UnsetType = msgspec.field(default=UNSET, name="filter[product_id]")
    state: _States | UnsetType = msgspec.field(default=UNSET, name="filter[state]")


class ProductChange(msgspec.Struct):
    """The new product, which must be of the same account."""

    product_id: _Positive


class Charge(msgspec.Struct):
    """A one-off charge. product_id: a one-time product of the account."""

    product_id: _Positive
    amount: Annotated[int, Meta(ge=1, le=MAX_INTEGER, description="Amount in cents.")]
    quantity: _Positive = 1
    vat: Annotated[int, Meta(ge=0, le=100_000, description="VAT in basis points (2500 = 25 %).")] = 2500
    description: str | UnsetType = UNSET


class ProductWrite(msgspec.Struct):
    """Changes of a product: only the fields in the body change. Further fields are accepted."""

    name: Annotated[str, Meta(min_length=1)] | UnsetType = UNSET
    description: str | UnsetType | None = UNSET
    price: Annotated[int, Meta(ge=0, le=10**15, description="Amount in cents.")] | UnsetType = UNSET
    currency: Annotated[str, Meta(pattern=r"^[A-Z]{3}$(?!\n)")] | UnsetType = UNSET
    vat_rate: Annotated[float, Meta(ge=0, le=100, description="Percent.")] | UnsetType = UNSET
    interval: str | UnsetType | None = UNSET


class WebhookEndpointCreate(msgspec.Struct):
    """A new webhook endpoint. url: an http or https URL."""

    url: Annotated[str, Meta(max_length=2048, pattern="^https?://", extra_json_schema={"format": "uri"})]
