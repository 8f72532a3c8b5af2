"""Flask: gunicorn flask_app:app"""

from __future__ import annotations

import os
import sys

from flask import Flask, request

from billcore import ConfigError, webhooks

try:  # once per process, not per request; two secrets with a comma between while one is being replaced
    verifier = webhooks.Verifier(os.environ.get("WEBHOOK_SECRET", "").split(","))
except ConfigError as error:
    print(f"WEBHOOK_SECRET: {error}", file=sys.stderr)
    sys.exit(3)  # gunicorn then stops; at another status it starts the worker again and again
app = Flask(__name__)


# Nothing may touch request.data, request.json or request.form before.
@app.post("/webhooks")
def receive() -> tuple[str, int]:
    try:
        event = webhooks.from_wsgi(request.environ, verifier)
    except webhooks.SignatureError as error:
        return error.reason, error.http_status
    keep(event)
    return "", 200


def keep(event: webhooks.Event) -> None:
    if event.name == "test.hook":  # somebody tries the endpoint: only the name is reliable, so read nothing else
        print(event.name)
        return
    # Events come at least once. Claim (event.account, str(event.id)) in your database before you do anything, in one
    # transaction with what the event causes or with the job you queue for it; when it is claimed already, return.
    print(f"{event.name} {event.id}")
