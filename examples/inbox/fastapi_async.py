"""FastAPI with SQLAlchemy's asyncio engine; run it with: uvicorn fastapi_async:app"""

from __future__ import annotations

import asyncio
import os

from fastapi import FastAPI, Request, Response
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import create_async_engine

from billcore import DecodeError, inbox, webhooks

verifier = webhooks.Verifier(os.environ["WEBHOOK_SECRET"].split(","))
engine = create_async_engine(os.environ["DATABASE_URL"])  # such as postgresql+asyncpg://user@host/shop
app = FastAPI()


@app.post("/webhooks")
async def receive(request: Request) -> Response:
    try:
        event = await webhooks.from_asgi(request.scope, request.receive, verifier)
        async with asyncio.timeout(20), engine.begin() as connection:
            claimed = await inbox.aclaim(connection, event)
            if claimed and isinstance(event, webhooks.OrderPaid) and "id" in event.data:
                await connection.execute(text("INSERT INTO paid_orders (id) VALUES (:id)"), {"id": str(event.data.id)})
    except webhooks.SignatureError as error:
        return Response(error.reason, error.http_status)
    except DecodeError as error:
        return Response(status_code=error.http_status)
    except (inbox.InboxBusyError, SQLAlchemyError, OSError):  # busy, down or too slow: the sender tries again
        return Response(status_code=503)
    return Response()
