"""A Flask application; run it with: gunicorn flask_app:app"""

from __future__ import annotations

import os
import sys

from flask import Flask, request

from billcore import ConfigError, DecodeError, webhooks

try:  # make the Verifier once per process; while a secret is being replaced, WEBHOOK_SECRET is "new,old"
    verifier = webhooks.Verifier(os.environ.get("WEBHOOK_SECRET", "").split(","))
except ConfigError as error:
    print(f"WEBHOOK_SECRET: {error}", file=sys.stderr)
    sys.exit(3)  # status 3 stops gunicorn; after any other status gunicorn restarts the worker again and again
app = Flask(__name__)


# No code may read request.data, request.json or request.form before this view.
@app.post("/webhooks")
def receive() -> tuple[str, int]:
    try:
        event = webhooks.from_wsgi(request.environ, verifier)
    except webhooks.SignatureError as error:
        return error.reason, error.http_status
    except DecodeError as error:  # the signature is right, but the body is not an event that can be kept
        return "", error.http_status
    keep(event)
    return "", 200


def keep(event: webhooks.Event) -> None:
    if isinstance(event, webhooks.TestHook):  # a test of the endpoint: only the name is reliable, so read nothing else
        print(event.name)
        return
    # An event may be delivered more than once. Insert the key (event.account, str(event.id)) into your database, in
    # the same transaction as the event's effect or the job that you queue for it. If the database already
    # has the key, return.
    print(f"{event.name} {event.id}")
