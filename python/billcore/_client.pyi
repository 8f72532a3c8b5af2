"""The REST client. Import billcore instead."""

import os
from collections.abc import AsyncIterator, Coroutine, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from types import GenericAlias, TracebackType
from typing import Any, Generic, Protocol, Self, SupportsIndex, TypeAlias, TypeVar, final, overload

from ._errors import BillcoreError
from ._hooks import Attempt, Hooks
from ._types import OrderState, VerdictReason
from ._webhook import Order, PageLinks, Product, ResponseInfo, Subscription

_T_co = TypeVar("_T_co", covariant=True)
_Id: TypeAlias = str | SupportsIndex
_Found: TypeAlias = list[Order]  # where `list` is a method

# An object with one of these is enough.
class _OnRequest(Protocol):
    def on_request(self, attempt: Attempt, /) -> object: ...

class _OnResponse(Protocol):
    def on_response(self, attempt: Attempt, /) -> object: ...

class _OnRetry(Protocol):
    def on_retry(self, attempt: Attempt, /) -> object: ...

_Hooks: TypeAlias = Hooks | _OnRequest | _OnResponse | _OnRetry

class Client:
    """The REST client: every operation of the service. Reads are repeated where that may help, writes never.

    base_url: address of the service up to and including the account segment; left out, BILLCORE_BASE_URL.
    api_key: left out, BILLCORE_API_KEY. timeout: seconds for a whole call with all its attempts, None for no deadline.
    max_retries: further attempts where one is safe: of a read when no connection came about, the answer broke off, or
    its status is 408, 429 or 5xx; of a write only when nothing of it was sent; 0 means exactly one send.
    concurrency: pages of a list on their way at once.
    proxy: its URL (http, https, socks4, socks4a, socks5, socks5h), '' for none; left out, HTTPS_PROXY, ALL_PROXY and
    NO_PROXY count, but never for loopback. ca_bundle: file of PEM certificates to trust; left out, SSL_CERT_FILE,
    SSL_CERT_DIR or the system's. client_certificate: file of PEM with a certificate and its key, for a service that
    asks for one. headers: sent with every request. http2: True offers it, False does not; None offers it where the
    libcurl in use withstands floods of small frames. allow_insecure_http: allow http to hosts that are not loopback.
    request_id_header: header whose value errors show as request_id. max_response: larger answers are refused (bytes).
    hooks: told of every attempt, see Hooks. Raises ConfigError when an option cannot work. Threads: may be shared by
    any number; works in the child of a fork.
    Service interface: Endpoints; Authentication; Errors.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float | None = 30.0,
        max_retries: int = 2,
        concurrency: int = 8,
        proxy: str | None = None,
        ca_bundle: str | os.PathLike[str] | None = None,
        client_certificate: str | os.PathLike[str] | None = None,
        headers: Mapping[str, str] | Iterable[tuple[str, str]] | None = None,
        http2: bool | None = None,
        allow_insecure_http: bool = False,
        request_id_header: str = "X-Request-Id",
        max_response: int = 67108864,
        hooks: _Hooks | None = None,
    ) -> None: ...
    @property
    def subscriptions(self) -> Subscriptions:
        """Operations on subscriptions."""

    @property
    def products(self) -> Products:
        """Operations on products."""

    @property
    def orders(self) -> Orders:
        """Operations on orders."""

    @property
    def webhook_endpoints(self) -> WebhookEndpoints:
        """Operations on webhook endpoints."""

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int] | Iterable[tuple[str, str | int]] | None = None,
        json: Any = ...,
        raise_on_error: bool = True,
        timeout: float | None = ...,
    ) -> Response:
        """A request of your own; everything but GET is a write, sent at most once.

        method: GET, POST, PUT, PATCH or DELETE. path: below the base URL, begins with a slash, percent-encoded.
        query: mapping or pairs; leave out what is not to be sent. json: the body; None is null. raise_on_error: False
        gives back every complete answer.
        """

    def with_options(
        self,
        *,
        timeout: float | None = ...,
        max_retries: int = ...,
        concurrency: int = ...,
        headers: Mapping[str, str] | Iterable[tuple[str, str]] | None = ...,
    ) -> Client:
        """A client that differs in these options and shares everything else, connections included.

        headers: instead of all that were given. Closing it leaves the connections to the first one.
        """

    def close(self) -> None:
        """Close idle connections; calls under way finish, later ones raise ConfigError."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...

