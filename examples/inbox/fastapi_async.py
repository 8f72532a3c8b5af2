"""FastAPI with SQLAlchemy's asyncio engine; run it with: uvicorn fastapi_async:app"""

from __future__ import annotations

import os

from fastapi import FastAPI, Request, Response
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.ext.asyncio import create_async_engine

from billcore import DecodeError, inbox, webhooks

verifier = webhooks.Verifier(os.environ["WEBHOOK_SECRET"].split(","))
engine = create_async_engine(os.environ["DATABASE_URL"])  # such as postgresql+asyncpg://user@host/shop
app = FastAPI()


@app.post("/webhooks")
async def receive(request: Request) -> Response:
    try:
        event = await webhooks.from_asgi(request.scope, request.receive, verifier)
        async with engine.begin() as connection:
            if await inbox.aclaim(connection, event) and isinstance(event, webhooks.OrderPaid):
                await connection.execute(text("INSERT INTO paid_orders (id) VALUES (:id)"), {"id": str(event.data.id)})
    except webhooks.SignatureError as error:
        return Response(error.reason, error.http_status)
    except DecodeError:
        return Response(status_code=400)
    except (inbox.InboxBusyError, DBAPIError):  # the sender tries again
        return Response(status_code=503)
    return Response()
