"""Webhooks: verify the raw bytes first, then parse. Loads no HTTP client.

    match webhooks.unwrap(body, request.headers.get("Service-Signature"), secret):
        case webhooks.OrderPaid(data=order):
            ship(order.id)

Each event has a class of its own. A receiver that verifies many deliveries keeps a Verifier. from_lambda, from_asgi and
from_wsgi take the request in the form that a serverless platform or a web server passes on, raw body included. Service
interface: Events.
"""

from __future__ import annotations

from ._errors import InvalidArgumentError as _InvalidArgumentError
from ._errors import SignatureError
from ._webhook import (
    Event,
    OrderConfirmed,
    OrderPaid,
    ProductDeleted,
    ProductGroupDeleted,
    ProductGroupUpdated,
    ProductUpdated,
    SubscriptionCancelled,
    SubscriptionCreated,
    SubscriptionRenewed,
    SubscriptionUpdated,
    TestHook,
    UnknownEvent,
    Verified,
    Verifier,
    VerifyStream,
    explain,
    parse_unverified,
    sign,
    unwrap,
    verify,
)

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing costs more than this whole module
    from collections.abc import Awaitable, Callable, Mapping, MutableMapping
    from typing import Any

__all__ = [
    "Event",
    "OrderConfirmed",
    "OrderPaid",
    "ProductDeleted",
    "ProductGroupDeleted",
    "ProductGroupUpdated",
    "ProductUpdated",
    "SignatureError",
    "SubscriptionCancelled",
    "SubscriptionCreated",
    "SubscriptionRenewed",
    "SubscriptionUpdated",
    "TestHook",
    "UnknownEvent",
    "Verified",
    "Verifier",
    "VerifyStream",
    "explain",
    "from_asgi",
    "from_lambda",
    "from_wsgi",
    "parse_unverified",
    "sign",
    "unwrap",
    "verify",
]


def from_lambda(event: Mapping[str, Any], verifier: Verifier) -> Event:
    """The Event of an AWS Lambda invocation. Raises like Verifier.unwrap.

    event: the argument of handler(event, context), from an API Gateway REST API (v1) or HTTP API (v2), a function URL
    or a load balancer, with multi-value headers or without, in base64 or not. Service interface: Events.
    """
    _check_verifier(verifier)
    if not _is_mapping(event):
        raise _InvalidArgumentError(f"event must be the dict that handler(event, context) got, not {_kind(event)}")
    if "headers" not in event and "multiValueHeaders" not in event:
        raise _InvalidArgumentError(
            "event has no headers: pass the whole event of an HTTP request, as the handler got it"
        )
    fields: list[tuple[str, Any]] = []
    # A v1 event has both, and only multiValueHeaders shows a repeated header.
    for name in ("headers", "multiValueHeaders"):
        headers = event.get(name)
        if headers is not None and not _is_mapping(headers):
            raise _InvalidArgumentError(f"event[{name!r}] must be a dict or None, not {_kind(headers)}")
        fields += (headers or {}).items()
    return verifier.unwrap_request(_lambda_body(event, verifier), fields)


def _lambda_body(event: Mapping[str, Any], verifier: Verifier) -> bytes:
    text = event.get("body")
    if text is None:
        return b""
    if not isinstance(text, str):
        raise _InvalidArgumentError(
            f"event['body'] must be the str that the gateway sent, not {_kind(text)}: nothing may parse it before"
        )
    encoded = event.get("isBase64Encoded")
    if encoded is not None and not isinstance(encoded, bool):
        raise _InvalidArgumentError(f"event['isBase64Encoded'] must be True, False or absent, not {_kind(encoded)}")
    if not encoded:
        try:
            return text.encode()
        except UnicodeEncodeError:
            raise _InvalidArgumentError("event['body'] has lone surrogates, which no gateway sends") from None
    size = len(text) // 4 * 3 - text[-2:].count("=")
    if size > verifier.max_body:
        raise _too_large(verifier, size)
    import binascii

    try:
        body = binascii.a2b_base64(text, strict_mode=True)
        if len(body) == size:  # strict mode of Python 3.11 accepts "YWJj="
            return body
    except ValueError:
        pass
    raise _InvalidArgumentError("event['body'] is not base64, although event['isBase64Encoded'] is True")


async def from_asgi(
    scope: MutableMapping[str, Any],
    receive: Callable[[], Awaitable[Mapping[str, Any]]],
    verifier: Verifier,
    *,
    timeout: float | None = 10.0,
) -> Event:
    """The Event of an ASGI request; reads the body itself, up to verifier.max_body. Raises like Verifier.unwrap.

    scope, receive: of the application; with Starlette and FastAPI request.scope and request.receive. timeout: seconds
    for the whole body, None for no limit. A server lets a second reader wait forever, so TimeoutError can also mean
    that the body was already read (a body parameter of FastAPI, a middleware); where this can be detected, it is
    InvalidArgumentError. A sender that disconnects is ConnectionError. On loops other than asyncio's the timeout is
    ignored: use theirs. Service interface: Events.
    """
    _check_verifier(verifier)
    from ._asgi import receive_event

    return await receive_event(scope, receive, verifier, timeout)


def from_wsgi(environ: dict[str, Any], verifier: Verifier) -> Event:
    """The Event of a WSGI request; reads the body itself, up to verifier.max_body. Raises like Verifier.unwrap.

    environ: of the application; Flask's request.environ, Django's request.META. InvalidArgumentError says that the body
    was already read (request.form, request.body, a middleware). Production servers and the development servers of Flask
    and Django allow this to be detected; on wsgiref's own server a second reader waits until the sender gives up. A
    body that ends early is ConnectionError. Service interface: Events.
    """
    _check_verifier(verifier)
    from ._wsgi import read_event

    return read_event(environ, verifier)


def _too_large(verifier: Verifier, size: int | None = None) -> SignatureError:
    """The error that Verifier raises for such a body, without reading it."""
    what = "is" if size is None else f"has {size} bytes,"
    text = f"body_too_large: the body {what} over max_body ({verifier.max_body})"
    return SignatureError("body_too_large", 413, text=text)


def _check_verifier(verifier: object) -> None:
    if not isinstance(verifier, Verifier):
        raise _InvalidArgumentError(f"verifier must be a Verifier made once from the secrets, not {_kind(verifier)}")


def _is_mapping(value: object) -> bool:
    return hasattr(value, "get") and hasattr(value, "items")


def _kind(value: object) -> str:
    return "None" if value is None else f"a {type(value).__name__}"
