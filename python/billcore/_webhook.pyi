"""Signatures, events and typed resources. Import billcore and billcore.webhooks instead."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any, Literal, Self, TypeAlias, final

from typing_extensions import Buffer

from ._types import OrderState, SubscriptionStatus

__version__: str
_error_codes: dict[str, tuple[int, str]]

_Text: TypeAlias = str | bytes
_Secrets: TypeAlias = str | bytes | Sequence[str | bytes]
_HeaderValue: TypeAlias = _Text | list[_Text] | list[str] | list[bytes] | tuple[_Text, ...] | None
_Clock: TypeAlias = Callable[[], float | datetime]
_Headers: TypeAlias = Mapping[str, Any] | Mapping[bytes, Any] | Iterable[tuple[_Text, _HeaderValue]]

class Resource:
    """A read-only view of a JSON object the service sent; fields are looked up when asked.

    Attributes are typed: a nullable field that is absent or null is None; a required one that is absent raises
    MissingFieldError, which is an AttributeError, too, so that getattr() with a default, hasattr() and class patterns
    work; one that is null or of the wrong type raises DecodeError. Both have the path.
    r['field'] is the plain JSON value, `'field' in r` tells absent from null.
    Service interface: Resources and their fields.
    """

    @property
    def raw(self) -> str:
        """The JSON text exactly as received."""

    @property
    def response_info(self) -> ResponseInfo | None:
        """ResponseInfo of the answer this came with; None for parts of an event."""

    def to_dict(self) -> dict[str, Any]:
        """The whole object as plain JSON values."""

    def __getitem__(self, key: str, /) -> Any: ...
    def __contains__(self, key: object, /) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...
    __hash__: None  # type: ignore[assignment]

@final
class Subscription(Resource):
    """A subscription. Service interface: Subscription."""

    @property
    def id(self) -> str | int:
        """Opaque id, str or int as received; compare with billcore.same_id()."""

    @property
    def price(self) -> int:
        """Cents."""

    @property
    def vat(self) -> int:
        """Basis points (2500 = 25 %)."""

    @property
    def currency(self) -> str:
        """Currency code."""

    @property
    def created_at(self) -> datetime:
        """Aware datetime."""

    @property
    def renews_at(self) -> datetime | None:
        """Aware datetime, or None."""

    @property
    def ends_at(self) -> datetime | None:
        """End of the current paid period once cancelled; aware datetime, or None."""

    @property
    def trial_ends_at(self) -> datetime | None:
        """Aware datetime, or None."""

    @property
    def reference_id(self) -> str | None:
        """Your own correlation value, or None."""

    @property
    def reference_name(self) -> str | None:
        """Text, or None."""

    @property
    def status(self) -> SubscriptionStatus | str:
        """A SubscriptionStatus, or a value this version does not know yet."""

    @property
    def update_card_url(self) -> str:
        """Signed billing-portal URL: whoever has it acts for the customer."""

    @property
    def invoices_url(self) -> str:
        """Signed billing-portal URL: whoever has it acts for the customer."""

    @property
    def cancel_url(self) -> str:
        """Signed billing-portal URL: whoever has it acts for the customer."""

    @property
    def custom_fields(self) -> list[CustomFieldValue]:
        """List of CustomFieldValue."""

    @property
    def metadata(self) -> dict[str, Any]:
        """Free-form dict."""

    def usable_at(self, now: datetime, /) -> bool:
        """Is it still paid for at this instant (an aware datetime)?

        False for pending, future_start, unpaid and expired. The others are usable until ends_at; None means no end, and
        that a cancelled one is not usable. Raises MissingFieldError where ends_at is needed and absent (a reduced
        payload cannot tell: get the subscription by its id), DecodeError for a status this version does not know.
        Service interface: States and transitions.
        """

@final
class Order(Resource):
    """An order. Service interface: Order."""

    @property
    def id(self) -> str | int:
        """Opaque id, str or int as received; compare with billcore.same_id()."""

    @property
    def created_at(self) -> datetime:
        """Aware datetime."""

    @property
    def total(self) -> int:
        """Cents, without VAT."""

    @property
    def total_with_vat(self) -> int:
        """Cents, with VAT."""

    @property
    def currency(self) -> str:
        """Currency code."""

    @property
    def reference_id(self) -> str | None:
        """Your own correlation value, or None."""

    @property
    def reference_name(self) -> str | None:
        """Text, or None."""

    @property
    def state(self) -> OrderState | str:
        """An OrderState, or a value this version does not know yet."""

    @property
    def remote_id(self) -> str | None:
        """The billing method's identifier of the payment, or None."""

    @property
    def delivery(self) -> Delivery | None:
        """What is delivered, or None."""

    @property
    def custom_fields(self) -> list[CustomFieldValue]:
        """List of CustomFieldValue."""

    @property
    def metadata(self) -> dict[str, Any]:
        """Free-form dict."""

