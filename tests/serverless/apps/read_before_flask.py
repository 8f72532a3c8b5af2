"""A common mistake with Flask: code reads the body before from_wsgi(). The response is the text of the error."""

from __future__ import annotations

import os

from flask import Flask, request

from billcore import BillcoreError, webhooks

verifier = webhooks.Verifier(os.environ["WEBHOOK_SECRET"])
app = Flask(__name__)


def answer() -> tuple[str, int]:
    try:
        return webhooks.from_wsgi(request.environ, verifier).name, 200
    except BillcoreError as error:
        return f"{type(error).__name__}: {error}", 500


@app.post("/once")
def once() -> tuple[str, int]:
    return answer()


@app.post("/twice")
def twice() -> tuple[str, int]:
    answer()
    return answer()


@app.post("/data")
def data() -> tuple[str, int]:
    request.get_data()
    return answer()


@app.post("/json")
def json() -> tuple[str, int]:
    request.get_json(force=True)
    return answer()


@app.post("/form")
def form() -> tuple[str, int]:
    assert not request.form.get("no")
    return answer()


@app.post("/instead")
def instead() -> str:
    return verifier.unwrap_request(request.get_data(), request.headers).name
