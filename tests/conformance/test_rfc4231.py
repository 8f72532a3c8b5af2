"""Runs the test cases of RFC 4231 in every language, with the constructor that allows any key length."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from .drivers import Driver
from .fixtures import load

CASES: list[dict[str, Any]] = load("rfc4231.json")["cases"]
IDS = [case["name"] for case in CASES]


def _arguments(case: dict[str, Any]) -> dict[str, Any]:
    return {
        "body_b64": base64.b64encode(bytes.fromhex(case["data"])).decode(),
        "signature": case["mac"],
        "secrets": [{"b64": base64.b64encode(bytes.fromhex(case["key"])).decode()}],
        "any_key_length": True,
        "chunks": [1, 0, 3],
    }


@pytest.mark.parametrize("op", ["webhook.verify", "webhook.stream"])
@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_each_case_verifies_as_the_rfc_says(case: dict[str, Any], op: str, driver: Driver) -> None:
    reply = driver.run({"op": op, "args": _arguments(case)})
    if case["expect"] == "ok":
        assert reply == {"ok": {"secret_index": 0}}
    else:
        assert reply["error"]["class"] == "SignatureError" and reply["error"]["reason"] == case["expect"]


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_the_usual_constructor_refuses_these_keys(case: dict[str, Any], driver: Driver) -> None:
    args = _arguments(case) | {"any_key_length": False}
    assert driver.run({"op": "webhook.verify", "args": args})["error"]["class"] == "ConfigError"


def test_a_verifier_with_all_keys_tells_which_matched(driver: Driver) -> None:
    """One verifier has all keys; the `secret_index` of a result is the index of the key that matched."""
    keys = [_arguments(case)["secrets"][0] for case in CASES]
    for index, case in enumerate(CASES):
        reply = driver.run({"op": "webhook.verify", "args": _arguments(case) | {"secrets": keys}})
        first = keys.index(keys[index])
        assert reply == {"ok": {"secret_index": first}} or case["expect"] != "ok", case["name"]


def test_an_empty_key_is_refused_even_where_any_length_is_allowed(driver: Driver) -> None:
    for secrets in ([""], [], [_arguments(CASES[0])["secrets"][0], ""]):
        args = _arguments(CASES[0]) | {"secrets": secrets}
        assert driver.run({"op": "webhook.verify", "args": args})["error"]["class"] == "ConfigError"