@final
class Product(Resource):
    """A product. Service interface: Product."""

    @property
    def id(self) -> int:
        """Id."""

    @property
    def name(self) -> str:
        """Name."""

    @property
    def description(self) -> str | None:
        """Text, or None."""

    @property
    def type(self) -> str:
        """Short name of the product type."""

    @property
    def price(self) -> int:
        """Cents; whether VAT is in it depends on the product."""

    @property
    def price_with_vat(self) -> int:
        """Cents."""

    @property
    def price_without_vat(self) -> int:
        """Cents."""

    @property
    def currency(self) -> str:
        """Currency code."""

    @property
    def vat_rate(self) -> Decimal:
        """Percent, a decimal.Decimal with the digits received."""

    @property
    def interval(self) -> str | None:
        """Text, or None."""

    @property
    def image(self) -> str | None:
        """URL, or None."""

    @property
    def images(self) -> list[ProductImage]:
        """List of ProductImage."""

    @property
    def use_cart(self) -> bool:
        """bool."""

    @property
    def stock_tracking(self) -> bool:
        """bool."""

    @property
    def out_of_stock(self) -> bool:
        """bool."""

    @property
    def strings(self) -> ProductStrings:
        """Texts made for display."""

@final
class ProductGroup(Resource):
    """A product group, seen only in events. Service interface: Product group."""

    @property
    def id(self) -> int:
        """Id."""

    @property
    def name(self) -> str:
        """Name."""

    @property
    def products(self) -> list[int]:
        """List of product ids."""

@final
class CustomFieldValue(Resource):
    """A custom field. Service interface: CustomFieldValue."""

    @property
    def id(self) -> int:
        """Id."""

    @property
    def label(self) -> str:
        """Label."""

    @property
    def type(self) -> str:
        """Type."""

    @property
    def value(self) -> Any:
        """Any JSON value."""

@final
class Delivery(Resource):
    """What is delivered with an order. Service interface: Order."""

    @property
    def link(self) -> str:
        """URL."""

@final
class ProductImage(Resource):
    """An image of a product. Service interface: Product."""

    @property
    def portrait(self) -> ImageSource:
        """ImageSource."""

    @property
    def square(self) -> ImageSource:
        """ImageSource."""

@final
class ImageSource(Resource):
    """One rendition of a product image. Service interface: Product."""

    @property
    def src(self) -> str:
        """URL."""

@final
class ProductStrings(Resource):
    """Texts made for display. Service interface: Product."""

    @property
    def interval(self) -> str:
        """Text."""

    @property
    def type(self) -> str:
        """Text."""

    @property
    def price(self) -> str | None:
        """Text, or None."""

    @property
    def price_with_vat(self) -> str | None:
        """Text, or None."""

    @property
    def price_without_vat(self) -> str | None:
        """Text, or None."""

@final
class PageLinks(Resource):
    """Links of a page, as received. Service interface: Pagination."""

    @property
    def next(self) -> str | None:
        """URL of the next page as received, or None. Never followed."""

    @property
    def previous(self) -> str | None:
        """URL of the previous page as received, or None. Never followed."""

@final
class ResponseInfo:
    """What is known about the answer a result came with."""

    @property
    def status(self) -> int:
        """HTTP status."""

    @property
    def headers(self) -> dict[str, str]:
        """Names in lower case, values of one name joined by commas."""

    @property
    def attempts(self) -> int:
        """How often the request was sent or tried."""

    @property
    def request_id(self) -> str | None:
        """Value of the request id header, or None."""

@final
class Event:
    """An event of the service, from a verified body; parse_unverified() is the one that does not look.

    Fields are looked up when asked; one that is absent raises MissingFieldError then, one that is null or of the wrong
    type DecodeError. event['field'] is the plain JSON value, `'field' in event` tells absent from null.
    Two events are equal when their bodies are. An event is pickled as its body, and loading it checks no signature.
    Service interface: Events.
    """

    @property
    def id(self) -> str | int:
        """Delivery id, as received: the key to drop duplicates with (but for test.hook, whose id is 0).

        Compare with billcore.same_id().
        """

    @property
    def name(self) -> str:
        """Event type, such as 'order.paid'."""

    @property
    def account(self) -> int:
        """Integer id of the account; not the UUID of the base URL, never compare the two."""

    @property
    def created_at(self) -> datetime:
        """When the event was generated; aware."""

    @property
    def data(self) -> Subscription | Order | Product | ProductGroup | Resource | Any:
        """The resource, typed by the event's name; a Resource for a name this version does not know.

        Plain JSON when it is no object; None for null or absent.
        """

    @property
    def raw(self) -> bytes:
        """The body as received."""

    def to_dict(self) -> dict[str, Any]:
        """The whole envelope as plain JSON values."""

    def __getitem__(self, key: str, /) -> Any: ...
    def __contains__(self, key: object, /) -> bool: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __copy__(self) -> Self: ...
    def __deepcopy__(self, memo: Any, /) -> Self: ...

