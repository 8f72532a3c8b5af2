"""Verifies 10,000 damaged deliveries in C++, and 1,000 in every other language. verdict() computes the expected results
with Python's hmac."""

from __future__ import annotations

import base64
import hmac
import random
from collections.abc import Callable
from typing import Any

from .drivers import EMPTY_IS_MISSING, Driver
from .fixtures import body_bytes, load, text_or_b64

GOOD = [
    (body_bytes(case), text_or_b64(case["signature"]), [text_or_b64(secret) for secret in case["secrets"]])
    for case in load("webhook_vectors.json")["cases"]
    if case["expect"]["verify"] == "ok" and len(body_bytes(case)) <= 4096
]
STATUS = {"missing": 401, "malformed": 400, "mismatch": 401}
Delivery = tuple[bytes, bytes | None, list[bytes]]


def verdict(body: bytes, signature: bytes | None, secrets: list[bytes]) -> int | str:
    """Returns the index of the first secret that matches, or the reason for a refusal. The size of the body is not
    checked, because no body in this test exceeds the limit."""
    if len(secrets) == 0 or {len(secret) for secret in secrets} != {32}:
        return "ConfigError"
    if signature is None:
        return "missing"
    if len(signature) != 64 or not set(signature) <= set(b"0123456789abcdef"):
        return "malformed"
    for index, secret in enumerate(secrets):
        if hmac.new(secret, body, "sha256").hexdigest() == signature.decode():
            return index
    return "mismatch"


def _flip_bit(text: bytearray, at: int, chance: random.Random) -> None:
    text[at] ^= 1 << chance.randrange(8)


def _set_byte(text: bytearray, at: int, chance: random.Random) -> None:
    text[at] = chance.choice([0, 10, 32, 48, 97, 102, 103, 255, chance.randrange(256)])


def _cut(text: bytearray, at: int, chance: random.Random) -> None:
    text[:] = text[:at] if chance.random() < 0.5 else text[at:]


def _delete(text: bytearray, at: int, chance: random.Random) -> None:
    del text[at : at + chance.choice([1, 1, 2, 8])]


def _insert(text: bytearray, at: int, chance: random.Random) -> None:
    at = chance.choice([0, at, len(text)])
    text[at:at] = chance.choice([b" ", b"\n", b"\0", b"0", b"a", b"\xef\xbb\xbf", b"sha256=", chance.randbytes(3)])


def _change_case(text: bytearray, at: int, chance: random.Random) -> None:
    part = slice(at, at + chance.choice([1, 64]))
    text[part] = bytes(text[part]).swapcase()


def _swap(text: bytearray, at: int, chance: random.Random) -> None:
    other = chance.randrange(len(text))
    text[at], text[other] = text[other], text[at]


def _repeat(text: bytearray, at: int, chance: random.Random) -> None:
    text += text[at:]


CHANGES: list[Callable[[bytearray, int, random.Random], None]] = [
    _flip_bit,
    _set_byte,
    _cut,
    _delete,
    _insert,
    _change_case,
    _swap,
    _repeat,
]


def _change(text: bytes, chance: random.Random) -> bytes:
    changed = bytearray(text)
    for _ in range(chance.choice([1, 1, 1, 2, 3])):
        if changed:
            chance.choice(CHANGES)(changed, chance.randrange(len(changed)), chance)
    return bytes(changed)


PLANS = ["", "body", "signature", "signature", "secret", "list", "body signature", "swap", "other"]


def mutate(chance: random.Random) -> Delivery:
    body, signature, secrets = chance.choice(GOOD)
    secrets = list(secrets)
    for part in chance.choice(PLANS).split():
        if part == "body":
            body = _change(body, chance)
        elif part == "signature":
            signature = _change(signature, chance)
        elif part == "secret":
            index = chance.randrange(len(secrets))
            secrets[index] = _change(secrets[index], chance)
        elif part == "list":  # adds wrong secrets, and may remove the right one
            secrets += [chance.randbytes(32) for _ in range(chance.randrange(3))]
            chance.shuffle(secrets)
            secrets = secrets[: chance.randrange(len(secrets) + 1)]
        elif part == "swap":  # takes body and signature from another delivery
            body, signature, _ = chance.choice(GOOD)
        else:
            return body, None if chance.random() < 0.5 else _change(signature, chance), secrets
    return body, signature, secrets


def _encoded(value: bytes) -> dict[str, str]:
    return {"b64": base64.b64encode(value).decode()}


def _run(driver: Driver, delivery: Delivery, chunks: list[int] | None) -> int | str:
    body, signature, secrets = delivery
    args: dict[str, Any] = {
        "body_b64": base64.b64encode(body).decode(),
        "signature": None if signature is None else _encoded(signature),
        "secrets": [_encoded(secret) for secret in secrets],
    }
    if chunks is not None:
        args["chunks"] = chunks
    reply = driver.run({"op": "webhook.verify" if chunks is None else "webhook.stream", "args": args})
    if "ok" in reply:
        index = reply["ok"]["secret_index"]
        assert type(index) is int
        return index
    error = reply["error"]
    if error["class"] == "ConfigError":
        return "ConfigError"
    assert error["class"] == "SignatureError", error
    assert error["http_status"] == STATUS[error["reason"]], error
    return str(error["reason"])


def test_mutated_deliveries_get_the_verdict_of_the_rules(driver: Driver, language: str) -> None:
    chance = random.Random("mutations")
    for number in range(10_000 if language == "cpp" else 1_000):
        delivery = mutate(chance)
        chunks = [chance.randrange(200) for _ in range(4)] if chance.random() < 0.25 else None
        got, wanted = _run(driver, delivery, chunks), verdict(*delivery)
        if delivery[1] == b"" and wanted == "malformed" and language in EMPTY_IS_MISSING:
            wanted = "missing"
        assert got == wanted, f"case {number}: {got!r}, not {wanted!r}, of {delivery!r} in pieces of {chunks}"
