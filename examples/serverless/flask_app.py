"""Flask: gunicorn flask_app:app"""

from __future__ import annotations

import os

from flask import Flask, request

from billcore import webhooks

# Once per process, not per request. Two secrets with a comma between while one is being replaced.
verifier = webhooks.Verifier(os.environ["WEBHOOK_SECRET"].split(","))
app = Flask(__name__)


# Nothing may touch request.data, request.json or request.form before.
@app.post("/webhooks")
def receive() -> tuple[str, int]:
    try:
        event = webhooks.from_wsgi(request.environ, verifier)
    except webhooks.SignatureError as error:
        return error.reason, error.http_status
    keep(event)
    return "", 204


def keep(event: webhooks.Event) -> None:
    # Events come at least once. Before anything else, claim (event.account, str(event.id)) in your database, in one
    # transaction with what the event causes or with the job you queue for it; when it is claimed already, return.
    # Every test.hook has the id 0: do not claim those.
    print(f"{event.name} {event.id}")