@final
class Verified:
    """The signature is right. Always true."""

    @property
    def secret_index(self) -> int:
        """Which secret matched; the first one, when several do."""

    def __bool__(self) -> Literal[True]: ...

class Verifier:
    """Checks the signatures of one endpoint; its keys are prepared once.

    secrets: str or bytes of 32 bytes, or a sequence of them while one is being replaced; others are ConfigError.
    header: name of the signature header, looked up without regard to case. max_body: larger bodies are refused unread.
    freshness: refuse events whose created_at is further than this from now, before or after (seconds or a timedelta;
    reason 'stale'). Off by default, since failed deliveries are retried, and invoices are paid weeks later; it is no
    protection against replays. test.hook is never stale. clock: what tells the time for it, as time.time does or as an
    aware datetime.
    Threads: may be shared by any number. Service interface: Events, Request headers.
    """

    def __init__(
        self,
        secrets: _Secrets,
        header: str = "Service-Signature",
        max_body: int = 1048576,
        freshness: float | timedelta | None = None,
        clock: _Clock | None = None,
    ) -> None: ...
    @staticmethod
    def allowing_any_key_length(
        secrets: _Secrets,
        header: str = "Service-Signature",
        max_body: int = 1048576,
        freshness: float | timedelta | None = None,
        clock: _Clock | None = None,
    ) -> Verifier:
        """For test vectors and foreign keys: secrets of any length but zero. The service's own have 32 bytes."""

    def verify(self, body: Buffer, signature: str | bytes | None) -> Verified:
        """Check the signature of a body; raises SignatureError.

        body: the raw bytes (any buffer). signature: the header's value, None when it is missing.
        """

    def unwrap(self, body: Buffer, signature: str | bytes | None) -> Event:
        """Verify, then parse. Raises SignatureError, or DecodeError when the body is no event."""

    def unwrap_request(self, body: Buffer, headers: _Headers) -> Event:
        """Like unwrap, with the signature found among the request's headers.

        headers: a mapping (values may be lists) or pairs; names in any case; str or bytes. Equal values,
        repeated or joined by commas, are one; different ones are malformed. verify and unwrap take the value exactly as
        it is.
        """

    def stream(self) -> VerifyStream:
        """A VerifyStream: a check of a body in pieces, for one that is too large to hold.

        ConfigError with freshness, which needs the whole body.
        """

    @property
    def matches(self) -> tuple[int, ...]:
        """How often each secret was the one that matched, a tuple: one that stays at 0 can be retired."""

    @property
    def header(self) -> str:
        """Name of the signature header."""

    @property
    def max_body(self) -> int:
        """Larger bodies are refused; bytes."""

@final
class VerifyStream:
    """A check of a body in pieces. Made by Verifier.stream(); ends with finish().

    Threads: one at a time. Use nothing of the pieces before finish() has returned.
    """

    def update(self, piece: Buffer, /) -> None:
        """The next bytes (any buffer). SignatureError body_too_large when all of them are over max_body."""

    def finish(self, signature: str | bytes | None) -> Verified:
        """The end of the body: Verified, or SignatureError. signature: the header's value, or None."""

def verify(body: Buffer, signature: str | bytes | None, secret: _Secrets, *, max_body: int = 1048576) -> Verified:
    """Check a webhook's signature; raises SignatureError.

    body: the raw bytes as received (any buffer). signature: the header's value, None when it is missing.
    secret: 32 bytes, str or bytes, or a sequence of them. max_body: larger bodies are refused unread.
    The keys of the last four secrets stay in memory, prepared; a Verifier keeps its own, and is faster.
    Service interface: Events, Request headers.
    """

def unwrap(body: Buffer, signature: str | bytes | None, secret: _Secrets, *, max_body: int = 1048576) -> Event:
    """Verify, then parse: the Event. Raises SignatureError, or DecodeError when the body is no event.

    Arguments as of verify(). Service interface: Events.
    """

def parse_unverified(raw: Buffer) -> Event:
    """An Event from bytes that were verified before and stored since: event.raw of the receiver. Checks nothing.

    raw: any buffer. No signature is looked at, and no age. Right only where nobody but the receiver can write, such as
    your own job queue; whatever came over the network goes through unwrap(). DecodeError when the bytes are no event.
    Service interface: Events.
    """

def sign(body: Buffer, secret: str | bytes) -> str:
    """The signature the service would send, 64 lowercase hex digits: for tests of your own receiver."""

def explain(body: object, signature: object, secret: object) -> str:
    """Why is this refused? A few lines of text for a person; it never accepts.

    Tries offline what goes wrong in practice (the body re-serialised, still in base64, with another line end; the
    signature in upper case or with a prefix; the secret with white space, in another encoding, another of the list) and
    names what would have matched. Arguments as of verify(); wrong ones are explained, too. Shows neither a secret nor
    the right signature. Slow: it does not belong in a request path. Service interface: Events, Request headers.
    """
