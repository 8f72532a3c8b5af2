"""Flask with an SQLAlchemy engine; run it with: gunicorn --threads 4 flask_app:app"""

from __future__ import annotations

import os

from flask import Flask, request
from sqlalchemy import create_engine, exc, text

from billcore import DecodeError, inbox, webhooks

verifier = webhooks.Verifier(os.environ["WEBHOOK_SECRET"].split(","))
engine = create_engine(os.environ["DATABASE_URL"])  # such as postgresql+psycopg://user@host/shop
app = Flask(__name__)


@app.post("/webhooks")
def receive() -> tuple[str, int]:
    try:
        event = webhooks.from_wsgi(request.environ, verifier)
        with engine.begin() as connection:
            if inbox.claim(connection, event) and isinstance(event, webhooks.OrderPaid) and "id" in event.data:
                connection.execute(text("INSERT INTO paid_orders (id) VALUES (:id)"), {"id": str(event.data.id)})
    except webhooks.SignatureError as error:
        return error.reason, error.http_status
    except DecodeError as error:
        return "", error.http_status
    except (inbox.InboxBusyError, exc.OperationalError, exc.TimeoutError):  # the sender tries again
        return "", 503
    return "", 200