@final
class Subscriptions:
    """Subscriptions of the account. Service interface: Endpoints, Subscriptions."""

    def list(
        self,
        *,
        reference_id: str | None = None,
        page: SupportsIndex = 1,
        strict: bool = False,
        resume: str | None = None,
        timeout: float | None = ...,
    ) -> Pager[Subscription]:
        """All subscriptions, lazily, page by page.

        reference_id: only those with exactly this one. page: where to begin. timeout: seconds for each page.
        strict: read the list a second time, for what the first missed. resume: a pager's state, to go on from it.
        Service interface: Endpoints, Subscriptions.
        """

    def get(self, id: _Id, /, *, timeout: float | None = ...) -> Subscription:
        """One subscription. Raises NotFoundError. Service interface: Endpoints, Subscriptions."""

    def cancel(self, id: _Id, /, *, timeout: float | None = ...) -> Subscription:
        """End billing at once; the subscription may stay active until ends_at.

        Sent at most once. Raises OutcomeUnknownError when it may or may not have happened.
        Service interface: Endpoints, Subscriptions.
        """

    def change_product(self, id: _Id, /, *, product_id: SupportsIndex, timeout: float | None = ...) -> Subscription:
        """Swap the product for another one of the account.

        Sent at most once. Raises OutcomeUnknownError when it may or may not have happened.
        Service interface: Endpoints, Subscriptions.
        """

    def charge(
        self,
        id: _Id,
        /,
        *,
        product_id: SupportsIndex,
        amount: SupportsIndex,
        quantity: SupportsIndex | None = None,
        vat: SupportsIndex | None = None,
        description: str | None = None,
        timeout: float | None = ...,
    ) -> Order:
        """Bill a one-off amount through the subscription's billing method.

        product_id: a one-time product of the account. amount: cents. vat: basis points (2500 = 25 %); left out, the
        service uses 2500. Sent at most once. Raises PaymentError (402) when the charge is refused, OutcomeUnknownError
        when it may or may not have been made: see find_charges() before charging again.
        Service interface: Endpoints, Subscriptions.
        """

    @overload
    def find_charges(
        self, charge: BillcoreError, /, *, skew: float | timedelta = ..., timeout: float | None = ...
    ) -> _Found:
        """The orders that a charge of unknown outcome may have made: the subscription's since then, latest first.

        charge: the error of the charge (also one that was pickled), or the id of the subscription, such as after a
        crash. skew: with an error, by how much the service's clock may be behind this machine's: seconds or a
        timedelta; left out, 300. since: with an id, an aware datetime of before the charge was sent; from the
        beginning of its second. timeout: seconds for each page. An empty list says that the charge was not
        made, or not yet: the service may still work on it. Raises InvalidArgumentError for the error of anything but a
        charge, and for one whose outcome is known.
        Service interface: Endpoints, Subscriptions.
        """

    @overload
    def find_charges(self, charge: _Id, /, *, since: datetime, timeout: float | None = ...) -> _Found: ...
    def orders(
        self,
        id: _Id,
        /,
        *,
        product_id: SupportsIndex | None = None,
        state: OrderState | str | Sequence[OrderState | str] | None = None,
        per_page: SupportsIndex | None = None,
        page: SupportsIndex = 1,
        strict: bool = False,
        resume: str | None = None,
        timeout: float | None = ...,
    ) -> Pager[Order]:
        """The subscription's orders, latest first, lazily, page by page.

        state: one OrderState, or a sequence of several. per_page: 1 to 200. timeout: seconds for each page.
        strict: read the list a second time, for what the first missed. resume: a pager's state, to go on from it.
        Service interface: Endpoints, Subscriptions; Limits.
        """

