"""Records every request to the service as received, and applies faults.

The service's answer is complete before its first byte is sent, so that a fault can drop it, halve it or replace it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
from dataclasses import dataclass
from datetime import datetime
from email.utils import formatdate
from functools import partial

from billcore_sandbox import clock, late, list_faults
from billcore_sandbox.errors import Refusal, internal_error, not_stored
from billcore_sandbox.faults import NO_FAULT, REQUEST_KINDS, Fault
from billcore_sandbox.http.answers import (
    Message,
    Receive,
    Scope,
    Send,
    canned,
    drip,
    raw,
    start,
    whole,
)
from billcore_sandbox.http.guard import SERVICE_BODY, read
from billcore_sandbox.http.protocol import EXTENSION, Connection
from billcore_sandbox.service import limits
from billcore_sandbox.service.calls import Reply, Request, parse_query, refused
from billcore_sandbox.service.parameters import parameters, unknown
from billcore_sandbox.service.routes import Routed, as_chosen, perform, route
from billcore_sandbox.store import Account
from billcore_sandbox.world import World

_log = logging.getLogger("billcore_sandbox")


@dataclass(slots=True)
class Exchange:
    """A request with its connection, account and fault. id: the id of the request's record.

    refusal: why the request's body was not read. No fault happens to such a request.
    """

    connection: Connection
    receive: Receive
    send: Send
    routed: Routed
    account: Account | None
    unknown: list[str]
    fault: Fault
    refusal: Refusal | None = None
    id: int = 0

    @property
    def request(self) -> Request:
        return self.routed.request


class Recorder:
    """The ASGI application of the service's paths. closing: set when the server shuts down; ends delays of answers."""

    def __init__(self, world: World, closing: asyncio.Event) -> None:
        self._world = world
        self._closing = closing
        world.jobs.runs[late.KIND] = partial(late.run, world)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._meet(scope, receive, send)
        except sqlite3.Error as error:
            await whole(send, refused(not_stored(error)))

    async def _meet(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection: Connection = scope["extensions"][EXTENSION]
        refusal: Refusal | None = None
        try:
            body = await read(self._world.options, scope, receive, SERVICE_BODY)
        except Refusal as error:
            body, refusal = b"", error
        if body is None:  # then there is no request to record
            return
        headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        request = Request(scope["method"], scope["raw_path"].decode("ascii"), scope["query_string"], headers, body)
        routed = route(request)
        account = self._world.store.by_uuid.get(routed.account)
        names: list[str] = []
        if account is not None and routed.name is not None and refusal is None:
            names = unknown(routed.name, request)
            self._world.unknown.note(account.uuid, routed.name, names, parameters(routed.name))
        fault = NO_FAULT if refusal is not None else self._fault(routed)
        exchange = Exchange(connection, receive, send, routed, account, names, fault, refusal)
        exchange.id = self._begin(exchange)
        try:
            await self._answer(exchange)
        finally:
            self._world.history.answered(exchange.id)

    def _fault(self, routed: Routed) -> Fault:
        """The fault that happens to this request, or NO_FAULT."""
        facts = {
            "account": routed.account,
            "operation": routed.name,
            "method": routed.request.method,
            "path": routed.path,
            "query": parse_query(routed.request.query),
        }

        def fits(fault: Fault) -> bool:
            return fault.kind not in list_faults.KINDS or list_faults.fits(fault, routed, self._serve)

        return self._world.faults.take(REQUEST_KINDS, facts, fits) or NO_FAULT

    def _begin(self, exchange: Exchange) -> int:
        request, connection = exchange.request, exchange.connection
        columns = {
            "at": clock.iso_precise(_now(exchange.account)),
            "account": None if exchange.account is None else exchange.account.uuid,
            "operation": exchange.routed.name,
            "method": request.method,
            "target": connection.target.decode("latin-1"),
            "headers": json.dumps([[each.decode("latin-1") for each in header] for header in connection.headers]),
            "body": request.body.decode("utf-8", "replace"),
            "fault": exchange.fault.kind or None,
            "unknown": json.dumps(exchange.unknown),
        }
        number = self._world.store.insert("requests", columns)
        self._world.history.changed(1)
        return number

    async def _answer(self, exchange: Exchange) -> None:
        fault, connection, send = exchange.fault, exchange.connection, exchange.send
        if exchange.refusal is not None:
            answer = refused(exchange.refusal)
            self._world.store.update("requests", exchange.id, {"status": answer.status})
            connection.refuse(_start(exchange, answer), answer.body)
            return
        if fault.kind in ("reset_before", "late"):
            if fault.kind == "late" and exchange.account is not None:
                late.keep(self._world, exchange.account, exchange.id, exchange.request, fault.fields["delay"])
            await _hang_up(exchange, reset=True)
            return
        answer = self._make(exchange)
        if fault.kind == "delay":
            await self._wait(fault.fields["delay"])
        if fault.kind == "reset_after":
            await _hang_up(exchange, reset=True)
            return
        if fault.kind == "wrong_length":
            head = _start(exchange, answer, fault.fields["by"])
            connection.write(raw(head, b"" if exchange.request.method == "HEAD" else answer.body))
            await _hang_up(exchange, reset=False)
            return
        head, body = _start(exchange, answer), answer.body
        if fault.kind == "half_body":
            await send(head)
            await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
            await _hang_up(exchange, reset=fault.fields["abort"])
            return
        if fault.kind == "drip":
            await send(head)
            body = await drip(send, body, fault.fields["delay"], self._wait)
        if not connection.gone:
            # Record the status before the answer is sent completely, so that a client with the answer finds the status.
            self._world.store.update("requests", exchange.id, {"status": answer.status})
        if fault.kind != "drip":
            await send(head)
        await send({"type": "http.response.body", "body": body})

    def _make(self, exchange: Exchange) -> Reply:
        """Perform the request, and return the answer as the fault changes it."""
        fault, routed = exchange.fault, exchange.routed
        if fault.kind == "status" and not fault.fields["effect"]:
            return canned(fault)
        account = exchange.account
        if account is not None and (refusal := limits.refusal(account)) is not None:
            return refused(as_chosen(account, routed, refusal))
        answer = self._serve(routed)
        if fault.kind == "status":
            return canned(fault)
        if fault.kind == "beyond_end":
            return list_faults.beyond(fault.fields["answer"], answer, routed, self._serve)
        if fault.kind == "rows":
            assert account is not None
            list_faults.change_rows(self._world, account, routed, self._serve, **fault.fields)
        return answer

    def _serve(self, routed: Routed) -> Reply:
        try:
            return perform(self._world, routed)
        except sqlite3.Error:
            raise
        except Exception as error:
            _log.error("failed on %s %s", routed.request.method, routed.request.path, exc_info=error)
            return refused(internal_error())

    async def _wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._closing.wait(), seconds)
        except TimeoutError:
            return


def _start(exchange: Exchange, answer: Reply, more: int = 0) -> Message:
    date = formatdate(_now(exchange.account).timestamp(), usegmt=True)
    return start(answer, [("Date", date), ("X-Request-Id", f"req_{exchange.id}")], more)


async def _hang_up(exchange: Exchange, *, reset: bool) -> None:
    if reset:
        exchange.connection.reset()
    else:
        exchange.connection.close()
    # uvicorn logs an error if a handler returns without an answer, so wait until the connection has ended.
    while (await exchange.receive())["type"] != "http.disconnect":
        pass


def _now(account: Account | None) -> datetime:
    """The time of the account's clock, which the header Date shows: clients compare Date with times in the data."""
    return clock.real() if account is None else account.clock.now()
