"""Flask: gunicorn flask_app:app"""

from __future__ import annotations

import os
import sys

from flask import Flask, request

from billcore import ConfigError, webhooks

try:  # once per process, not per request; two comma-separated secrets while one is being replaced
    verifier = webhooks.Verifier(os.environ.get("WEBHOOK_SECRET", "").split(","))
except ConfigError as error:
    print(f"WEBHOOK_SECRET: {error}", file=sys.stderr)
    sys.exit(3)  # stops gunicorn; with any other status it restarts the worker again and again
app = Flask(__name__)


# Nothing may read request.data, request.json or request.form before this view.
@app.post("/webhooks")
def receive() -> tuple[str, int]:
    try:
        event = webhooks.from_wsgi(request.environ, verifier)
    except webhooks.SignatureError as error:
        return error.reason, error.http_status
    keep(event)
    return "", 200


def keep(event: webhooks.Event) -> None:
    if isinstance(event, webhooks.TestHook):  # a test of the endpoint: only the name is reliable, so read nothing else
        print(event.name)
        return
    # An event may be delivered more than once. Claim (event.account, str(event.id)) in your database first, in one
    # transaction with the event's effect or with the job you queue for it; return when it is already claimed.
    print(f"{event.name} {event.id}")
