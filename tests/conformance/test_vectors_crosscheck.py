"""Tests that the webhook vectors are the output of their script, and agree with Python's hmac and with openssl."""

from __future__ import annotations

import hmac
import re
import subprocess
import sys
from typing import Any

import pytest

from .fixtures import FOLDER, body_bytes, load, text_or_b64

CASES = load("webhook_vectors.json")["cases"]
STATUS = {"body_too_large": 413, "missing": 401, "malformed": 400, "mismatch": 401}
EVENTS = {
    "subscription.created",
    "subscription.updated",
    "subscription.renewed",
    "subscription.cancelled",
    "order.confirmed",
    "order.paid",
    "product.updated",
    "product.deleted",
    "product-group.updated",
    "product-group.deleted",
    "test.hook",
}


def _verdict(case: dict[str, Any], macs: list[str]) -> dict[str, Any]:
    """Returns the expected result of a case by the rules of verification. macs: the right signature for each
    secret."""
    signature = case.get("signature")
    if not case["secrets"] or any(len(text_or_b64(secret)) != 32 for secret in case["secrets"]):
        return {"verify": "ConfigError"}
    if len(body_bytes(case)) > case.get("max_body", 1 << 20):
        reason = "body_too_large"
    elif signature is None:
        reason = "missing"
    elif not re.fullmatch(rb"[0-9a-f]{64}", text_or_b64(signature), re.ASCII):
        reason = "malformed"
    elif signature not in macs:
        reason = "mismatch"
    else:
        return {"verify": "ok", "secret_index": macs.index(signature)}
    return {"verify": reason, "http_status": STATUS[reason]}


def _said(case: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in case["expect"].items() if key in ("verify", "secret_index", "http_status")}


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_each_vector_agrees_with_hmac(case: dict[str, Any]) -> None:
    macs = [hmac.new(text_or_b64(secret), body_bytes(case), "sha256").hexdigest() for secret in case["secrets"]]
    assert _said(case) == _verdict(case, macs)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_each_vector_agrees_with_openssl(case: dict[str, Any]) -> None:
    macs = [_openssl(text_or_b64(secret), body_bytes(case)) for secret in case["secrets"] if secret]
    if len(macs) < len(case["secrets"]):  # neither openssl nor billcore accepts an empty key
        assert case["expect"]["verify"] == "ConfigError"
    assert _said(case) == _verdict(case, macs)


def _openssl(key: bytes, body: bytes) -> str:
    command = ["openssl", "dgst", "-sha256", "-mac", "HMAC", "-macopt", f"hexkey:{key.hex()}", "-r"]
    done = subprocess.run(command, input=body, capture_output=True, check=True)
    return done.stdout.decode().split(" ")[0]


def test_files_are_what_their_script_makes() -> None:
    done = subprocess.run([sys.executable, "-B", FOLDER / "make_vectors.py", "--check"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_every_event_and_reason_is_there() -> None:
    names = {case["name"] for case in CASES}
    assert {f"{event}_{size}" for event in EVENTS - {"test.hook"} for size in ("full", "reduced")} <= names
    assert {"test.hook_null", "test.hook_object", "test.hook_integer"} <= names
    assert {case["expect"]["verify"] for case in CASES} == {"ok", "ConfigError", *STATUS}
    assert {case["expect"]["unwrap"] for case in CASES} == {"ok", "DecodeError", "SignatureError", "ConfigError"}
