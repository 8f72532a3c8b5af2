"""The ASGI application of the control routes: it finds the route, converts the body or the query, and answers."""

from __future__ import annotations

import contextlib
import inspect
import logging
import sqlite3
from collections.abc import AsyncGenerator, Iterable
from typing import Any
from urllib.parse import unquote

import msgspec

from billcore_sandbox.control.mistakes import mistake
from billcore_sandbox.control.routes import ALL, PREFIX
from billcore_sandbox.errors import Refusal, internal_error, invalid, not_found, not_stored
from billcore_sandbox.http.answers import Receive, Scope, Send, whole
from billcore_sandbox.http.guard import CONTROL_BODY, read, reject
from billcore_sandbox.http.protocol import EXTENSION
from billcore_sandbox.openapi import JSON, ControlRoute
from billcore_sandbox.service.calls import Reply, json_object, parse_query, refused, reply
from billcore_sandbox.service.routes import find
from billcore_sandbox.world import World

_log = logging.getLogger("billcore_sandbox")


async def serve(world: World, scope: Scope, receive: Receive, send: Send) -> None:
    """Answer a request to a path below PREFIX."""
    try:
        body = await read(world.options, scope, receive, CONTROL_BODY, only_json=scope["method"] == "POST")
    except Refusal as error:
        reject(scope, error)
        return
    if body is None:
        return
    answer = await _answer(world, scope, body)
    if isinstance(answer, Reply):
        await whole(send, answer)
    else:
        await send_events(scope, send, answer)


async def send_events(
    scope: Scope, send: Send, events: AsyncGenerator[bytes, None], more: Iterable[tuple[str, str]] = ()
) -> None:
    """Send server-sent events, until they or the connection end. `send` waits while the reader does not read.

    more: further headers.
    """
    headers = [("Content-Type", "text/event-stream; charset=utf-8"), ("Cache-Control", "no-store"), *more]
    raw = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
    await send({"type": "http.response.start", "status": 200, "headers": raw})
    if scope["method"] != "HEAD":
        async with contextlib.aclosing(events):
            async for chunk in events:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
                if scope["extensions"][EXTENSION].gone:
                    break
    await send({"type": "http.response.body", "body": b""})


async def _answer(world: World, scope: Scope, body: bytes) -> Reply | AsyncGenerator[bytes, None]:
    try:
        done = await _done(world, scope, body)
        return done if isinstance(done, AsyncGenerator) else reply(done)
    except Refusal as error:
        return refused(error)
    except sqlite3.Error as error:
        return refused(not_stored(error))
    except Exception as error:
        _log.error("failed on %s %s", scope["method"], scope["path"], exc_info=error)
        return refused(internal_error())


async def _done(world: World, scope: Scope, body: bytes) -> Any:
    """Check and perform a request; returns the value to answer with."""
    path = scope["raw_path"].decode("ascii").removeprefix(PREFIX)
    if not path:  # without the slash at the end
        raise not_found()
    route, found = find(ALL, scope["method"], path[1:])
    query, given = dict(parse_query(scope["query_string"])), list[Any]()
    if route.query is not None:
        headers = dict(scope["headers"])
        if route.media != JSON and b"last-event-id" in headers:
            query["after"] = headers[b"last-event-id"].decode("latin-1")  # a browser connects again with its first URL
        given.append(_parameters(query, route.query))
        world.history.retention.trim()
    elif query:
        raise invalid(f"This route has no parameter {next(iter(query))!r}: send it as a field of the body.")
    if route.body is not None:
        given.append(_body(body, route))
    if found:
        given.append(unquote(found))
    done = route.action(world, *given)
    return await done if inspect.isawaitable(done) else done


def _parameters(given: dict[str, str], query: type[msgspec.Struct]) -> msgspec.Struct:
    names = sorted(query.__struct_fields__)
    if unknown := given.keys() - {*names}:
        raise invalid(f"This route has no parameter {sorted(unknown)[0]!r}: it has {', '.join(names)}.")
    # Refuse the text "null" here, because msgspec would convert it to None.
    if nulls := [name for name, value in given.items() if value.lower() == "null"]:
        raise invalid(f"The parameter {nulls[0]} has no value null: leave it out.")
    try:
        return msgspec.convert(given, query, strict=False)
    except msgspec.ValidationError as error:
        raise mistake(error, query, "parameters") from None


def _body(body: bytes, route: ControlRoute) -> msgspec.Struct:
    assert route.body is not None
    try:
        return msgspec.convert(json_object(body), route.body)
    except msgspec.ValidationError as error:
        raise mistake(error, route.body, "fields") from None
