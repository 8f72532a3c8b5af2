"""FastAPI, or any Starlette application: uvicorn fastapi_app:app"""

from __future__ import annotations

import os

from fastapi import FastAPI, Request, Response

from billcore import webhooks

# Once per process, not per request. Two secrets with a comma between while one is being replaced.
verifier = webhooks.Verifier(os.environ["WEBHOOK_SECRET"].split(","))
app = FastAPI()


# No parameter but the request: a body parameter would read and parse the body before it is verified.
@app.post("/webhooks")
async def receive(request: Request) -> Response:
    try:
        event = await webhooks.from_asgi(request.scope, request.receive, verifier)
    except webhooks.SignatureError as error:
        return Response(error.reason, error.http_status)
    keep(event)
    return Response(status_code=204)


def keep(event: webhooks.Event) -> None:
    # Events come at least once. Before anything else, claim (event.account, str(event.id)) in your database, in one
    # transaction with what the event causes or with the job you queue for it; when it is claimed already, return.
    # Every test.hook has the id 0: do not claim those.
    print(f"{event.name} {event.id}")
