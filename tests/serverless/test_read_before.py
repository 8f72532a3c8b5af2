"""If other code has already read the body, billcore raises an error that says what to do, on every server."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Sequence

import pytest
from werkzeug.serving import make_server

from support.waiting import until

from .support import (
    APPS,
    BODY,
    GUNICORN,
    HEADER,
    SECRET,
    SIGNATURE,
    UVICORN,
    ServerProcess,
    half_body,
    load,
    post,
    read_all,
)

SIGNED = [(HEADER, SIGNATURE)]
FORM = ("Content-Type", "application/x-www-form-urlencoded")


def expect_refusals(
    port: int, names: Sequence[str], kind: str = "InvalidArgumentError", *, chunked: bool = False
) -> None:
    for name in names:
        headers = [*SIGNED, *([FORM] if name == "form" else [])]
        answer = post(port, iter([BODY]) if chunked else BODY, headers, f"/{name}")
        assert answer.status == 500, name
        assert re.fullmatch(kind + r": .*already read.*verifier\.unwrap_request\(body, headers\)", answer.text), (
            answer.text
        )


def expect_events(port: int) -> None:
    for name in ("once", "instead"):
        assert post(port, BODY, SIGNED, f"/{name}").told == (200, "order.paid")


def ended_body(port: int, path: str) -> socket.socket:
    """Sends a request that ends in the middle of its body; the answer can be read from the returned connection."""
    connection = half_body(port, path)
    connection.shutdown(socket.SHUT_WR)
    return connection


def test_fastapi_on_uvicorn() -> None:
    with ServerProcess([*UVICORN, "read_before_fastapi:app"], APPS, SECRET) as server:
        expect_events(server.port)
        expect_refusals(server.port, ["twice"])
        expect_refusals(server.port, ["body", "parameter"], "BodyTimeoutError")
        with ended_body(server.port, "/once"):
            until(lambda: re.search("^DisconnectedError$", server.output(), re.M) is not None)


def test_flask_on_gunicorn() -> None:
    with ServerProcess([*GUNICORN, "read_before_flask:app"], APPS, SECRET) as server:
        expect_events(server.port)
        expect_refusals(server.port, ["twice", "data", "json", "form"])
        expect_refusals(server.port, ["twice", "data"], chunked=True)
        assert "disconnected: the body ended after 11 of" in read_all(ended_body(server.port, "/once"))


def test_flask_on_its_development_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """A development server gives the socket itself to the application: a second read would block forever."""
    monkeypatch.setenv("WEBHOOK_SECRET", SECRET)
    with make_server("127.0.0.1", 0, load(APPS / "read_before_flask.py").app) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        expect_events(server.port)
        expect_refusals(server.port, ["twice", "data", "json", "form"])
        server.shutdown()
        thread.join()
