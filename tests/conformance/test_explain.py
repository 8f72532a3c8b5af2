"""Tests explain() in every language: it must find each cause of a failure, and its text must not show a secret."""

from __future__ import annotations

import base64
import hmac
import json
import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from .drivers import Driver
from .fixtures import body_bytes, load, text_or_b64

CASES: list[dict[str, Any]] = load("explain.json")["cases"]
VERDICTS = {
    "found": re.compile(
        r"Found: secret \d+ of \d+ gives this signature after correcting (\d+) faults? \(body of \d+ bytes?\)\."
    ),
    "no_fault": re.compile(
        r"No fault in what was given: secret \d+ of \d+ gives this signature for this body \(\d+ bytes?\)\."
    ),
    "no_cause": re.compile(r"No cause found: none of \d+ combinations gives this signature"),
    "nothing": re.compile(r"Nothing to compare: "),
}


def run(driver: Driver, body: bytes, signature: Any, secrets: list[Any], headers: Any = ()) -> str:
    args = {"body_b64": base64.b64encode(body).decode(), "signature": signature, "secrets": secrets}
    args["headers"] = headers
    reply = driver.run({"op": "webhook.explain", "args": args})
    assert reply.keys() == {"ok"}, reply
    text = reply["ok"]["text"]
    check_text(text, body, text_or_b64(signature) if signature is not None else b"", [*map(text_or_b64, secrets)])
    return str(text)


def check_text(text: str, body: bytes, signature: bytes, secrets: list[bytes]) -> None:
    """Checks the conditions that every text of explain() must meet."""
    first, *rest = text.split("\n")
    assert any(pattern.match(first) for pattern in VERDICTS.values()), first
    assert rest and all(line.startswith("- ") for line in rest[:-1]), text
    assert rest[-1].startswith("This explains and accepts nothing") and "does not belong in a request path" in rest[-1]
    right = [hmac.new(secret, body, "sha256").hexdigest() for secret in secrets]
    accepted = signature.decode("latin-1") in right and all(len(secret) == 32 for secret in secrets)
    assert first.startswith("No fault") == accepted, first
    assert not re.search(r"\b(valid|verified|accepted|authentic|trust)", text.replace("not valid UTF-8", "")), text
    check_nothing_shows(text, [body, signature, *secrets, *(mac.encode() for mac in right)])


def check_nothing_shows(text: str, hidden: list[bytes]) -> None:
    """Checks that no run of 12 bytes of an input, nor of its hex or base64, appears in the text."""
    for value in hidden:
        for form in (value, value.hex().encode(), base64.b64encode(value)):
            letters = form[:200].decode("latin-1")
            pieces = {letters[i : i + 12] for i in range(len(letters) - 11)}
            assert not any(piece in text for piece in pieces if len(set(piece)) > 4), text
        if 6 <= len(value) < 12:
            assert value.decode("latin-1") not in text or value in WORDS, text


WORDS = {b"undefined", b"payload", b"sha256="}  # explain() uses these words even if the input does not contain them


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_each_cause_is_named(case: dict[str, Any], driver: Driver) -> None:
    text = run(driver, body_bytes(case), case["signature"], case["secrets"], case.get("headers", ()))
    expect = case["expect"]
    verdict = VERDICTS[expect["verdict"]].match(text)
    assert verdict, text
    if "faults" in expect:
        assert int(verdict[1]) == expect["faults"] == len(text.split("\n")) - 2, text
    for part in expect["says"]:
        assert part in text, f"{part!r} is not in:\n{text}"
    for part in expect.get("never", []):
        assert part not in text, f"{part!r} is in:\n{text}"


SECRET = b"whsec-0123456789abcdefghijklmnop"


def _odd_input(chance: random.Random) -> tuple[bytes, Any, list[Any]]:
    """Returns a body, a signature and secrets as a confused user might pass them: sometimes right, mostly wrong."""
    values: list[Any] = [None, True, 1, -0.5, 'å/\\"\u2028', [], {}, [[{"a": [1]}]], "x" * 40, 10**30]
    picked = [chance.choice(values) for _ in range(chance.randrange(4))]
    body = json.dumps(picked if chance.random() < 0.7 else dict(zip("abcd", picked, strict=False))).encode()
    if chance.random() < 0.2:
        body = chance.randbytes(chance.randrange(60))
    secret = chance.choice([SECRET, chance.randbytes(32), chance.randbytes(chance.randrange(70)), b"\n " + SECRET])
    signature: bytes | None = (
        hmac.new(chance.choice([secret, secret.strip(), SECRET]), body, "sha256").hexdigest().encode()
    )
    assert signature is not None
    noise: list[bytes] = [
        b"",
        b" ",
        b"'",
        b'"',
        b"sha256=",
        b",",
        b"=",
        b"\0",
        b"\xff",
        b"0x",
        b"=" * 9,
        b"%",
        b"\\n",
        b"A",
    ]
    for _ in range(chance.randrange(3)):
        at = chance.choice([0, len(signature), chance.randrange(len(signature) + 1)])
        signature = signature[:at] + chance.choice(noise) + signature[at:]
    wrap: list[Callable[[bytes], bytes]] = [
        lambda b: b,
        lambda b: b,
        base64.b64encode,
        lambda b: b + b"\n",
        lambda b: b'"' + b + b'"',
        lambda b: b"{" + b,
        lambda b: b"\xef\xbb\xbf" + b,
        lambda b: b.replace(b" ", b""),
        lambda b: b"payload=" + b.replace(b'"', b"%22") + b"%",
        lambda b: b.replace(b'"', b'\\"'),
        lambda b: b[: len(b) // 2],
        lambda b: b'{"body":' + json.dumps(b.decode("latin-1")).encode() + b"}",
    ]
    for _ in range(chance.randrange(3)):
        body = chance.choice(wrap)(body)
    secrets = [secret] * chance.choice([0, 1, 1, 1, 2])
    if secrets and chance.random() < 0.3:
        secrets.insert(
            chance.randrange(2), chance.choice([b"", b"short", SECRET, b"sk_live_abc", b"=" * 40, b"\0" * 33])
        )
    as_json = [{"b64": base64.b64encode(one).decode()} for one in secrets]
    given = None if chance.random() < 0.03 else {"b64": base64.b64encode(signature).decode()}
    return body, given, as_json


def test_any_input_is_explained(driver: Driver, language: str) -> None:
    """run() checks that explain() never fails, never accepts a signature that Python's hmac refuses, and shows no
    input."""
    chance = random.Random(1)
    for _ in range(1000 if language == "cpp" else 100):
        run(driver, *_odd_input(chance))
