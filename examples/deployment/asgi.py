"""The shop as an ASGI application: uvicorn asgi:app --timeout-graceful-shutdown 60"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Response
from sqlalchemy.ext.asyncio import create_async_engine

import billcore
from billcore.journal import AsyncJournal

key = Path(os.environ["SHOP_KEY_FILE"]).read_text("utf-8").strip()
client = billcore.AsyncClient(api_key=key, timeout=10)
engine = create_async_engine(os.environ["DATABASE_URL"])
journal = AsyncJournal(engine, client, timeout=20, settle=600)


@asynccontextmanager
async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
    yield
    await client.close()
    await engine.dispose()


app = FastAPI(lifespan=lifespan)


@app.post("/pay/{invoice}/{subscription}/{cents}")
async def pay(invoice: str, subscription: str, cents: int) -> Response:
    try:
        order = await journal.charge(invoice, subscription, product_id=102, amount=cents)
    except billcore.PaymentError as error:
        return Response(error.message or "declined", 402)
    except billcore.BillcoreError:
        return Response("checking", 202)
    return Response(f"order {order.id}")