@final
class Products:
    """Products of the account. Service interface: Endpoints, Products."""

    def list(
        self, *, page: SupportsIndex = 1, strict: bool = False, resume: str | None = None, timeout: float | None = ...
    ) -> Pager[Product]:
        """All products, lazily, page by page.

        page: where to begin. timeout: seconds for each page.
        strict: read the list a second time, for what the first missed. resume: a pager's state, to go on from it.
        Service interface: Endpoints, Products.
        """

    def get(self, id: SupportsIndex, /, *, timeout: float | None = ...) -> Product:
        """One product. Raises NotFoundError. Service interface: Endpoints, Products."""

    def update(
        self,
        id: SupportsIndex,
        fields: Mapping[str, Any] | None = None,
        /,
        *,
        timeout: float | None = ...,
        **more: Any,
    ) -> Product:
        """Change the given fields only.

        They are name, description, price (cents), currency, vat_rate (percent), interval; others are accepted, too.
        fields: a mapping; keywords win over it. None is sent as null, Decimal with its digits. A field that is called
        timeout goes into the mapping. Sent at most once. Raises InvalidArgumentError when there is no field at all,
        OutcomeUnknownError when it may or may not have happened. Service interface: ProductWrite; Endpoints, Products.
        """

    def delete(self, id: SupportsIndex, /, *, timeout: float | None = ...) -> None:
        """Delete a product (softly).

        Sent at most once. Raises OutcomeUnknownError when it may or may not have happened.
        Service interface: Endpoints, Products.
        """

@final
class Orders:
    """Orders of the account. Service interface: Endpoints, Orders."""

    def get(self, id: _Id, /, *, timeout: float | None = ...) -> Order:
        """One order. Raises NotFoundError. Service interface: Endpoints, Orders."""

@final
class WebhookEndpoints:
    """Receivers of events. Service interface: Endpoints, Webhook endpoints."""

    def create(self, *, url: str, timeout: float | None = ...) -> Response:
        """Register a URL that receives signed events. Its secret is not in the answer: it is read from the admin UI.

        Sent at most once. Raises ValidationError (422) when the URL is invalid or already registered,
        OutcomeUnknownError when it may or may not have happened. Service interface: Endpoints, Webhook endpoints.
        """

