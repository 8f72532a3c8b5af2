"""FastAPI with a blocking SQLAlchemy engine; run it with: uvicorn fastapi_sync:app"""

from __future__ import annotations

import os

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from sqlalchemy import create_engine, exc, text

from billcore import DecodeError, inbox, webhooks

verifier = webhooks.Verifier(os.environ["WEBHOOK_SECRET"].split(","))
engine = create_engine(os.environ["DATABASE_URL"])  # such as postgresql+psycopg://user@host/shop
app = FastAPI()


@app.post("/webhooks")
async def receive(request: Request) -> Response:
    try:
        event = await webhooks.from_asgi(request.scope, request.receive, verifier)
        await run_in_threadpool(handle, event)
    except webhooks.SignatureError as error:
        return Response(error.reason, error.http_status)
    except DecodeError as error:
        return Response(status_code=error.http_status)
    except (inbox.InboxBusyError, exc.OperationalError, exc.TimeoutError):  # the sender tries again
        return Response(status_code=503)
    return Response()


def handle(event: webhooks.Event) -> None:
    with engine.begin() as connection:
        if inbox.claim(connection, event) and isinstance(event, webhooks.OrderPaid) and "id" in event.data:
            connection.execute(text("INSERT INTO paid_orders (id) VALUES (:id)"), {"id": str(event.data.id)})
