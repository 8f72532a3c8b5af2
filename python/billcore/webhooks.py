"""Webhooks: verify the raw bytes first, then parse. Loads no HTTP client.

    event = webhooks.unwrap(body, request.headers.get("Service-Signature"), secret)

A receiver that runs often keeps a Verifier. from_lambda, from_asgi and from_wsgi take the request as a serverless
platform or a web server hands it over, raw body included. Service interface: Events.
"""

from __future__ import annotations

from . import _errors
from ._errors import InvalidArgumentError as _InvalidArgumentError
from ._errors import SignatureError
from ._webhook import Event, Verified, Verifier, VerifyStream, explain, parse_unverified, sign, unwrap, verify

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing costs more than the whole of this module
    from collections.abc import Awaitable, Callable, Mapping, MutableMapping
    from typing import Any

__all__ = [
    "Event",
    "SignatureError",
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

_READ = "billcore.body_read"  # put into scope and environ when their body has been read here
_INSTEAD = "let nothing read it before, or pass what was read to verifier.unwrap_request(body, headers)"
_PIECE = 64 << 10


def from_lambda(event: Mapping[str, Any], verifier: Verifier) -> Event:
    """The Event of an AWS Lambda invocation. Raises as Verifier.unwrap does.

    event: as handler(event, context) got it, from an API Gateway REST API (v1) or HTTP API (v2), a function URL or a
    load balancer, with multi-value headers or without, in base64 or not. Service interface: Events.
    """
    _check_verifier(verifier)
    if not _is_mapping(event):
        raise _InvalidArgumentError(f"event must be the dict that handler(event, context) got, not {_kind(event)}")
    if "headers" not in event and "multiValueHeaders" not in event:
        raise _InvalidArgumentError(
            "event has no headers: pass the whole event of an HTTP request, as the handler got it"
        )
    fields: list[tuple[str, Any]] = []
    # An event of v1 has both, and only the second shows that a header came several times.
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
        if len(body) == size:  # the strict mode of Python 3.11 lets "YWJj=" pass
            return body
    except ValueError:
        pass
    raise _InvalidArgumentError("event['body'] is no base64, though event['isBase64Encoded'] says so")


async def from_asgi(
    scope: MutableMapping[str, Any],
    receive: Callable[[], Awaitable[Mapping[str, Any]]],
    verifier: Verifier,
    *,
    timeout: float | None = 10.0,
) -> Event:
    """The Event of an ASGI request; reads the body itself, up to verifier.max_body. Raises as Verifier.unwrap does.

    scope, receive: of the application; with Starlette and FastAPI request.scope and request.receive. timeout: seconds
    for the whole body, None for no limit. Servers let a second reader wait for ever, so TimeoutError can also mean that
    the body was read before (a body parameter of FastAPI, a middleware); where that can be seen it is
    InvalidArgumentError. A sender who disconnects is ConnectionError. Loops other than asyncio's have no time limit
    here: use theirs. Service interface: Events.
    """
    _check_verifier(verifier)
    if not _is_mapping(scope) or not hasattr(scope, "__setitem__"):
        raise _InvalidArgumentError(f"scope must be the ASGI scope (request.scope), not {_kind(scope)}")
    if scope.get("type") != "http":
        raise _InvalidArgumentError("scope is not that of an HTTP request: its type must be 'http'")
    if not callable(receive):
        raise _InvalidArgumentError(f"receive must be the ASGI callable (request.receive), not {_kind(receive)}")
    if timeout is not None:
        from ._durations import seconds

        timeout = seconds(timeout, "timeout", "None for no limit")
    headers = _asgi_headers(scope)
    size = _declared_size([value for name, value in headers if name.lower() == b"content-length"], verifier)
    _mark_read(scope)
    body = await _receive_within(timeout, receive, verifier)
    return _unwrap(body, size, headers, verifier)


def _asgi_headers(scope: MutableMapping[str, Any]) -> list[tuple[bytes, bytes]]:
    try:
        return [(bytes(name), bytes(value)) for name, value in scope["headers"]]
    except (KeyError, TypeError, ValueError):
        raise _InvalidArgumentError("scope['headers'] must be pairs of bytes, as the server gave them") from None


async def _receive_within(
    timeout: float | None, receive: Callable[[], Awaitable[Mapping[str, Any]]], verifier: Verifier
) -> bytearray:
    if timeout is None:
        return await _receive_body(receive, verifier)
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:  # another loop
        return await _receive_body(receive, verifier)
    limit = asyncio.timeout(timeout)
    try:
        async with limit:
            return await _receive_body(receive, verifier)
    except TimeoutError:
        if not limit.expired():
            raise
    raise _errors.TimeoutError(
        f"the body did not come within {timeout:g} s: the sender is slow, or it was already read; then {_INSTEAD}"
    )


async def _receive_body(receive: Callable[[], Awaitable[Mapping[str, Any]]], verifier: Verifier) -> bytearray:
    body = bytearray()
    first = True
    while True:
        message = await receive()
        kind = message.get("type") if _is_mapping(message) else None
        if kind == "http.disconnect":
            if first:
                raise _gone()
            raise _errors.ConnectionError(f"the sender disconnected after {len(body)} bytes of the body")
        if kind != "http.request":
            raise _InvalidArgumentError("receive is not that of an HTTP request: it gave another kind of message")
        _append(body, message.get("body") or b"")
        if len(body) > verifier.max_body:
            raise _too_large(verifier)
        if not message.get("more_body"):
            return body
        first = False


def from_wsgi(environ: dict[str, Any], verifier: Verifier) -> Event:
    """The Event of a WSGI request; reads the body itself, up to verifier.max_body. Raises as Verifier.unwrap does.

    environ: of the application; Flask's request.environ, Django's request.META. InvalidArgumentError says that the body
    was read before (request.form, request.body, a middleware). Servers for production and the development servers of
    Flask and Django let that be seen; on wsgiref's own server a second reader waits until the sender gives up. A body
    that ends early is ConnectionError. Service interface: Events.
    """
    _check_verifier(verifier)
    if not _is_mapping(environ) or "wsgi.input" not in environ:
        raise _InvalidArgumentError(f"environ must be the WSGI environ (request.environ), not {_kind(environ)}")
    length = environ.get("CONTENT_LENGTH")
    size = _declared_size([] if length in (None, "") else [length], verifier)
    terminated = bool(environ.get("wsgi.input_terminated"))
    if size is None and not terminated and environ.get("HTTP_TRANSFER_ENCODING"):
        raise _InvalidArgumentError(
            "the server does not say where the body ends (no CONTENT_LENGTH, no wsgi.input_terminated): "
            "pass it to verifier.unwrap_request(body, headers)"
        )
    # Werkzeug reads through request.stream, which it makes when it is first asked for; its own server would then wait.
    if "stream" in getattr(environ.get("werkzeug.request"), "__dict__", ()):
        raise _already_read()
    _mark_read(environ)
    if size is None:
        body = _read(environ["wsgi.input"], verifier.max_body + 1 if terminated else 0)
    else:
        body = _read(environ["wsgi.input"], size)
    if len(body) > verifier.max_body:
        raise _too_large(verifier)
    signature = environ.get("HTTP_" + verifier.header.upper().replace("-", "_"))
    return _unwrap(body, size, [(verifier.header, signature)], verifier)


def _read(stream: Any, limit: int) -> bytearray:
    body = bytearray()
    while len(body) < limit:
        try:
            piece = stream.read(min(limit - len(body), _PIECE))
        except OSError as error:
            raise _errors.ConnectionError(f"reading the body failed after {len(body)} bytes") from error
        if not piece:
            break
        _append(body, piece)
    return body


def _append(body: bytearray, piece: object) -> None:
    if not isinstance(piece, (bytes, bytearray, memoryview)):
        raise _InvalidArgumentError(f"the server gives the body as {_kind(piece)}, not as bytes")
    body += piece


def _unwrap(body: bytearray, size: int | None, headers: list[tuple[Any, Any]], verifier: Verifier) -> Event:
    """size: as the request declared it."""
    if size is not None and len(body) < size:
        if not body:
            raise _gone()
        raise _errors.ConnectionError(
            f"the body ended after {len(body)} of {size} bytes: the sender disconnected, or a part was already read"
        )
    try:
        return verifier.unwrap_request(body, headers)
    except SignatureError as error:
        # Without a declared size, an empty body is all that is seen of one that was read before.
        if body or size is not None or error.reason != "mismatch":
            raise
        text = f"mismatch: the body is empty; if it was already read, {_INSTEAD}"
        raise SignatureError("mismatch", error.http_status, text=text) from None


def _declared_size(values: list[Any], verifier: Verifier) -> int | None:
    """The Content-Length, refused when it is too large."""
    size = None
    for value in values:
        text = value.decode("latin-1") if isinstance(value, bytes) else str(value)
        if not (text.isascii() and text.isdigit() and len(text) <= 20) or size not in (None, int(text)):
            raise _InvalidArgumentError("the Content-Length of the request is not one number of bytes")
        size = int(text)
    if size is not None and size > verifier.max_body:
        raise _too_large(verifier, size)
    return size


def _mark_read(request: MutableMapping[str, Any]) -> None:
    if request.get(_READ):
        raise _already_read()
    request[_READ] = True


def _already_read() -> _InvalidArgumentError:
    return _InvalidArgumentError(f"the body was already read: {_INSTEAD}")


def _gone() -> _InvalidArgumentError:
    return _InvalidArgumentError(f"the body was already read, or the sender disconnected before it came: {_INSTEAD}")


def _too_large(verifier: Verifier, size: int | None = None) -> SignatureError:
    """What Verifier raises for such a body; it is not read only to be refused."""
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
