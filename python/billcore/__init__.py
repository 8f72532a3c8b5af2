"""billcore: subscriptions, products, orders and webhooks of the billing service.

client = billcore.Client(base_url=..., api_key=...)      # the REST client
from billcore import webhooks                            # signatures and events, no HTTP client loaded

Everything loads on first use.
"""


def _in_main_interpreter() -> bool:
    """Is this the main interpreter? True when it cannot be told cheaply: the modules in C++ look again."""
    import _thread

    known = getattr(_thread, "_is_main_interpreter", None)
    if known is not None:
        return bool(known())
    # The interpreters of Python 3.11 share `type`, so it has an ABCMeta of each. Loading a module takes far longer.
    if sum(kind.__name__ == "ABCMeta" for kind in type.__subclasses__(type)) < 2:
        return True
    try:
        interpreters = __import__("_xxsubinterpreters")
    except ImportError:
        return True
    return bool(interpreters.get_current() == interpreters.get_main())


if not _in_main_interpreter():
    raise ImportError(
        "billcore cannot be imported in a subinterpreter: import it in the main interpreter (with mod_wsgi, set "
        "WSGIApplicationGroup to %{GLOBAL})"
    )

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import EllipsisType
    from typing import Final

    from . import otel as otel
    from . import testing as testing
    from . import webhooks
    from ._client import (
        ArrowBatch,
        ArrowStream,
        AsyncClient,
        AsyncOrders,
        AsyncPager,
        AsyncProducts,
        AsyncSubscriptions,
        AsyncWebhookEndpoints,
        Client,
        Orders,
        Page,
        Pager,
        Products,
        Response,
        Subscriptions,
        Verdict,
        WebhookEndpoints,
    )
    from ._errors import (
        ApiError,
        AuthenticationError,
        BillcoreError,
        ConfigError,
        ConnectionError,
        DecodeError,
        InvalidArgumentError,
        MissingFieldError,
        NotFoundError,
        OutcomeUnknownError,
        PaginationError,
        PaymentError,
        RateLimitError,
        ServerError,
        TimeoutError,
        TlsError,
        TransportError,
        ValidationError,
    )
    from ._hooks import Attempt, Hooks
    from ._ids import same_id
    from ._types import OrderState, SignatureReason, SubscriptionStatus, VerdictReason
    from ._webhook import (
        CustomFieldValue,
        Delivery,
        ImageSource,
        Order,
        PageLinks,
        Product,
        ProductGroup,
        ProductImage,
        ProductStrings,
        Resource,
        ResponseInfo,
        Subscription,
        __version__,
    )

__all__ = [
    "UNSET",
    "ApiError",
    "ArrowBatch",
    "ArrowStream",
    "AsyncClient",
    "AsyncOrders",
    "AsyncPager",
    "AsyncProducts",
    "AsyncSubscriptions",
    "AsyncWebhookEndpoints",
    "Attempt",
    "AuthenticationError",
    "BillcoreError",
    "Client",
    "ConfigError",
    "ConnectionError",
    "CustomFieldValue",
    "DecodeError",
    "Delivery",
    "Hooks",
    "ImageSource",
    "InvalidArgumentError",
    "MissingFieldError",
    "NotFoundError",
    "Order",
    "OrderState",
    "Orders",
    "OutcomeUnknownError",
    "Page",
    "PageLinks",
    "Pager",
    "PaginationError",
    "PaymentError",
    "Product",
    "ProductGroup",
    "ProductImage",
    "ProductStrings",
    "Products",
    "RateLimitError",
    "Resource",
    "Response",
    "ResponseInfo",
    "ServerError",
    "SignatureReason",
    "Subscription",
    "SubscriptionStatus",
    "Subscriptions",
    "TimeoutError",
    "TlsError",
    "TransportError",
    "ValidationError",
    "Verdict",
    "VerdictReason",
    "WebhookEndpoints",
    "__version__",
    "same_id",
    "webhooks",
]

UNSET: "Final[EllipsisType]" = ...
"""What an argument holds that was left out, such as request()'s json."""

if not TYPE_CHECKING:
    _CLIENT = [
        "ArrowBatch",
        "ArrowStream",
        "AsyncClient",
        "AsyncOrders",
        "AsyncPager",
        "AsyncProducts",
        "AsyncSubscriptions",
        "AsyncWebhookEndpoints",
        "Client",
        "Orders",
        "Page",
        "Pager",
        "Products",
        "Response",
        "Subscriptions",
        "Verdict",
        "WebhookEndpoints",
    ]
    _HOOKS = ["Attempt", "Hooks"]
    # Not in __all__: `from billcore import *` must not need what only tests and tracing need.
    _MODULES = ["otel", "testing", "webhooks"]
    _TYPES = ["OrderState", "SignatureReason", "SubscriptionStatus", "VerdictReason"]

    def __getattr__(name):
        if name in _MODULES:
            return __import__(f"billcore.{name}", fromlist=["*"])
        if name not in __all__:
            raise AttributeError(f"module 'billcore' has no attribute {name!r}")
        if name in _CLIENT:
            home = "_client"
        elif name in _HOOKS:
            home = "_hooks"
        elif name in _TYPES:
            home = "_types"
        elif name == "same_id":
            home = "_ids"
        else:
            home = "_errors" if name.endswith("Error") else "_webhook"
        value = getattr(__import__(f"billcore.{home}", fromlist=["*"]), name)
        globals()[name] = value
        return value

    def __dir__():
        # Not "otel": whoever reads every name (help(), a debugger) need not have OpenTelemetry.
        return sorted({*globals(), *__all__, "testing"})
