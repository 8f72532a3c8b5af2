"""Records every request to the service as received, with its answer, and applies faults.

The service's answer is complete before its first byte is sent, so that a fault can drop it, halve it or replace it.
"""

from __future__ import annotations

import asyncio
import functools
import json
import logging
import sqlite3
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import formatdate
from time import perf_counter

from billcore_sandbox import clock, late, list_faults
from billcore_sandbox.errors import Refusal, internal_error, not_stored
from billcore_sandbox.faults import NO_FAULT, REQUEST_KINDS, Fault
from billcore_sandbox.history import headers, packed
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
from billcore_sandbox.http.protocol import EXTENSION, Connection, Nobody
from billcore_sandbox.service import limits
from billcore_sandbox.service.calls import Reply, Request, parse_query, refused
from billcore_sandbox.service.parameters import parameters, unknown
from billcore_sandbox.service.routes import Routed, as_chosen, perform, route
from billcore_sandbox.store import Account
from billcore_sandbox.world import World

_log = logging.getLogger("billcore_sandbox")
_END = "UPDATE requests SET status = ?, duration_ms = ?, answer_headers = ?, answer_body = ? WHERE id = ?"


@dataclass(slots=True)
class Exchange:
    """A request with its connection, account and fault.

    begin: perf_counter() at its begin. refusal: why its body was not read; no fault happens to such a request. repeats:
    the id of the record that the request repeats. id: of its own record. sent: bytes of the answer's body.
    """

    connection: Connection
    receive: Receive
    send: Send
    routed: Routed
    begin: float
    refusal: Refusal | None = None
    repeats: int | None = None
    account: Account | None = None
    unknown: list[str] = field(default_factory=list)
    fault: Fault = field(default_factory=lambda: NO_FAULT)
    id: int = 0
    sent: int = 0

    @property
    def request(self) -> Request:
        return self.routed.request


class Recorder:
    """The ASGI application of the service's paths. closing: set when the server shuts down; ends delays of answers."""

    def __init__(self, world: World, closing: asyncio.Event) -> None:
        self._world = world
        self._closing = closing
        world.jobs.runs[late.KIND] = functools.partial(late.run, world)
        world.repeat = self._repeat

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self._meet(scope, receive, send)
        except sqlite3.Error as error:
            await whole(send, refused(not_stored(error)))

    async def _meet(self, scope: Scope, receive: Receive, send: Send) -> None:
        connection: Connection = scope["extensions"][EXTENSION]
        begin = perf_counter()
        refusal: Refusal | None = None
        try:
            body = await read(self._world.options, scope, receive, SERVICE_BODY)
        except Refusal as error:
            body, refusal = b"", error
        if body is None:  # then there is no request to record
            return
        given = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
        request = Request(scope["method"], scope["raw_path"].decode("ascii"), scope["query_string"], given, body)
        await self._record(Exchange(connection, receive, send, route(request), begin, refusal))

    async def _repeat(self, row: sqlite3.Row) -> int:
        """Perform a recorded request again, as if it came now; returns the id of its record."""
        sent = headers(row["headers"])
        path, _, query = row["target"].partition("?")
        lower = [(name.lower(), value) for name, value in sent]
        request = Request(row["method"], path, query.encode("latin-1"), lower, row["body"])
        nobody = Nobody(row["target"], sent)
        exchange = Exchange(nobody, nobody.receive, nobody.send, route(request), perf_counter(), repeats=row["id"])
        await self._record(exchange)
        return exchange.id

    async def _record(self, exchange: Exchange) -> None:
        """Record a request, and answer it."""
        routed = exchange.routed
        account = exchange.account = self._world.store.by_uuid.get(routed.account)
        if account is not None and routed.name is not None and exchange.refusal is None:
            exchange.unknown = unknown(routed.name, routed.request)
            self._world.unknown.note(account.uuid, routed.name, exchange.unknown, parameters(routed.name))
        if exchange.refusal is None:
            exchange.fault = self._fault(routed)
        exchange.id = self._begin(exchange)
        try:
            await self._answer(exchange)
        finally:
            self._world.history.answered(exchange.id, exchange.sent)

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
            "account": None if exchange.account is None else exchange.account.number,
            "operation": exchange.routed.name,
            "method": request.method,
            "target": connection.target.decode("latin-1"),
            "headers": packed(connection.headers),
            "body": request.body,
            "fault": exchange.fault.kind or None,
            "unknown": json.dumps(exchange.unknown) if exchange.unknown else "[]",
            "repeats": exchange.repeats,
        }
        number = self._world.store.insert("requests", columns)
        self._world.history.changed(1, len(request.body))
        return number

    async def _answer(self, exchange: Exchange) -> None:
        fault, connection, send = exchange.fault, exchange.connection, exchange.send
        if exchange.refusal is not None:
            answer = refused(exchange.refusal)
            head = _start(exchange, answer)
            self._end(exchange, head, answer.body, answer.status)
            connection.refuse(head, answer.body)
            return
        if fault.kind in ("reset_before", "late"):
            if fault.kind == "late" and exchange.account is not None:
                late.keep(self._world, exchange.account, exchange.id, exchange.request, fault.fields["delay"])
            self._end(exchange)
            await _hang_up(exchange, reset=True)
            return
        answer = self._make(exchange)
        if fault.kind == "delay":
            await self._wait(fault.fields["delay"])
        if fault.kind == "reset_after":
            self._end(exchange)
            await _hang_up(exchange, reset=True)
            return
        body = b"" if exchange.request.method == "HEAD" else answer.body
        if fault.kind == "wrong_length":
            head = _start(exchange, answer, fault.fields["by"])
            self._end(exchange, head, body)
            connection.write(raw(head, body))
            await _hang_up(exchange, reset=False)
            return
        head = _start(exchange, answer)
        if fault.kind == "half_body":
            self._end(exchange, head, body[: len(body) // 2])
            await send(head)
            await send({"type": "http.response.body", "body": body[: len(body) // 2], "more_body": True})
            await _hang_up(exchange, reset=fault.fields["abort"])
            return
        sent = body
        if fault.kind == "drip":
            await send(head)
            body = await drip(send, body, fault.fields["delay"], self._wait)
        # Record the status before the answer is sent completely, so that a client with the answer finds the status.
        self._end(exchange, head, sent, None if connection.gone else answer.status)
        if fault.kind != "drip":
            await send(head)
        await send({"type": "http.response.body", "body": body})

    def _end(
        self, exchange: Exchange, head: Message | None = None, body: bytes = b"", status: int | None = None
    ) -> None:
        """Record what is sent of the answer. status: null if the answer is not complete."""
        exchange.sent = len(body)
        answer = (None, None) if head is None else (packed(head["headers"]), body)
        self._world.store.db.execute(_END, (status, clock.milliseconds(exchange.begin), *answer, exchange.id))

    def _make(self, exchange: Exchange) -> Reply:
        """Perform the request, and return the answer as the fault changes it."""
        with self._world.serving(exchange.id):
            return self._changed(exchange)

    def _changed(self, exchange: Exchange) -> Reply:
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


@functools.lru_cache(maxsize=16)
def _date(second: int) -> str:
    return formatdate(second, usegmt=True)


def _start(exchange: Exchange, answer: Reply, more: int = 0) -> Message:
    return start(
        answer, [("Date", _date(int(_now(exchange.account).timestamp()))), ("X-Request-Id", f"req_{exchange.id}")], more
    )


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
