"""AWS Lambda behind an API Gateway (REST or HTTP API), a function URL or a load balancer: aws_lambda.handler"""

from __future__ import annotations

import os

from billcore import webhooks

# Once per process, not per request. Two secrets with a comma between while one is being replaced.
verifier = webhooks.Verifier(os.environ["WEBHOOK_SECRET"].split(","))


def handler(event: dict[str, object], context: object) -> dict[str, object]:
    try:
        delivery = webhooks.from_lambda(event, verifier)
    except webhooks.SignatureError as error:
        return {"statusCode": error.http_status, "body": error.reason}
    keep(delivery)
    return {"statusCode": 200, "body": ""}


def keep(event: webhooks.Event) -> None:
    # Events come at least once. Before anything else, claim (event.account, str(event.id)) in your database, in one
    # transaction with what the event causes or with the job you queue for it; when it is claimed already, return.
    # Every test.hook has the id 0: do not claim those.
    print(f"{event.name} {event.id}")
