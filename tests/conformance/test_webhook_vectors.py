"""Runs every webhook vector in every language: verify (the whole body and in chunks), unwrap, the getters, and sign;
also of verifiers with freshness, and of verifiers for several accounts."""

from __future__ import annotations

import base64
import hmac
import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from .drivers import EMPTY_IS_MISSING, STATUS, Driver
from .fixtures import FOLDER, body_bytes, differences, load, text_or_b64

VECTORS, FRESHNESS, ACCOUNTS = (load(f"{name}.json")["cases"] for name in ("webhook_vectors", "freshness", "accounts"))
CASES: list[dict[str, Any]] = [*VECTORS, *FRESHNESS, *ACCOUNTS]
GOOD = [case for case in VECTORS if case["expect"]["verify"] == "ok"]


def _arguments(case: dict[str, Any]) -> dict[str, Any]:
    args = {"body_b64": base64.b64encode(body_bytes(case)).decode(), "signature": case.get("signature")}
    given = ("secrets", "accounts", "max_body", "freshness", "now")
    return args | {name: case[name] for name in given if name in case}


def _secrets(case: dict[str, Any]) -> list[bytes]:
    given = case["secrets"] if "secrets" in case else [each for one in case["accounts"] for each in one["secrets"]]
    return [text_or_b64(secret) for secret in given]


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
    for hidden in [secret.decode("latin-1") for secret in _secrets(case)] + [body]:
        assert len(hidden.strip()) < 16 or hidden not in said, "a secret or the body is in the error"
    macs = [hmac.new(secret, body_bytes(case), "sha256").hexdigest() for secret in _secrets(case)]
    assert not any(mac in said for mac in macs), "the right signature is in the error"
    given = case.get("signature")
    if isinstance(given, str) and len(given) >= 31:
        assert given not in said, "the signature is in the error"


# One test makes all calls of a case: pytest takes longer for a test than a driver for a call.
@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_case(case: dict[str, Any], driver: Driver, language: str) -> None:
    empty_is_missing = language in EMPTY_IS_MISSING
    if "accounts" in case:  # an account, or the age of an event, is known only when the body is parsed
        _refuses(case, driver, "webhook.verify")
    else:
        _verify(case, driver, empty_is_missing=empty_is_missing)
    if case in VECTORS:
        _stream(case, driver, empty_is_missing=empty_is_missing)
    else:
        _refuses(case, driver, "webhook.stream")
    _unwrap(case, driver, empty_is_missing=empty_is_missing)
    _unwrap_request(case, driver)
    if case in GOOD:
        _parse_unverified(case, driver)
        _sign(case, driver)


def _refuses(case: dict[str, Any], driver: Driver, op: str) -> None:
    error = driver.run({"op": op, "args": _arguments(case) | {"chunks": []}})["error"]
    assert error["class"] == "ConfigError", error


def _verify(case: dict[str, Any], driver: Driver, *, empty_is_missing: bool) -> None:
    reply = driver.run({"op": "webhook.verify", "args": _arguments(case)})
    if case["expect"]["verify"] == "ok" and case in FRESHNESS:
        assert reply == {"ok": {"secret_index": 0}}
    elif case["expect"]["verify"] == "ok":
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


def test_without_freshness_no_event_is_stale(driver: Driver) -> None:
    stale = [case for case in FRESHNESS if case["expect"]["verify"] == "stale"]
    assert len(stale) > 20
    for case in stale:
        args = {key: value for key, value in _arguments(case).items() if key != "freshness"}
        assert driver.run({"op": "webhook.verify", "args": args}) == {"ok": {"secret_index": 0}}, case["name"]


def test_freshness_by_the_clock_of_the_system(driver: Driver) -> None:
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


def test_matches_of_accounts(driver: Driver) -> None:
    """The secret of the named account is counted, even if another account has the same; a refused event is not."""
    cases = [case for case in ACCOUNTS if case["accounts"] == ACCOUNTS[0]["accounts"]]
    counts = [0] * len(_secrets(ACCOUNTS[0]))
    for case in cases:
        if case["expect"]["unwrap"] == "ok":
            counts[case["expect"]["matched"]] += 1
    assert all(counts)
    deliveries = [{name: _arguments(case)[name] for name in ("body_b64", "signature")} for case in cases]
    args = {"accounts": ACCOUNTS[0]["accounts"], "deliveries": deliveries}
    assert driver.run({"op": "webhook.matches", "args": args}) == {"ok": {"matches": counts}}


def test_an_unsigned_body_of_an_account_is_not_parsed(driver: Driver) -> None:
    """The other reasons come first, and freshness last, as with any verifier."""
    good, forged = (
        _arguments(next(case for case in ACCOUNTS if case["name"] == name)) | {"read": []}
        for name in ("first_secret", "another_accounts_secret")
    )
    old = {"freshness": 1, "now": 0}
    for args, reason in (
        (good | {"max_body": 3}, "body_too_large"),
        (good | {"signature": None}, "missing"),
        (good | {"signature": "x"}, "malformed"),
        (good | {"signature": "0" * 64}, "mismatch"),
        (good | old, "stale"),
        (forged | old, "mismatch"),
    ):
        assert driver.run({"op": "webhook.unwrap", "args": args})["error"]["reason"] == reason


def test_files_are_what_their_script_makes() -> None:
    """The script signs with Python's hmac, which shares no code with the library."""
    done = subprocess.run([sys.executable, "-B", FOLDER / "make_vectors.py", "--check"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