class AsyncClient:
    """The REST client for asyncio: what Client has, to be awaited.

    The options are those of Client. Lists are read with `async for`; close() is awaited, or use `async with`. A
    cancelled task ends its request; if that was a write that may have happened, the CancelledError has a note that says
    so. No thread is made; each event loop gets connections of its own, at most 100 at once, further requests wait for
    one of them (within their timeout). Threads: one event loop each.
    Service interface: Endpoints; Authentication; Errors.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float | None = 30.0,
        max_retries: int = 2,
        concurrency: int = 8,
        proxy: str | None = None,
        ca_bundle: str | os.PathLike[str] | None = None,
        client_certificate: str | os.PathLike[str] | None = None,
        headers: Mapping[str, str] | Iterable[tuple[str, str]] | None = None,
        http2: bool | None = None,
        allow_insecure_http: bool = False,
        request_id_header: str = "X-Request-Id",
        max_response: int = 67108864,
        hooks: _Hooks | None = None,
    ) -> None: ...
    @property
    def subscriptions(self) -> AsyncSubscriptions:
        """Operations on subscriptions."""

    @property
    def products(self) -> AsyncProducts:
        """Operations on products."""

    @property
    def orders(self) -> AsyncOrders:
        """Operations on orders."""

    @property
    def webhook_endpoints(self) -> AsyncWebhookEndpoints:
        """Operations on webhook endpoints."""

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str | int] | Iterable[tuple[str, str | int]] | None = None,
        json: Any = ...,
        raise_on_error: bool = True,
        timeout: float | None = ...,
    ) -> Coroutine[Any, Any, Response]:
        """A request of your own; everything but GET is a write, sent at most once.

        method: GET, POST, PUT, PATCH or DELETE. path: below the base URL, begins with a slash, percent-encoded.
        query: mapping or pairs; leave out what is not to be sent. json: the body; None is null. raise_on_error: False
        gives back every complete answer.
        """

    def with_options(
        self,
        *,
        timeout: float | None = ...,
        max_retries: int = ...,
        concurrency: int = ...,
        headers: Mapping[str, str] | Iterable[tuple[str, str]] | None = ...,
    ) -> AsyncClient:
        """A client that differs in these options and shares everything else, connections included.

        headers: instead of all that were given. Closing it leaves the connections to the first one.
        """

    def close(self) -> Coroutine[Any, Any, None]:
        """Close idle connections; calls under way finish, later ones raise ConfigError."""

    def __aenter__(self) -> Coroutine[Any, Any, Self]: ...
    def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> Coroutine[Any, Any, None]: ...

@final
class AsyncSubscriptions:
    """Subscriptions of the account. Service interface: Endpoints, Subscriptions."""

    def list(
        self,
        *,
        reference_id: str | None = None,
        page: SupportsIndex = 1,
        strict: bool = False,
        resume: str | None = None,
        timeout: float | None = ...,
    ) -> AsyncPager[Subscription]:
        """All subscriptions, lazily, page by page.

        reference_id: only those with exactly this one. page: where to begin. timeout: seconds for each page.
        strict: read the list a second time, for what the first missed. resume: a pager's state, to go on from it.
        Service interface: Endpoints, Subscriptions.
        """

    def get(self, id: _Id, /, *, timeout: float | None = ...) -> Coroutine[Any, Any, Subscription]:
        """One subscription. Raises NotFoundError. Service interface: Endpoints, Subscriptions."""

    def cancel(self, id: _Id, /, *, timeout: float | None = ...) -> Coroutine[Any, Any, Subscription]:
        """End billing at once; the subscription may stay active until ends_at.

        Sent at most once. Raises OutcomeUnknownError when it may or may not have happened.
        Service interface: Endpoints, Subscriptions.
        """

    def change_product(
        self, id: _Id, /, *, product_id: SupportsIndex, timeout: float | None = ...
    ) -> Coroutine[Any, Any, Subscription]:
        """Swap the product for another one of the account.

        Sent at most once. Raises OutcomeUnknownError when it may or may not have happened.
        Service interface: Endpoints, Subscriptions.
        """

    def charge(
        self,
        id: _Id,
        /,
        *,
        product_id: SupportsIndex,
        amount: SupportsIndex,
        quantity: SupportsIndex | None = None,
        vat: SupportsIndex | None = None,
        description: str | None = None,
        timeout: float | None = ...,
    ) -> Coroutine[Any, Any, Order]:
        """Bill a one-off amount through the subscription's billing method.

        product_id: a one-time product of the account. amount: cents. vat: basis points (2500 = 25 %); left out, the
        service uses 2500. Sent at most once. Raises PaymentError (402) when the charge is refused, OutcomeUnknownError
        when it may or may not have been made: see find_charges() before charging again.
        Service interface: Endpoints, Subscriptions.
        """

    @overload
    def find_charges(
        self, charge: BillcoreError, /, *, skew: float | timedelta = ..., timeout: float | None = ...
    ) -> Coroutine[Any, Any, _Found]:
        """The orders that a charge of unknown outcome may have made: the subscription's since then, latest first.

        charge: the error of the charge (also one that was pickled), or the id of the subscription, such as after a
        crash. skew: with an error, by how much the service's clock may be behind this machine's: seconds or a
        timedelta; left out, 300. since: with an id, an aware datetime of before the charge was sent; from the
        beginning of its second. timeout: seconds for each page. An empty list says that the charge was not
        made, or not yet: the service may still work on it. Raises InvalidArgumentError for the error of anything but a
        charge, and for one whose outcome is known.
        Service interface: Endpoints, Subscriptions.
        """

    @overload
    def find_charges(
        self, charge: _Id, /, *, since: datetime, timeout: float | None = ...
    ) -> Coroutine[Any, Any, _Found]: ...
    def orders(
        self,
        id: _Id,
        /,
        *,
        product_id: SupportsIndex | None = None,
        state: OrderState | str | Sequence[OrderState | str] | None = None,
        per_page: SupportsIndex | None = None,
        page: SupportsIndex = 1,
        strict: bool = False,
        resume: str | None = None,
        timeout: float | None = ...,
    ) -> AsyncPager[Order]:
        """The subscription's orders, latest first, lazily, page by page.

        state: one OrderState, or a sequence of several. per_page: 1 to 200. timeout: seconds for each page.
        strict: read the list a second time, for what the first missed. resume: a pager's state, to go on from it.
        Service interface: Endpoints, Subscriptions; Limits.
        """

@final
class AsyncProducts:
    """Products of the account. Service interface: Endpoints, Products."""

    def list(
        self, *, page: SupportsIndex = 1, strict: bool = False, resume: str | None = None, timeout: float | None = ...
    ) -> AsyncPager[Product]:
        """All products, lazily, page by page.

        page: where to begin. timeout: seconds for each page.
        strict: read the list a second time, for what the first missed. resume: a pager's state, to go on from it.
        Service interface: Endpoints, Products.
        """

    def get(self, id: SupportsIndex, /, *, timeout: float | None = ...) -> Coroutine[Any, Any, Product]:
        """One product. Raises NotFoundError. Service interface: Endpoints, Products."""

    def update(
        self,
        id: SupportsIndex,
        fields: Mapping[str, Any] | None = None,
        /,
        *,
        timeout: float | None = ...,
        **more: Any,
    ) -> Coroutine[Any, Any, Product]:
        """Change the given fields only.

        They are name, description, price (cents), currency, vat_rate (percent), interval; others are accepted, too.
        fields: a mapping; keywords win over it. None is sent as null, Decimal with its digits. A field that is called
        timeout goes into the mapping. Sent at most once. Raises InvalidArgumentError when there is no field at all,
        OutcomeUnknownError when it may or may not have happened. Service interface: ProductWrite; Endpoints, Products.
        """

    def delete(self, id: SupportsIndex, /, *, timeout: float | None = ...) -> Coroutine[Any, Any, None]:
        """Delete a product (softly).

        Sent at most once. Raises OutcomeUnknownError when it may or may not have happened.
        Service interface: Endpoints, Products.
        """

@final
class AsyncOrders:
    """Orders of the account. Service interface: Endpoints, Orders."""

    def get(self, id: _Id, /, *, timeout: float | None = ...) -> Coroutine[Any, Any, Order]:
        """One order. Raises NotFoundError. Service interface: Endpoints, Orders."""

@final
class AsyncWebhookEndpoints:
    """Receivers of events. Service interface: Endpoints, Webhook endpoints."""

    def create(self, *, url: str, timeout: float | None = ...) -> Coroutine[Any, Any, Response]:
        """Register a URL that receives signed events. Its secret is not in the answer: it is read from the admin UI.

        Sent at most once. Raises ValidationError (422) when the URL is invalid or already registered,
        OutcomeUnknownError when it may or may not have happened. Service interface: Endpoints, Webhook endpoints.
        """

@final
class AsyncPager(Generic[_T_co]):
    """A list of the service for asyncio: lazy, in order, read once.

    Iterate (async for) for items; a page is asked for when its first item is. An id already seen within the last pages
    is not yielded again. Items keep their page alive. After an error the next step asks for the same page again.
    Tasks: one at a time. Service interface: Resources and their fields, Pagination.
    """

    def __class_getitem__(cls, item: Any, /) -> GenericAlias: ...
    def __aiter__(self) -> AsyncIterator[_T_co]: ...
    def pages(self) -> AsyncIterator[Page[_T_co]]:
        """Iterate for pages (first what is left of a page already begun)."""

    def first(self) -> Coroutine[Any, Any, _T_co | None]:
        """The list's first item, or None, without moving on: one request at most."""

    def collect(self, limit: SupportsIndex | None = None) -> Coroutine[Any, Any, list[_T_co]]:
        """All (remaining) items, at most `limit`; when it raises it takes none of them."""

    def to_batches(self, fields: Iterable[str] | None = None) -> AsyncIterator[ArrowBatch]:
        """Iterate for ArrowBatch, the records of a page as columns.

        fields: columns by name, in this order; left out, all fields. 'raw' is whole items as JSON text.
        """

    @property
    def total(self) -> int | None:
        """The service's count of the whole list; None before the first page."""

    @property
    def state(self) -> str:
        """Where it stands: the same list with this as `resume` goes on from here, also in a later process.

        A short str without secrets. It remembers the ids of two pages.
        """

    @property
    def fetched_pages(self) -> int:
        """How many pages were read."""

    @property
    def verdict(self) -> Verdict | None:
        """None until the last page has been read or the reading was stopped."""

