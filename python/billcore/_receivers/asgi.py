"""webhooks.from_asgi: receives the body of an ASGI request within a time limit."""

from __future__ import annotations

from .._durations import seconds
from .._errors import InvalidArgumentError
from . import check_verifier, disconnected, is_mapping, kind_of, timed_out, too_large
from .request_body import INSTEAD, append, declared_size, mark_read, unwrap

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing typing is slow
    from collections.abc import Awaitable, Callable, Mapping, MutableMapping
    from typing import Any

    from .._webhook import AnyEvent, Verifier


async def from_asgi(
    scope: MutableMapping[str, Any],
    receive: Callable[[], Awaitable[Mapping[str, Any]]],
    verifier: Verifier,
    *,
    timeout: float | None = 10.0,
) -> AnyEvent:
    """Read the body of an ASGI request, up to verifier.max_body, and return its Event.

    `scope` and `receive` are the arguments of the ASGI application: request.scope and request.receive in Starlette and
    FastAPI. from_asgi raises the errors of Verifier.unwrap, and those of Event.require_claimable. `timeout` is the time
    limit in seconds for the whole body; None: no limit. If the body does not arrive in time, from_asgi raises
    SignatureError with the reason `timeout`, which is also a TimeoutError; if the sender disconnects before the end of
    the body, SignatureError with the reason `disconnected`, which is also a ConnectionError. If other code has already
    read the body (a body parameter of FastAPI, a middleware), from_asgi raises InvalidArgumentError where it can detect
    that; otherwise the server never delivers a body, and the wait ends with `timeout`. With an event loop other than
    asyncio's, from_asgi ignores `timeout`: use the time limit of that loop.
    Service interface: Events.
    """
    check_verifier(verifier)
    if not is_mapping(scope) or not hasattr(scope, "__setitem__"):
        raise InvalidArgumentError(f"scope must be the ASGI scope (request.scope), not {kind_of(scope)}")
    if scope.get("type") != "http":
        raise InvalidArgumentError("scope is not that of an HTTP request: its type must be 'http'")
    if not callable(receive):
        raise InvalidArgumentError(f"receive must be the ASGI callable (request.receive), not {kind_of(receive)}")
    if timeout is not None:
        timeout = seconds(timeout, "timeout", "None for no limit")
    headers = _asgi_headers(scope)
    size = declared_size([value for name, value in headers if name.lower() == b"content-length"], verifier)
    mark_read(scope)
    body = await _receive_within(timeout, receive, verifier)
    return unwrap(body, size, headers, verifier)


def _asgi_headers(scope: MutableMapping[str, Any]) -> list[tuple[bytes, bytes]]:
    try:
        return [(bytes(name), bytes(value)) for name, value in scope["headers"]]
    except (KeyError, TypeError, ValueError):
        raise InvalidArgumentError("scope['headers'] must be pairs of bytes, as the server gave them") from None


async def _receive_within(
    timeout: float | None, receive: Callable[[], Awaitable[Mapping[str, Any]]], verifier: Verifier
) -> bytearray:
    if timeout is None:
        return await _receive_body(receive, verifier)
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:  # the running event loop is not asyncio's
        return await _receive_body(receive, verifier)
    limit = asyncio.timeout(timeout)
    try:
        async with limit:
            return await _receive_body(receive, verifier)
    except TimeoutError:
        if not limit.expired():
            raise
    raise timed_out(timeout, f": the sender is slow, or it was already read; then {INSTEAD}")


async def _receive_body(receive: Callable[[], Awaitable[Mapping[str, Any]]], verifier: Verifier) -> bytearray:
    body = bytearray()
    while True:
        message = await receive()
        kind = message.get("type") if is_mapping(message) else None
        if kind == "http.disconnect":
            hint = "" if body else f"; or the body was already read, then {INSTEAD}"
            raise disconnected(f"the sender disconnected after {len(body)} bytes of the body{hint}")
        if kind != "http.request":
            raise InvalidArgumentError("receive is not that of an HTTP request: it gave another kind of message")
        append(body, message.get("body") or b"")
        if len(body) > verifier.max_body:
            raise too_large(verifier)
        if not message.get("more_body"):
            return body
