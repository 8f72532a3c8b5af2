"""webhooks.from_lambda: the Event of an AWS Lambda invocation."""

from __future__ import annotations

from .._errors import InvalidArgumentError
from . import check_verifier, is_mapping, kind_of, too_large

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing takes longer than importing this package
    from collections.abc import Mapping
    from typing import Any

    from .._webhook import AnyEvent, Verifier


def from_lambda(event: Mapping[str, Any], verifier: Verifier) -> AnyEvent:
    """Return the Event of an AWS Lambda invocation. Raises like Verifier.unwrap and Event.require_claimable.

    `event` is the first argument of handler(event, context): an event of an API Gateway REST API (v1) or HTTP API (v2),
    a function URL or a load balancer, with or without multi-value headers. The body of the event may be in base64.
    Service interface: Events.
    """
    check_verifier(verifier)
    if not is_mapping(event):
        raise InvalidArgumentError(f"event must be the dict that handler(event, context) got, not {kind_of(event)}")
    if "headers" not in event and "multiValueHeaders" not in event:
        raise InvalidArgumentError(
            "event has no headers: pass the whole event of an HTTP request, as the handler got it"
        )
    fields: list[tuple[str, Any]] = []
    # A v1 event has both `headers` and `multiValueHeaders`. Only multiValueHeaders has all values of a repeated header.
    for name in ("headers", "multiValueHeaders"):
        headers = event.get(name)
        if headers is not None and not is_mapping(headers):
            raise InvalidArgumentError(f"event[{name!r}] must be a dict or None, not {kind_of(headers)}")
        fields += (headers or {}).items()
    delivery = verifier.unwrap_request(_lambda_body(event, verifier), fields)
    delivery.require_claimable()
    return delivery


def _lambda_body(event: Mapping[str, Any], verifier: Verifier) -> bytes:
    text = event.get("body")
    if text is None:
        return b""
    if not isinstance(text, str):
        raise InvalidArgumentError(
            f"event['body'] must be the str that the gateway sent, not {kind_of(text)}: nothing may parse it before"
        )
    encoded = event.get("isBase64Encoded")
    if encoded is not None and not isinstance(encoded, bool):
        raise InvalidArgumentError(f"event['isBase64Encoded'] must be True, False or absent, not {kind_of(encoded)}")
    if not encoded:
        try:
            return text.encode()
        except UnicodeEncodeError:
            raise InvalidArgumentError("event['body'] has lone surrogates, which no gateway sends") from None
    size = len(text) // 4 * 3 - text[-2:].count("=")
    if size > verifier.max_body:
        raise too_large(verifier, size)
    import binascii

    try:
        body = binascii.a2b_base64(text, strict_mode=True)
        if len(body) == size:  # the strict mode of Python 3.11 wrongly accepts "YWJj="
            return body
    except ValueError:
        pass
    raise InvalidArgumentError("event['body'] is not base64, although event['isBase64Encoded'] is True")
