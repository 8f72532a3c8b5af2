"""An AWS Lambda handler behind an API Gateway (REST or HTTP API), a function URL or a load balancer."""

from __future__ import annotations

import os
import sys

from billcore import ConfigError, DecodeError, webhooks

try:  # make the Verifier once per process; while a secret is being replaced, WEBHOOK_SECRET is "new,old"
    verifier = webhooks.Verifier(os.environ.get("WEBHOOK_SECRET", "").split(","))
except ConfigError as error:
    sys.exit(f"WEBHOOK_SECRET: {error}")


def handler(event: dict[str, object], context: object) -> dict[str, object]:
    try:
        delivery = webhooks.from_lambda(event, verifier)
    except webhooks.SignatureError as error:
        return {"statusCode": error.http_status, "body": error.reason}
    except DecodeError as error:  # the signature is right, but the body is not an event that can be kept
        return {"statusCode": error.http_status, "body": ""}
    keep(delivery)
    return {"statusCode": 200, "body": ""}


def keep(event: webhooks.Event) -> None:
    if isinstance(event, webhooks.TestHook):  # a test of the endpoint: only the name is reliable, so read nothing else
        print(event.name)
        return
    # An event may be delivered more than once. Insert the key (event.account, str(event.id)) into your database, in
    # the same transaction as the event's effect or the job that you queue for it. If the database already
    # has the key, return.
    print(f"{event.name} {event.id}")
