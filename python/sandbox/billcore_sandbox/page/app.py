"""The ASGI application of the page: it finds the view of a path, performs forms, and answers with safe headers."""

from __future__ import annotations

import gzip
import inspect
import logging
import sqlite3
from collections.abc import AsyncGenerator
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from billcore_sandbox.control.app import send_events
from billcore_sandbox.errors import Refusal, internal_error, not_stored
from billcore_sandbox.http.answers import Receive, Scope, Send, whole
from billcore_sandbox.http.guard import read, reject
from billcore_sandbox.page import forms
from billcore_sandbox.page.request import PREFIX, PageRequest, Shared
from billcore_sandbox.page.routes import VIEWS
from billcore_sandbox.service.calls import Reply
from billcore_sandbox.service.routes import find
from billcore_sandbox.world import World

_log = logging.getLogger("billcore_sandbox")
_STATIC = Path(__file__).parent / "static"
_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8", "svg": "image/svg+xml"}
_MOST_SENT = 2 << 20  # bytes of a form
# A browser loads scripts and styles from this server only, runs nothing that stands in a page, sends forms to this
# server only, and shows the page in no frame.
_SAFE = [
    (
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    ),
    ("X-Content-Type-Options", "nosniff"),
    ("X-Frame-Options", "DENY"),
    ("Referrer-Policy", "same-origin"),
    ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
]


class Application:
    """The page of a sandbox."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._shared = Shared()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            body = await read(self._world.options, scope, receive, _MOST_SENT)
        except Refusal as error:
            reject(scope, error)
            return
        if body is None:
            return
        request = PageRequest(self._world, scope, self._shared)
        answer = await self._answer(request, body)
        if isinstance(answer, Reply):
            answer.headers.extend(_SAFE)
            await whole(send, answer)
        else:
            await send_events(scope, send, answer, _SAFE)

    async def _answer(self, request: PageRequest, body: bytes) -> Reply | AsyncGenerator[bytes, None]:
        try:
            return await self._done(request, body)
        except Refusal as error:
            return self._refused(request, error)
        except sqlite3.Error as error:
            return self._refused(request, not_stored(error))
        except Exception as error:
            _log.error("failed on %s %s", request.method, request.path, exc_info=error)
            return self._refused(request, internal_error())

    def _refused(self, request: PageRequest, error: Refusal) -> Reply:
        if request.query.get("account") not in self._world.store.by_uuid:
            request.query.pop("account", None)  # the page that says so is of no account
        answer = request.render("refused.html", status=error.status, message=error.message)
        answer.headers.extend(error.headers)
        return answer

    async def _done(self, request: PageRequest, body: bytes) -> Reply | AsyncGenerator[bytes, None]:
        if request.too_long:
            raise Refusal(414, "uri_too_long", "This URL is too long: search for a shorter text.")
        if request.path.startswith(f"{PREFIX}/do/"):
            return await forms.perform(request, body)
        if request.path.startswith(f"{PREFIX}/static/"):
            return _static(request)
        view, found = find(VIEWS, request.method, request.path)
        done: Any = view.action(request, *([unquote(found)] if found else []))
        answer: Reply | AsyncGenerator[bytes, None] = await done if inspect.isawaitable(done) else done
        return answer


def _static(request: PageRequest) -> Reply:
    name = request.path.rpartition("/")[2]
    files = _files()
    if name not in files:
        return request.render("refused.html", status=404, message="There is no such file.")
    plain, packed = files[name]
    headers = [("Cache-Control", "max-age=3600"), ("Vary", "Accept-Encoding")]
    if "gzip" in request.header("accept-encoding"):
        plain = packed
        headers.append(("Content-Encoding", "gzip"))
    return Reply(200, plain, headers, _TYPES[name.rpartition(".")[2]])


@cache
def _files() -> dict[str, tuple[bytes, bytes]]:
    """The content of each static file, plain and compressed. Pages are not compressed: they have the form token."""
    found = {path.name: path.read_bytes() for path in _STATIC.iterdir() if path.suffix[1:] in _TYPES}
    return {name: (data, gzip.compress(data, mtime=0)) for name, data in found.items()}
