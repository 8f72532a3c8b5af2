"""AWS Lambda with PostgreSQL, behind an API Gateway, a function URL or a load balancer."""

from __future__ import annotations

import os
from functools import cache

import psycopg

from billcore import DecodeError, inbox, webhooks

verifier = webhooks.Verifier(os.environ["WEBHOOK_SECRET"].split(","))


@cache
def connection() -> psycopg.Connection:
    """The connection, which later invocations in the same process reuse."""
    return psycopg.connect(os.environ["DATABASE_URL"], autocommit=True)


def handler(event: dict[str, object], context: object) -> dict[str, object]:
    try:
        delivery = webhooks.from_lambda(event, verifier)
        with connection().transaction():
            claimed = inbox.claim(connection(), delivery)
            if claimed and isinstance(delivery, webhooks.OrderPaid) and "id" in delivery.data:
                connection().execute("INSERT INTO paid_orders (id) VALUES (%s)", [str(delivery.data.id)])
    except webhooks.SignatureError as error:
        return {"statusCode": error.http_status, "body": error.reason}
    except DecodeError as error:
        return {"statusCode": error.http_status, "body": ""}
    except (inbox.InboxBusyError, psycopg.OperationalError):  # the sender tries again; the handler then connects anew
        connection.cache_clear()
        return {"statusCode": 503, "body": ""}
    return {"statusCode": 200, "body": ""}
