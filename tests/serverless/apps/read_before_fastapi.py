"""A common mistake with FastAPI: code reads the body before from_asgi(). The response is the text of the error."""

from __future__ import annotations

import os
from typing import Annotated, Any

from fastapi import Body, FastAPI, Request, Response

from billcore import BillcoreError, webhooks

verifier = webhooks.Verifier(os.environ["WEBHOOK_SECRET"])
app = FastAPI()


async def answer(request: Request, timeout: float = 60.0) -> Response:
    try:
        event = await webhooks.from_asgi(request.scope, request.receive, verifier, timeout=timeout)
    except BillcoreError as error:
        print(type(error).__name__)
        return Response(f"{type(error).__name__}: {error}", 500)
    return Response(event.name)


@app.post("/once")
async def once(request: Request) -> Response:
    return await answer(request)


@app.post("/twice")
async def twice(request: Request) -> Response:
    await answer(request)
    return await answer(request)


@app.post("/body")
async def body(request: Request) -> Response:
    await request.body()
    return await answer(request, 0.05)  # no body is left to read, so from_asgi() times out


@app.post("/parameter")
async def parameter(request: Request, payload: Annotated[Any, Body()]) -> Response:
    return await answer(request, 0.05)


@app.post("/instead")
async def instead(request: Request) -> Response:
    return Response(verifier.unwrap_request(await request.body(), request.headers).name)
