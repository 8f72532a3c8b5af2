"""If other code has already read the body, billcore raises an error that says what to do, also on a development server,
which gives the socket itself to the application: a second read would block forever."""

from __future__ import annotations

import re
import threading

import pytest
from werkzeug.serving import make_server

from .support import APPS, BODY, HEADER, SECRET, SIGNATURE, load, post

SIGNED = [(HEADER, SIGNATURE)]
FORM = ("Content-Type", "application/x-www-form-urlencoded")


def test_flask_on_its_development_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEBHOOK_SECRET", SECRET)
    with make_server("127.0.0.1", 0, load(APPS / "read_before_flask.py").app) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        for name in ("once", "instead"):
            assert post(server.port, BODY, SIGNED, f"/{name}").told == (200, "order.paid")
        for name in ("twice", "data", "json", "form"):
            answer = post(server.port, BODY, [*SIGNED, *([FORM] if name == "form" else [])], f"/{name}")
            assert answer.status == 500, name
            said = r"InvalidArgumentError: .*already read.*verifier\.unwrap_request\(body, headers\)"
            assert re.fullmatch(said, answer.text), answer.text
        server.shutdown()
        thread.join()
