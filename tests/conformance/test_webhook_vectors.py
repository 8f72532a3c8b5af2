"""Runs every webhook vector in every language: verify (the whole body and in chunks), unwrap, the getters, and
sign."""

from __future__ import annotations

import base64
import hmac
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from .drivers import EMPTY_IS_MISSING, STATUS, Driver
from .fixtures import FOLDER, body_bytes, differences, load, text_or_b64

CASES = load("webhook_vectors.json")["cases"]
GOOD = [case for case in CASES if case["expect"]["verify"] == "ok"]


def _arguments(case: dict[str, Any]) -> dict[str, Any]:
    args = {
        "body_b64": base64.b64encode(body_bytes(case)).decode(),
        "signature": case.get("signature"),
        "secrets": case["secrets"],
    }
    return args | ({"max_body": case["max_body"]} if "max_body" in case else {})


def _check_refusal(case: dict[str, Any], error: dict[str, Any], *, empty_is_missing: bool = False) -> None:
    expect = case["expect"]
    if case.get("signature") == "" and empty_is_missing:
        expect = expect | {"verify": "missing", "http_status": 401}
    if expect["verify"] == "ConfigError":
        assert error["class"] == "ConfigError", error
    else:
        assert (error["class"], error["reason"]) == ("SignatureError", expect["verify"]), error
        assert error["http_status"] == expect["http_status"]
    _check_words(case, error)


def _check_words(case: dict[str, Any], error: dict[str, Any]) -> None:
    """Checks that an error's message is one line, that its status fits its class, and that it shows no secret, body
    or signature."""
    assert error["status"] == STATUS[error["class"]]
    assert error["message"].strip() and "\n" not in error["message"]
    said = json.dumps(error, ensure_ascii=False)
    body = body_bytes(case).decode("utf-8", "replace")
    for hidden in [text_or_b64(secret).decode("latin-1") for secret in case["secrets"]] + [body]:
        assert len(hidden.strip()) < 16 or hidden not in said, "a secret or the body is in the error"
    macs = [hmac.new(text_or_b64(secret), body_bytes(case), "sha256").hexdigest() for secret in case["secrets"]]
    assert not any(mac in said for mac in macs), "the right signature is in the error"
    given = case.get("signature")
    if isinstance(given, str) and len(given) >= 31:
        assert given not in said, "the signature is in the error"


# One test makes all calls of a case: pytest takes longer for a test than a driver for a call.
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_case(case: dict[str, Any], driver: Driver, language: str) -> None:
    empty_is_missing = language in EMPTY_IS_MISSING
    _verify(case, driver, empty_is_missing=empty_is_missing)
    _stream(case, driver, empty_is_missing=empty_is_missing)
    _unwrap(case, driver, empty_is_missing=empty_is_missing)
    _unwrap_request(case, driver)
    if case in GOOD:
        _parse_unverified(case, driver)
        _sign(case, driver)


def _verify(case: dict[str, Any], driver: Driver, *, empty_is_missing: bool) -> None:
    reply = driver.run({"op": "webhook.verify", "args": _arguments(case)})
    if case["expect"]["verify"] == "ok":
        assert reply == {"ok": {"secret_index": case["expect"]["secret_index"]}}
    else:
        assert "error" in reply, "accepted"
        _check_refusal(case, reply["error"], empty_is_missing=empty_is_missing)


