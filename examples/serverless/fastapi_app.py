"""A FastAPI (or Starlette) application; run it with: uvicorn fastapi_app:app"""

from __future__ import annotations

import os
import sys

from fastapi import FastAPI, Request, Response

from billcore import ConfigError, DecodeError, webhooks

try:  # make the Verifier once per process; while a secret is being replaced, WEBHOOK_SECRET is "new,old"
    verifier = webhooks.Verifier(os.environ.get("WEBHOOK_SECRET", "").split(","))
except ConfigError as error:
    sys.exit(f"WEBHOOK_SECRET: {error}")
app = FastAPI()


# The view takes only the request: with a body parameter, FastAPI would read and parse the body before it is verified.
@app.post("/webhooks")
async def receive(request: Request) -> Response:
    try:
        event = await webhooks.from_asgi(request.scope, request.receive, verifier)
    except webhooks.SignatureError as error:
        return Response(error.reason, error.http_status)
    except DecodeError as error:  # the signature is right, but the body is not an event that can be kept
        return Response(status_code=error.http_status)
    keep(event)
    return Response()


def keep(event: webhooks.Event) -> None:
    if isinstance(event, webhooks.TestHook):  # a test of the endpoint: only the name is reliable, so read nothing else
        print(event.name)
        return
    # An event may be delivered more than once. Insert the key (event.account, str(event.id)) into your database, in
    # the same transaction as the event's effect or the job that you queue for it. If the database already
    # has the key, return.
    print(f"{event.name} {event.id}")
