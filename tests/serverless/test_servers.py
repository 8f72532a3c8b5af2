"""The handlers of FastAPI, Flask and Django on real servers: deliveries of the sandbox, and bad requests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from billcore import webhooks
from billcore.testing import Sandbox

from .support import (
    BODY,
    DELIVERIES,
    EXAMPLES,
    FORMER,
    GUNICORN,
    HEADER,
    OTHER,
    SECRET,
    SIGNATURE,
    UVICORN,
    ServerProcess,
    deliver_events,
    disconnect,
    event_line,
    event_lines,
    half_body,
    post,
    post_head,
    read_all,
)

SIGNED = [(HEADER, SIGNATURE)]
MIB = 1 << 20
SERVERS = {
    "fastapi": [*UVICORN, "fastapi_app:app"],
    "flask": [*GUNICORN, "flask_app:app"],
    "django": [*GUNICORN, "django_app:application"],
}


@pytest.fixture(scope="module", params=SERVERS)
def server(request: pytest.FixtureRequest) -> Iterator[ServerProcess]:
    with ServerProcess(SERVERS[request.param], EXAMPLES, f"{SECRET},{FORMER}") as process:
        yield process


def signed(body: str) -> list[tuple[str, str]]:
    return [(HEADER, webhooks.sign(body.encode(), SECRET))]


def test_deliveries_are_received(server: ServerProcess, sandbox: Sandbox) -> None:
    before = len(event_lines(server.output()))
    deliveries = deliver_events(sandbox, server.url)
    assert sorted(delivery["event"] for delivery in deliveries) == ["order.confirmed", "order.paid", "test.hook"]
    assert [[attempt["status"] for attempt in delivery["attempts"]] for delivery in deliveries] == [[200]] * 3
    seen = event_lines(server.output())[before:]
    assert sorted(seen) == sorted(event_line(delivery) for delivery in deliveries)
    for delivery in deliveries:
        assert delivery["body"] not in server.output() and delivery["signature"] not in server.output()


def test_each_delivery_gets_the_verifiers_answer(server: ServerProcess) -> None:
    assert post(server.port, BODY, SIGNED).told == (200, "")
    assert post(server.port, BODY, [(HEADER, webhooks.sign(BODY, FORMER))]).told == (200, "")
    assert post(server.port, iter([BODY[:7], BODY[7:]]), SIGNED).told == (200, "")
    assert post(server.port, BODY + b" ", SIGNED).told == (401, "mismatch")
    assert post(server.port, BODY, [(HEADER, webhooks.sign(BODY, OTHER))]).told == (401, "mismatch")
    assert post(server.port, b"", SIGNED).told == (401, "mismatch")
    assert post(server.port, BODY).told == (401, "missing")
    assert post(server.port, BODY, [(HEADER, SIGNATURE.upper())]).told == (400, "malformed")
    assert post(server.port, BODY, [*SIGNED, (HEADER, "0" * 64)]).told == (400, "malformed")


def test_large_bodies(server: ServerProcess) -> None:
    whole = BODY + b" " * (MIB - len(BODY))
    assert post(server.port, whole, [(HEADER, webhooks.sign(whole, SECRET))]).told == (200, "")
    # The server answers although the body never arrives.
    assert post_head(server.port, MIB + 1).told == (413, "body_too_large")
    assert post(server.port, iter([whole, b" "]), SIGNED).told == (413, "body_too_large")


def test_the_shared_deliveries(server: ServerProcess) -> None:
    answers = {
        each["name"]: post(server.port, each["body"].encode(), signed(each["body"])).status for each in DELIVERIES
    }
    assert answers == {each["name"]: each["status"] for each in DELIVERIES}
    assert "Traceback" not in server.output()


def test_senders_that_stop(server: ServerProcess) -> None:
    """A stopped sender gets 408 after ten seconds. A sender that disconnects causes no error in the log."""
    slow = [half_body(server.port, chunked=chunked) for chunked in (False, True)]
    for sent, chunked in ((0, False), (11, False), (11, True)):
        for reset in (False, True):
            disconnect(half_body(server.port, sent=sent, chunked=chunked), reset=reset)
    for connection in slow:
        assert read_all(connection).startswith("HTTP/1.1 408 ")
    assert post(server.port, BODY, SIGNED).told == (200, "")
    assert "Traceback" not in server.output() and "ERROR" not in server.output().upper()
