"""The headers of an answer, and answers that are sent piece by piece or with a wrong length."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Any

from billcore_sandbox.faults import Fault
from billcore_sandbox.service.calls import Reply

Message = dict[str, Any]
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]

_PIECES = 50
_WITHOUT_BODY = (204, 304)  # HTTP does not allow a body here


def canned(fault: Fault) -> Reply:
    """The answer of a fault of the kind `status`."""
    status, fields = fault.fields["status"], fault.fields
    body = b"" if status in _WITHOUT_BODY else fields["body"]
    return Reply(status, body, [*fields["headers"].items()], fields["content_type"])


async def whole(send: Send, answer: Reply) -> None:
    """Send an answer that no fault changes."""
    await send(start(answer))
    await send({"type": "http.response.body", "body": answer.body})


def start(answer: Reply, headers: list[tuple[str, str]] | None = None, more: int = 0) -> Message:
    """The status and headers of an answer. more: a number that is added to the correct Content-Length."""
    given = {name.lower() for name, _ in answer.headers}
    headers = [(name, value) for name, value in headers or [] if name.lower() not in given]
    if answer.content_type and "content-type" not in given:
        headers.append(("Content-Type", answer.content_type))
    if answer.status not in _WITHOUT_BODY:
        headers.append(("Content-Length", str(max(len(answer.body) + more, 0))))
    raw = [(name.encode("latin-1"), value.encode("utf-8")) for name, value in [*headers, *answer.headers]]
    return {"type": "http.response.start", "status": answer.status, "headers": raw}


def raw(head: Message, body: bytes) -> bytes:
    """An answer as the bytes to send."""
    status = HTTPStatus(head["status"])
    lines = [f"HTTP/1.1 {status.value} {status.phrase}".encode(), *(b": ".join(each) for each in head["headers"])]
    return b"\r\n".join([*lines, b"", body])


async def drip(send: Send, body: bytes, seconds: float, wait: Callable[[float], Awaitable[None]]) -> bytes:
    """Send the body in small pieces over `seconds`, but return the last piece instead of sending it."""
    size = -(-len(body) // _PIECES) or 1
    pieces = [body[at : at + size] for at in range(0, len(body), size)] or [b""]
    for piece in pieces[:-1]:
        await wait(seconds / len(pieces))
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await wait(seconds / len(pieces))
    return pieces[-1]
