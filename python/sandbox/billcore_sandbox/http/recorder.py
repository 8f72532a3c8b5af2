"""In front of the service: records every request as received, and applies faults.

The service's answer is taken whole before a byte of it is sent, so that a fault can drop it, halve it or replace it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from datetime import datetime
from email.utils import formatdate

from starlette.types import Message, Receive, Scope, Send

from billcore_sandbox import clock
from billcore_sandbox.errors import Refusal, internal_error, not_stored
from billcore_sandbox.faults import Fault
from billcore_sandbox.http.protocol import EXTENSION, Connection
from billcore_sandbox.service.calls import Reply, Request, reply
from billcore_sandbox.service.routes import perform, split_path
from billcore_sandbox.store import Account
from billcore_sandbox.world import World

MAX_BODY = 8 << 20
_log = logging.getLogger("billcore_sandbox")


class Recorder:
    """The ASGI application of the service paths. closing: set when the server ends, which also ends delays."""

    def __init__(self, world: World, closing: asyncio.Event) -> None:
        self._world = world
        self._closing = closing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._meet(scope, receive, send)
        except sqlite3.Error as error:
            answer = reply(not_stored(error).body(), 500)
            await send(_start(answer, 0, clock.real()))
            await send({"type": "http.response.body", "body": answer.body})

    async def _meet(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection: Connection = scope["extensions"][EXTENSION]
        body = await _read(receive)
        if body is None:
            return
        account_uuid, path = split_path(scope["raw_path"].decode("ascii"))
        account = self._world.store.account_by_uuid(account_uuid)
        fault = self._world.faults.take(scope["method"], path, account_uuid)
        request_id = self._begin(scope["method"], connection, account, body, fault)
        if fault is not None and fault.kind == "reset_before":
            await _hang_up(connection, receive, reset=True)
            return
        if fault is not None and fault.kind == "status" and not fault.effect:
            answer = _canned(fault)
        elif len(body) > MAX_BODY:
            answer = reply(Refusal(413, "too_large", "The body is too large.").body(), 413)
        else:
            answer = self._serve(scope, body)
        if fault is not None and fault.kind == "status" and fault.effect:
            answer = _canned(fault)
        if fault is not None and fault.kind == "delay":
            await self._wait(fault.delay)
        if fault is not None and fault.kind == "reset_after":
            await _hang_up(connection, receive, reset=True)
            return
        start = _start(answer, request_id, _now(account))
        if fault is not None and fault.kind == "half_body":
            await send(start)
            half = answer.body[: len(answer.body) // 2]
            await send({"type": "http.response.body", "body": half, "more_body": True})
            await _hang_up(connection, receive, reset=fault.abort)
            return
        if not connection.gone:
            # Recorded before the answer is sent, so a client that has the answer finds its status here.
            self._world.store.db.execute("UPDATE requests SET status = ? WHERE id = ?", (answer.status, request_id))
        await send(start)
        await send({"type": "http.response.body", "body": answer.body})

    def _begin(
        self, method: str, connection: Connection, account: Account | None, body: bytes, fault: Fault | None
    ) -> int:
        cursor = self._world.store.db.execute(
            "INSERT INTO requests (at, account, method, target, headers, body, fault) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (
                clock.iso_precise(_now(account)),
                None if account is None else account.uuid,
                method,
                connection.target.decode("latin-1"),
                json.dumps([[name.decode("latin-1"), value.decode("latin-1")] for name, value in connection.headers]),
                body.decode("utf-8", "replace"),
                None if fault is None else fault.kind,
            ),
        )
        return cursor.lastrowid or 0

    def _serve(self, scope: Scope, body: bytes) -> Reply:
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        path = scope["raw_path"].decode("ascii")
        try:
            return perform(self._world, Request(scope["method"], path, scope["query_string"], headers, body))
        except sqlite3.Error:
            raise
        except Exception as error:
            _log.error("failed on %s %s", scope["method"], scope["path"], exc_info=error)
            return reply(internal_error().body(), 500)

    async def _wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._closing.wait(), seconds)
        except TimeoutError:
            return


async def _read(receive: Receive) -> bytes | None:
    """The whole body, or None when the client left before its end (then no request has been made)."""
    chunks: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        if size <= MAX_BODY:
            chunks.append(message.get("body", b""))
            size += len(chunks[-1])
        if not message.get("more_body", False):
            return b"".join(chunks)


async def _hang_up(connection: Connection, receive: Receive, *, reset: bool) -> None:
    if reset:
        connection.reset()
    else:
        connection.close()
    # uvicorn reports a handler that returns without an answer, so wait until the connection has ended.
    while (await receive())["type"] != "http.disconnect":
        pass


def _canned(fault: Fault) -> Reply:
    body = b"" if fault.status in (204, 304) else fault.body  # HTTP does not allow a body here
    return Reply(fault.status, body, fault.headers, fault.content_type)


def _now(account: Account | None) -> datetime:
    """What the account's clock shows, also in the Date header: clients compare it with the times in the data."""
    return clock.real() if account is None else account.clock.now()


def _start(answer: Reply, request_id: int, now: datetime) -> Message:
    headers = [
        ("Date", formatdate(now.timestamp(), usegmt=True)),
        ("X-Request-Id", f"req_{request_id}"),
    ]
    given = {name.lower() for name, _ in answer.headers}
    headers = [(name, value) for name, value in headers if name.lower() not in given]
    if answer.content_type and "content-type" not in given:
        headers.append(("Content-Type", answer.content_type))
    if "content-length" not in given and answer.status not in (204, 304):
        headers.append(("Content-Length", str(len(answer.body))))
    raw = [(name.encode("latin-1"), value.encode("utf-8")) for name, value in [*headers, *answer.headers]]
    return {"type": "http.response.start", "status": answer.status, "headers": raw}