@final
class Response:
    """An answer as it came, where the interface does not say what it holds."""

    @property
    def status(self) -> int:
        """HTTP status."""

    @property
    def headers(self) -> dict[str, str]:
        """Names in lower case, values of one name joined by commas."""

    @property
    def body(self) -> bytes:
        """The body as received."""

    @property
    def response_info(self) -> ResponseInfo:
        """Status, headers, attempts and request id."""

    def json(self) -> Any:
        """The body as plain JSON values; DecodeError when it is no JSON."""

@final
class Pager(Generic[_T_co]):
    """A list of the service: lazy, in order, read once.

    Iterate for items. From the second one on, the pages that follow are on their way, too, up to the client's
    `concurrency`; a pause between two items is no time-out. An id already seen within the last pages is not yielded
    again, and `verdict` says in the end whether a record may have been missed. Items keep their page alive. An error
    names its page, and the next step asks for that page again. Threads: one at a time.
    Service interface: Resources and their fields, Pagination.
    """

    def __class_getitem__(cls, item: Any, /) -> GenericAlias: ...
    def __iter__(self) -> Iterator[_T_co]: ...
    def pages(self) -> Iterator[Page[_T_co]]:
        """Iterate for pages (first what is left of a page already begun)."""

    def first(self) -> _T_co | None:
        """The list's first item, or None, without moving on: one request at most."""

    def collect(self, limit: SupportsIndex | None = None) -> list[_T_co]:
        """All (remaining) items, at most `limit`; when it raises it takes none of them."""

    def to_arrow(self, fields: Iterable[str] | None = None) -> ArrowStream:
        """The rest of the list as columns: an ArrowStream, which polars, duckdb, pyarrow and pandas read.

        fields: columns by name, in this order; left out, all fields. 'raw' is whole items as JSON text.
        """

    def to_batches(self, fields: Iterable[str] | None = None) -> Iterator[ArrowBatch]:
        """Iterate for ArrowBatch, the records of a page as columns.

        fields: columns by name, in this order; left out, all fields. 'raw' is whole items as JSON text.
        """

    @property
    def total(self) -> int | None:
        """The service's count of the whole list; None before the first page."""

    @property
    def state(self) -> str:
        """Where it stands: the same list with this as `resume` goes on from here, also in a later process.

        A short str without secrets. It remembers the ids of two pages.
        """

    @property
    def fetched_pages(self) -> int:
        """How many pages were read."""

    @property
    def verdict(self) -> Verdict | None:
        """None until the last page has been read or the reading was stopped."""

