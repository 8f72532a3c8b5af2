"""Runs Wycheproof's cases of HMAC-SHA256: billcore must accept each right tag of full length, and no other tag."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from billcore import webhooks

WHOLE = 256  # bits of a complete tag; billcore accepts no shorter tag, such as those of 128 bits
SECRET = 32  # bytes: the only key length that verify() accepts
# Number of cases in the pinned release, for each tag size and result.
COUNTS = {(WHOLE, "valid"): 33, (WHOLE, "invalid"): 54, (128, "valid"): 33, (128, "invalid"): 54}

Case = dict[str, Any]


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    suite = json.loads(Path(os.environ["BILLCORE_WYCHEPROOF"]).read_text("utf-8"))
    assert suite["algorithm"] == "HMACSHA256"
    return [case | {"size": group["tagSize"]} for group in suite["testGroups"] for case in group["tests"]]


def _ways(case: Case) -> list[tuple[str, Any]]:
    """Returns the functions that check a signature, each with its name."""
    key, body = bytes.fromhex(case["key"]), bytes.fromhex(case["msg"])
    verifier = webhooks.Verifier.allowing_any_key_length(key)

    def stream(signature: str) -> object:
        check = verifier.stream()
        for begin in range(0, len(body), 7):
            check.update(body[begin : begin + 7])
        return check.finish(signature)

    ways: list[tuple[str, Any]] = [("Verifier", lambda signature: verifier.verify(body, signature)), ("stream", stream)]
    if len(key) == SECRET:
        ways.append(("verify", lambda signature: webhooks.verify(body, signature, key)))
    return ways


def _accepts(way: Any, signature: str) -> bool:
    try:
        return bool(way(signature))
    except webhooks.SignatureError:
        return False


def test_every_kind_of_case_is_there(cases: list[Case]) -> None:
    assert Counter((case["size"], case["result"]) for case in cases) == COUNTS


def test_only_tags_that_are_right_and_whole_are_accepted(cases: list[Case]) -> None:
    wrong = []
    for case in cases:
        expected = case["result"] == "valid" and case["size"] == WHOLE
        wrong += [
            (case["tcId"], case["comment"], name)
            for name, way in _ways(case)
            if _accepts(way, case["tag"]) is not expected
        ]
    assert wrong == []


def test_sign_makes_the_valid_tag_of_each_case(cases: list[Case]) -> None:
    """For keys of 32 bytes, sign() must return the valid tag of each case. A short tag is the beginning of the whole
    tag."""
    tried = [case for case in cases if len(case["key"]) == 2 * SECRET]
    for case in tried:
        made = webhooks.sign(bytes.fromhex(case["msg"]), bytes.fromhex(case["key"]))
        assert made.startswith(case["tag"]) is (case["result"] == "valid"), case["tcId"]
    assert {case["result"] for case in tried} == {"valid", "invalid"}
