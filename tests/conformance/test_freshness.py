"""Tests the freshness check in every language: the maximum age of an event, and that the signature is checked
first."""

from __future__ import annotations

import base64
import hmac
from datetime import UTC, datetime
from typing import Any

import pytest

from .drivers import STATUS, Driver
from .fixtures import body_bytes, load, text_or_b64

CASES: list[dict[str, Any]] = load("freshness.json")["cases"]
IDS = [case["name"] for case in CASES]


def _arguments(case: dict[str, Any]) -> dict[str, Any]:
    args = {key: case[key] for key in ("signature", "secrets", "now", "freshness", "max_body") if key in case}
    return args | {"body_b64": base64.b64encode(body_bytes(case)).decode()}


def _check(case: dict[str, Any], wanted: str, reply: dict[str, Any]) -> None:
    if wanted == "ok":
        assert "ok" in reply, reply
        return
    assert "error" in reply, "accepted"
    error = reply["error"]
    assert error["class"] == (wanted if wanted in STATUS else "SignatureError"), error
    if error["class"] == "SignatureError":
        assert (error["reason"], error["http_status"]) == (case["expect"]["verify"], case["expect"]["http_status"])
    assert "\n" not in error["message"] and text_or_b64(case["secrets"][0]).decode() not in error["message"]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_verify(case: dict[str, Any], driver: Driver) -> None:
    reply = driver.run({"op": "webhook.verify", "args": _arguments(case)})
    _check(case, case["expect"]["verify"], reply)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_unwrap(case: dict[str, Any], driver: Driver) -> None:
    args = _arguments(case) | {"read": ["name"]}
    _check(case, case["expect"]["unwrap"], driver.run({"op": "webhook.unwrap", "args": args}))
    fields = [] if case["signature"] is None else [["SERVICE-signature", case["signature"]]]
    args = args | {"headers": fields}
    _check(case, case["expect"]["unwrap"], driver.run({"op": "webhook.unwrap_request", "args": args}))


def test_without_freshness_no_event_is_stale(driver: Driver) -> None:
    stale = [case for case in CASES if case["expect"]["verify"] == "stale"]
    assert len(stale) > 20
    for case in stale:
        args = {key: value for key, value in _arguments(case).items() if key != "freshness"}
        assert driver.run({"op": "webhook.verify", "args": args}) == {"ok": {"secret_index": 0}}, case["name"]


def test_the_clock_of_the_system(driver: Driver) -> None:
    secret = "whsec-0123456789abcdefghijklmnop"
    for created, wanted in ((datetime.now(UTC).isoformat(), None), ("2001-01-01T00:00:00Z", "stale")):
        body = f'{{"id":1,"name":"order.paid","created_at":"{created}"}}'.encode()
        args = {
            "body_b64": base64.b64encode(body).decode(),
            "signature": hmac.new(secret.encode(), body, "sha256").hexdigest(),
            "secrets": [secret],
            "freshness": 3600,
        }
        reply = driver.run({"op": "webhook.verify", "args": args})
        assert ("ok" in reply) if wanted is None else reply["error"]["reason"] == wanted, reply


def test_a_stream_has_no_freshness(driver: Driver) -> None:
    args = _arguments(CASES[0]) | {"chunks": []}
    assert driver.run({"op": "webhook.stream", "args": args})["error"]["class"] == "ConfigError"
