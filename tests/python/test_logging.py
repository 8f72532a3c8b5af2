"""The logger "billcore": attempts at DEBUG, retries at INFO, and no secret in any record."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import billcore
from conformance.server import Reply, Request

from .support import API_KEY, ORDER, SUBSCRIPTION, data
from .test_hooks import Recorder, drive, each_kind


@pytest.fixture
def listening(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    with caplog.at_level(logging.DEBUG, "billcore"):
        yield caplog


@each_kind
def test_attempts_and_retries_are_logged(kind: str, listening: pytest.LogCaptureFixture) -> None:
    replies = [Reply(status=503, headers={"X-Request-Id": "req_1"}), Reply(raw=b"", ending="reset"), data(SUBSCRIPTION)]
    drive(kind, replies, lambda c: c.subscriptions.get("secret-id"), max_retries=2)
    lines = [(r.levelname, r.getMessage()) for r in listening.records if r.name == "billcore"]
    assert [level for level, _ in lines] == ["DEBUG", "INFO", "DEBUG", "INFO", "DEBUG"]
    assert lines[0][1].startswith("GET /subscription/{id}: 503 after ")
    assert lines[0][1].endswith(" ms (attempt 1, request id req_1)")
    assert lines[1][1].startswith("GET /subscription/{id}: 503, again in ") and lines[1][1].endswith(
        "(attempt 2, request id req_1)"
    )
    assert lines[2][1].startswith("GET /subscription/{id}: ConnectionError after ")
    assert lines[4][1].startswith("GET /subscription/{id}: 200 after ")


def echo(request: Request) -> Reply:
    """Answers 503, with the API key of the request in several headers."""
    key = request.header("X-API-KEY") or ""
    headers = {"X-Request-Id": f"req-{key}", "X-Echo": key, "Retry-After": "0"}
    return Reply(status=503, headers=headers, body=b'{"error": {"code": "x", "message": "secret-body"}}')


@each_kind
def test_secrets_are_in_no_record(kind: str, listening: pytest.LogCaptureFixture) -> None:
    calls: list[Callable[[Any], Any]] = [
        lambda c: c.subscriptions.get("secret-id"),
        lambda c: c.subscriptions.charge("secret-id", product_id=1, amount=1, description="secret-body"),
        lambda c: c.subscriptions.list(reference_id="secret-id").collect(),
        lambda c: c.request("POST", "/subscription/secret-id/cancel", query={"q": "secret-id"}, json="secret-body"),
    ]
    hooks = Recorder()
    for call in calls:
        headers = {"X-Extra": "secret-header"}
        assert isinstance(drive(kind, echo, call, max_retries=1, headers=headers, hooks=hooks), billcore.ServerError)
    own = [record for record in listening.records if record.name == "billcore"]
    assert len(own) >= 8 and max(record.levelno for record in own) <= logging.INFO
    texts = [record.getMessage() + repr(vars(record)) for record in own]
    texts += [repr([getattr(attempt, name) for name in dir(attempt)]) for _, attempt in hooks.told]
    for text in texts:
        for secret in (API_KEY, "secret-id", "secret-body", "secret-header", "127.0.0.1"):
            assert secret not in text


@each_kind
def test_without_logging_nothing_is_recorded(kind: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "billcore"):
        drive(kind, [Reply(status=503), data(ORDER)], lambda c: c.orders.get("o"), max_retries=1)
    assert [record for record in caplog.records if record.name == "billcore"] == []
