"""FastAPI, or any Starlette application: uvicorn fastapi_app:app"""

from __future__ import annotations

import os
import sys

from fastapi import FastAPI, Request, Response

from billcore import ConfigError, webhooks

try:  # once per process, not per request; two comma-separated secrets while one is being replaced
    verifier = webhooks.Verifier(os.environ.get("WEBHOOK_SECRET", "").split(","))
except ConfigError as error:
    sys.exit(f"WEBHOOK_SECRET: {error}")
app = FastAPI()


# Take no parameter except the request: a body parameter would read and parse the body before it is verified.
@app.post("/webhooks")
async def receive(request: Request) -> Response:
    try:
        event = await webhooks.from_asgi(request.scope, request.receive, verifier)
    except webhooks.SignatureError as error:
        return Response(error.reason, error.http_status)
    keep(event)
    return Response()


def keep(event: webhooks.Event) -> None:
    if isinstance(event, webhooks.TestHook):  # a test of the endpoint: only the name is reliable, so read nothing else
        print(event.name)
        return
    # An event may be delivered more than once. Claim (event.account, str(event.id)) in your database first, in one
    # transaction with the event's effect or with the job you queue for it; return when it is already claimed.
    print(f"{event.name} {event.id}")
