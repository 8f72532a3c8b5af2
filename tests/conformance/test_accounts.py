"""Tests a verifier for several accounts in every language: whose secret may sign whose event."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from .drivers import Driver
from .fixtures import body_bytes, load

CASES: list[dict[str, Any]] = load("accounts.json")["cases"]
IDS = [case["name"] for case in CASES]


def _arguments(case: dict[str, Any]) -> dict[str, Any]:
    return {
        "body_b64": base64.b64encode(body_bytes(case)).decode(),
        "signature": case["signature"],
        "accounts": case["accounts"],
    }


def _all_secrets(case: dict[str, Any]) -> list[str]:
    return [secret for each in case["accounts"] for secret in each["secrets"]]


def _check(case: dict[str, Any], reply: dict[str, Any]) -> None:
    wanted = case["expect"]["unwrap"]
    if wanted == "ok":
        assert "ok" in reply, reply
        return
    assert "error" in reply, "accepted"
    error = reply["error"]
    if wanted == "mismatch":
        found = (error["class"], error["reason"], error["http_status"])
        assert found == ("SignatureError", "mismatch", case["expect"]["http_status"])
    else:
        assert error["class"] == wanted, error
    assert "\n" not in error["message"]
    assert not any(secret and secret in str(error) for secret in _all_secrets(case))


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_unwrap(case: dict[str, Any], driver: Driver) -> None:
    args = _arguments(case) | {"read": []}
    _check(case, driver.run({"op": "webhook.unwrap", "args": args}))
    args["headers"] = [["SERVICE-signature", args.pop("signature")]]
    _check(case, driver.run({"op": "webhook.unwrap_request", "args": args}))


@pytest.mark.parametrize("case", [case for case in CASES if case["expect"]["unwrap"] != "ConfigError"][::6])
def test_verify_and_stream_see_no_account(case: dict[str, Any], driver: Driver) -> None:
    for op in ("verify", "stream"):
        error = driver.run({"op": f"webhook.{op}", "args": _arguments(case) | {"chunks": []}})["error"]
        assert error["class"] == "ConfigError" and "call unwrap" in error["message"], error


def test_matches(driver: Driver) -> None:
    """The secret of the named account is counted, even if another account has the same; a refused event is not."""
    cases = [case for case in CASES if case["accounts"] == CASES[0]["accounts"]]
    counts = [0] * len(_all_secrets(CASES[0]))
    for case in cases:
        if case["expect"]["unwrap"] == "ok":
            counts[case["expect"]["matched"]] += 1
    assert all(counts)
    deliveries = [{name: _arguments(case)[name] for name in ("body_b64", "signature")} for case in cases]
    args = {"accounts": CASES[0]["accounts"], "deliveries": deliveries}
    assert driver.run({"op": "webhook.matches", "args": args}) == {"ok": {"matches": counts}}


def test_an_unsigned_body_is_not_parsed(driver: Driver) -> None:
    """The other reasons come first, and freshness last, as with any verifier."""
    case = CASES[0]
    good = _arguments(case) | {"read": []}
    old = {"freshness": 1, "now": 0}
    forged = _arguments(next(case for case in CASES if case["name"] == "another_accounts_secret")) | {"read": []}
    for args, reason in (
        (good | {"max_body": 3}, "body_too_large"),
        (good | {"signature": None}, "missing"),
        (good | {"signature": "x"}, "malformed"),
        (good | {"signature": "0" * 64}, "mismatch"),
        (good | old, "stale"),
        (forged | old, "mismatch"),
    ):
        assert driver.run({"op": "webhook.unwrap", "args": args})["error"]["reason"] == reason