# Each function returns the sizes of the chunks, except the last one, for a body of the given size; the last chunk is
# the remaining bytes.
CHUNKS: dict[str, Callable[[int], list[int]]] = {
    "whole": lambda size: [],
    "bytes": lambda size: [1] * min(size + 1, 300),
    "blocks": lambda size: [64] * min(size // 64, 300),
    "beside_blocks": lambda size: [63, 1, 65, 0, 127],
    "empty_ones": lambda size: [0, size // 2, 0, size, 0],
}


def _stream(case: dict[str, Any], driver: Driver, *, empty_is_missing: bool) -> None:
    size = len(body_bytes(case))
    for name, chunks in CHUNKS.items():
        if size > 1 << 16 and name not in ("blocks", "empty_ones"):
            continue  # large bodies are tested only with some chunk sizes, to save time
        reply = driver.run({"op": "webhook.stream", "args": _arguments(case) | {"chunks": chunks(size)}})
        if case["expect"]["verify"] == "ok":
            assert reply == {"ok": {"secret_index": case["expect"]["secret_index"]}}, name
        else:
            assert "error" in reply, f"accepted: {name}"
            _check_refusal(case, reply["error"], empty_is_missing=empty_is_missing)


def _unwrap(case: dict[str, Any], driver: Driver, *, empty_is_missing: bool) -> None:
    args = _arguments(case) | {"read": list(case["expect"].get("fields", {}))}
    reply = driver.run({"op": "webhook.unwrap", "args": args})
    _check_event(case, reply, empty_is_missing=empty_is_missing)


def _unwrap_request(case: dict[str, Any], driver: Driver) -> None:
    args = _arguments(case) | {"read": list(case["expect"].get("fields", {}))}
    signature = args.pop("signature")
    args["headers"] = [["Host", "receiver.example"], ["Content-Type", "application/json"]]
    if signature is not None:
        args["headers"].insert(1, ["sERVICE-sIGNATURE", signature])
    _check_event(case, driver.run({"op": "webhook.unwrap_request", "args": args}), "unwrap_request")


def _parse_unverified(case: dict[str, Any], driver: Driver) -> None:
    """parse_unverified() reads a stored event as unwrap() does, without the signature and the secret."""
    args = {"body_b64": _arguments(case)["body_b64"], "read": list(case["expect"].get("fields", {}))}
    _check_event(case, driver.run({"op": "webhook.parse_unverified", "args": args}))


def _sign(case: dict[str, Any], driver: Driver) -> None:
    secret = case["secrets"][case["expect"]["secret_index"]]
    args = {"body_b64": base64.b64encode(body_bytes(case)).decode(), "secret": secret}
    assert driver.run({"op": "webhook.sign", "args": args}) == {"ok": {"signature": case["signature"]}}


def _check_event(
    case: dict[str, Any], reply: dict[str, Any], verb: str = "unwrap", *, empty_is_missing: bool = False
) -> None:
    fields: dict[str, Any] = case["expect"].get("fields", {})
    expected = case["expect"].get(verb, case["expect"]["unwrap"])
    if expected != "ok":
        assert "error" in reply, "accepted"
        assert reply["error"]["class"] == expected, reply
        if expected == "DecodeError":
            _check_words(case, reply["error"])
        else:
            _check_refusal(case, reply["error"], empty_is_missing=empty_is_missing)
        return
    assert "ok" in reply, reply
    read = reply["ok"]["read"]
    assert read.keys() == fields.keys()
    for path, value in fields.items():
        if isinstance(value, dict) and value.keys() == {"error"}:
            assert isinstance(read[path], dict) and "error" in read[path], f"{path}: {read[path]!r}, expected an error"
            error = read[path]["error"]
            assert error["class"] == value["error"]
            assert path in error["message"] and "\n" not in error["message"]
        else:
            assert not differences(value, read[path], path) and not differences(read[path], value, path)


@pytest.mark.parametrize("joined", ["", ",", ", ", "\t , ", " ,\t "])
@pytest.mark.parametrize("second", ["the same", "another"])
def test_a_header_that_comes_twice(second: str, joined: str, driver: Driver) -> None:
    """Two equal signature headers are accepted, even if a server joined them; two different ones are refused."""
    case = GOOD[0]
    value = case["signature"] if second == "the same" else "0" * 64
    headers = [["service-signature", value], ["Service-Signature", case["signature"]]]
    if joined:
        headers = [["Service-Signature", value + joined + case["signature"]]]
    reply = driver.run(
        {"op": "webhook.unwrap_request", "args": _arguments(case) | {"headers": headers, "read": ["id"]}}
    )
    assert "ok" in reply if second == "the same" else reply["error"]["reason"] == "malformed", reply


@pytest.mark.parametrize("value", ["{0}, ,{0}", " {0}", "{0} ", "{0},", ",{0}", "{0};{0}", "{0},{0}0"])
def test_a_header_that_is_no_list_of_equal_signatures(value: str, driver: Driver) -> None:
    case = GOOD[0]
    headers = [["Service-Signature", value.format(case["signature"])]]
    reply = driver.run({"op": "webhook.unwrap_request", "args": _arguments(case) | {"headers": headers, "read": []}})
    assert reply["error"]["reason"] == "malformed", reply


def test_matches(driver: Driver) -> None:
    """matches() returns, for each secret, how many accepted deliveries it has matched. If two secrets match a delivery,
    only the first one is counted."""
    secrets = ["0" * 32, "1" * 32, "2" * 32, "1" * 32]
    expected = [3, 5, 0, 0]
    deliveries = []
    for index, count in enumerate(expected):
        for number in range(count):
            body = json.dumps({"name": "test.hook", "id": number}).encode()
            mac = hmac.new(secrets[index].encode(), body, "sha256").hexdigest()
            encoded = base64.b64encode(body).decode()
            deliveries += [
                {"body_b64": encoded, "signature": signature} for signature in (mac, mac[::-1], mac.upper(), None)
            ]
    reply = driver.run({"op": "webhook.matches", "args": {"secrets": secrets, "deliveries": deliveries}})
    assert reply == {"ok": {"matches": expected}}


def test_files_are_what_their_script_makes() -> None:
    """The script signs with Python's hmac, which shares no code with the library."""
    done = subprocess.run([sys.executable, "-B", FOLDER / "make_vectors.py", "--check"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