@final
class Page(Generic[_T_co]):
    """One page of a list. Service interface: Resources and their fields, Pagination."""

    def __class_getitem__(cls, item: Any, /) -> GenericAlias: ...
    @property
    def items(self) -> list[_T_co]:
        """The items of the page that were not yielded before, a new list."""

    @property
    def total(self) -> int:
        """Items of the whole list."""

    @property
    def count(self) -> int:
        """Items of this page."""

    @property
    def per_page(self) -> int:
        """Items on a full page."""

    @property
    def current_page(self) -> int:
        """Number of this page, from 1."""

    @property
    def total_pages(self) -> int:
        """Number of the last page."""

    @property
    def links(self) -> PageLinks:
        """Links to the neighbours as received; they are never followed."""

    @property
    def response_info(self) -> ResponseInfo:
        """ResponseInfo of the answer this page came with."""

@final
class Verdict:
    """Was everything read that was there from start to end? str() is 'complete' or 'possibly_missed'."""

    @property
    def complete(self) -> bool:
        """True when no change of the list was seen between the first and the last read."""

    @property
    def reason(self) -> VerdictReason | None:
        """Why a record may have been missed; None when complete."""

@final
class ArrowStream:
    """What is left of a list as Arrow columns, for whatever reads the Arrow PyCapsule interface.

    One record batch a page, fetched when its turn comes; read once. Integers (money in cents) are int64, times
    timestamp[us, UTC], vat_rate decimal128(38, 18), whatever is nested its JSON text, the others utf8 or bool.
    Absent and null are null; a value of another type is a DecodeError. A reader raises errors of its own kind:
    see `error`. Threads: one at a time, any.
    """

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule of an ArrowArrayStream. requested_schema: not needed, and ignored."""

    def __arrow_c_schema__(self) -> object:
        """A capsule of an ArrowSchema; reads nothing."""

    @property
    def error(self) -> BillcoreError | None:
        """The BillcoreError that the last step ended with, or None: a reader of the stream shows only its text."""

@final
class ArrowBatch:
    """The records of one page as Arrow columns, for whatever reads the Arrow PyCapsule interface.

    Reading it copies nothing and may be done again. Types as of ArrowStream. Threads: any.
    """

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """Capsules of an ArrowSchema and an ArrowArray. requested_schema: not needed, and ignored."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule of an ArrowArrayStream of this one batch."""

    def __arrow_c_schema__(self) -> object:
        """A capsule of an ArrowSchema."""

    @property
    def num_rows(self) -> int:
        """How many records."""
