"""AWS Lambda behind an API Gateway (REST or HTTP API), a function URL or a load balancer: aws_lambda.handler"""

from __future__ import annotations

import os
import sys

from billcore import ConfigError, webhooks

try:  # once per process, not per request; two comma-separated secrets while one is being replaced
    verifier = webhooks.Verifier(os.environ.get("WEBHOOK_SECRET", "").split(","))
except ConfigError as error:
    sys.exit(f"WEBHOOK_SECRET: {error}")


def handler(event: dict[str, object], context: object) -> dict[str, object]:
    try:
        delivery = webhooks.from_lambda(event, verifier)
    except webhooks.SignatureError as error:
        return {"statusCode": error.http_status, "body": error.reason}
    keep(delivery)
    return {"statusCode": 200, "body": ""}


def keep(event: webhooks.Event) -> None:
    if isinstance(event, webhooks.TestHook):  # a test of the endpoint: only the name is reliable, so read nothing else
        print(event.name)
        return
    # An event may be delivered more than once. Claim (event.account, str(event.id)) in your database first, in one
    # transaction with the event's effect or with the job you queue for it; return when it is already claimed.
    print(f"{event.name} {event.id}")
