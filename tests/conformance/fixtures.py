"""Loads the shared fixtures as Python values, and compares an answer with the answer that a fixture expects."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent.parent / "fixtures"
ACCOUNT = "/0b7e5a52-3f0e-4c55-9d8c-1f2a3b4c5d6e"
API_KEY = "key_wire_0123456789"

Json = Any


def load(name: str) -> Json:
    return json.loads((FOLDER / name).read_text("utf-8"))


def wire_cases() -> list[dict[str, Json]]:
    paths = sorted((FOLDER / "wire").glob("[!_]*.json"))
    assert paths, "no wire fixtures found"
    return [json.loads(path.read_text("utf-8")) for path in paths]


def with_examples(value: Json, examples: dict[str, Json] | None = None) -> Json:
    """Replaces every {"$example": NAME, "with": {…}} in the value by the example resource NAME, in which the members of
    "with" replace those of the same name."""
    examples = load("wire/_examples.json") if examples is None else examples
    if isinstance(value, list):
        return [with_examples(item, examples) for item in value]
    if isinstance(value, dict):
        if "$example" in value:
            return examples[value["$example"]] | value.get("with", {})
        return {key: with_examples(item, examples) for key, item in value.items()}
    return value


def body_bytes(case: dict[str, Json]) -> bytes:
    """Returns the body of a webhook vector."""
    if "body_text" in case:
        return str(case["body_text"]).encode()
    if "body_b64" in case:
        return base64.b64decode(case["body_b64"])
    return b"".join(part["repeat"].encode() * part["count"] for part in case["body_parts"])


def text_or_b64(value: Json) -> bytes:
    return base64.b64decode(value["b64"]) if isinstance(value, dict) else str(value).encode()


def differences(expected: Json, actual: Json, path: str = "") -> list[str]:
    """Returns a text for each difference. An object in `actual` may have members that `expected` lacks; everything else
    must be equal."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        found: list[str] = []
        for key, value in expected.items():
            if key not in actual:
                found.append(f"{path}.{key}: missing, expected {value!r}")
            else:
                found += differences(value, actual[key], f"{path}.{key}")
        return found
    if isinstance(expected, list) and isinstance(actual, list):
        if len(expected) != len(actual):
            return [f"{path}: {len(actual)} items, expected {len(expected)}: {actual!r}"]
        return [
            text
            for n, (a, b) in enumerate(zip(expected, actual, strict=True))
            for text in differences(a, b, f"{path}[{n}]")
        ]
    same_kind = isinstance(expected, bool) == isinstance(actual, bool)
    return [] if same_kind and expected == actual else [f"{path}: {actual!r}, expected {expected!r}"]
