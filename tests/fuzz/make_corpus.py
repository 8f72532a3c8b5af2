"""Makes seeds of the fuzz targets from the shared fixtures: PYTHONPATH=tests python tests/fuzz/make_corpus.py FOLDER

The script writes a file to FOLDER/TARGET for each case that concerns the target, and dictionaries for libFuzzer:
FOLDER/TARGET.dict for a target with its own words, and FOLDER/fields.dict for all other targets.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import sys
from pathlib import Path
from typing import Any

from conformance.fixtures import body_bytes, load, text_or_b64
from fuzz import abi_corpus, client_corpus

MAX_SEED = 16 * 1024
HOW_MANY = 3  # the flags of request.hpp
SMALL_BODY, ODD_SECRETS, OTHER_HEADER, FRESH, EQUAL_SECRETS, WITHOUT_HEADER = 4, 8, 16, 32, 64, 128

# Requests with a right or wrong signature, in the format of request.hpp: (flags, lines of the head).
HEADS: list[tuple[int, list[str]]] = [
    (0, ["Service-Signature: %0"]),
    (1, ["Content-Type: application/json", "service-signature: %1"]),
    (3, ["SERVICE-SIGNATURE: %3", "Service-Signature: %3"]),
    (HOW_MANY | EQUAL_SECRETS, ["Service-Signature: %2"]),
    (ODD_SECRETS | HOW_MANY, ["Service-Signature: %1"]),
    (OTHER_HEADER, ["X-Signature: %0", "Service-Signature: %0"]),
    (FRESH, ["Service-Signature: %0"]),
    (SMALL_BODY, ["Service-Signature: %0"]),
    (WITHOUT_HEADER, ["x: %0"]),
    (WITHOUT_HEADER, []),
    (0, []),
    (1, ["Service-Signature: %0", "Service-Signature: %1"]),
    (0, ["Service-Signature: %A"]),
    (0, ["Service-Signature:  %0 "]),
    (0, ["Service-Signature: sha256=%0"]),
    (0, ["Service-Signature: %0%n"]),
    (0, ["Service-Signature: %0%z"]),
    (0, ["Service-Signature: \N{FULLWIDTH DIGIT ZERO}%0"]),
    (0, ["Service-Signature: "]),
    (0, ["Service-Signature: %3"]),
]


def data_text(body: str) -> str | None:
    """Returns the text of the member `data` in the body."""
    for place in re.finditer(r'"data"\s*:\s*', body):
        try:
            _, end = json.JSONDecoder().raw_decode(body, place.end())
        except (ValueError, RecursionError):
            continue
        return body[place.end() : end]
    return None


def head_of(case: dict[str, Any]) -> bytes:
    """Returns the signature header of a vector. Each right signature is replaced by `%0`, `%1` …, because the targets
    use other secrets."""
    if case.get("signature") is None:
        return b""
    signature = text_or_b64(case["signature"])
    right = [hmac.new(text_or_b64(s), body_bytes(case), hashlib.sha256).hexdigest().encode() for s in case["secrets"]]
    for index, one in enumerate(right[:4]):
        signature = signature.replace(one, b"%%%d" % index).replace(one.upper(), b"%" + b"ABCD"[index : index + 1])
    return b"Service-Signature: " + signature.replace(b"\n", b"%n") + b"\n"


def seeds() -> dict[str, set[bytes]]:
    out: dict[str, set[bytes]] = {name: set() for name in ("header", "envelope", "value")}
    cases = load("webhook_vectors.json")["cases"]
    for case in cases:
        body = body_bytes(case)
        if len(body) > MAX_SEED:
            continue
        flags = (max(len(case["secrets"]), 1) - 1) & HOW_MANY
        out["header"].add(bytes([flags]) + head_of(case) + b"\n" + body)
        out["envelope"].add(body)
        out["value"].add(body)
        data = data_text(body.decode("utf-8", "replace"))
        if data is not None:
            out["value"].add(data.encode() + b"\0" + data.encode())
    event = b'{"id":90210,"name":"order.paid","account":17,"created_at":"2025-04-25T07:30:00Z","data":null}'
    for flags, lines in HEADS:
        head = "".join(line + "\n" for line in lines).encode()
        for body in (event, event.replace(b"order.paid", b"test.hook"), b"", b"\xef\xbb\xbf{}\r\n", b"eyJpZCI6MX0="):
            out["header"].add(bytes([flags]) + head + b"\n" + body)
    return out


def dictionary() -> list[bytes]:
    words = {f'"{row["field"]}":' for row in load("fields.json")["rows"]}
    words |= {f'"{name}":' for name in ("id", "name", "account", "data", "value", "label", "type", "src", "link", "x")}
    words |= {f'"{kind}.{what}"' for kind in ("subscription", "order") for what in ("created", "renewed", "paid")}
    words |= {'"product.updated"', '"product-group.deleted"', '"test.hook"', '"2025-04-25T07:30:00.5+02:00"'}
    words |= {"null", "true", "[", "{", "}", "]", ",", "0", "-0", "1e400", "-1e-400", "0.1"}
    words |= {"\\u0000", "\\ud83d\\ude00", "\\ud83d"}
    words |= {"9223372036854775807", "-9223372036854775808", "18446744073709551616", "\n\n", "\r\n"}
    words |= {"Service-Signature: %0\n", "service-signature: ", "X-Signature: ", "sha256="}
    words |= {"%1", "%2", "%A", "%n", "%z"}
    return sorted({word.encode() for word in words} | {b"\xef\xbb\xbf", b"\xed\xa0\x80", b"\0"})


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    corpus = seeds() | client_corpus.seeds() | {"abi": abi_corpus.seeds()}
    for target, texts in corpus.items():
        place = folder / target
        place.mkdir(parents=True, exist_ok=True)
        for text in texts:
            (place / hashlib.sha256(text).hexdigest()[:16]).write_bytes(text)
    dictionaries = {"fields": dictionary()} | client_corpus.dictionaries()
    for name, words in dictionaries.items():
        quoted = ("".join(rf"\x{byte:02x}" for byte in word) for word in words)
        (folder / f"{name}.dict").write_text("".join(f'"{word}"\n' for word in quoted))


if __name__ == "__main__":
    main()
