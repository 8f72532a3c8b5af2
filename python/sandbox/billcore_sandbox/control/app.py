"""The Starlette application of the control routes: every error answer is an error object."""

from __future__ import annotations

import sqlite3
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from billcore_sandbox.errors import Refusal, internal_error, not_found, not_stored
from billcore_sandbox.service.calls import Reply, reply


def application(routes: list[Route]) -> Starlette:
    handlers: dict[Any, Any] = {
        HTTPException: _http_error,
        Refusal: _refused,
        sqlite3.Error: _not_stored,
        Exception: _failed,
    }
    app = Starlette(routes=routes, exception_handlers=handlers)
    # Answer "/state/" with 404 instead of a redirect to "/state", as the service does.
    app.router.redirect_slashes = False
    return app


def to_response(answer: Reply) -> Response:
    headers = dict(answer.headers)
    return Response(answer.body, answer.status, headers, media_type=answer.content_type if answer.body else None)


def refusal_response(error: Refusal) -> Response:
    return to_response(reply(error.body(), error.status))


async def _refused(request: Request, error: Any) -> Response:
    return refusal_response(error)


async def _http_error(request: Request, error: Any) -> Response:
    if error.status_code == 404:
        return refusal_response(not_found())
    answer = refusal_response(Refusal(error.status_code, "method_not_allowed", "This path does not take this method."))
    answer.headers.update(error.headers or {})
    return answer


async def _not_stored(request: Request, error: Any) -> Response:
    return refusal_response(not_stored(error))


async def _failed(request: Request, error: Any) -> Response:
    # Starlette raises the error again after this answer, and uvicorn logs it.
    return refusal_response(internal_error())
