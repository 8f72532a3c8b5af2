"""Checks the clients against the wire fixtures: the requests that they send, byte for byte, and how they read the
answers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from .drivers import STATUS, Driver
from .fixtures import ACCOUNT, API_KEY, differences, wire_cases, with_examples
from .server import Reply, Request, ScriptedServer, json_reply

CASES = [case for case in wire_cases() if "call" in case]


def scripted(reply: dict[str, Any]) -> Reply:
    if "body_text" in reply:
        return Reply(status=reply["status"], headers=reply["headers"], body=reply["body_text"].encode())
    made = json_reply(with_examples(reply["body"]), reply["status"])
    return Reply(status=made.status, headers=reply["headers"], body=made.body)


def header_pattern(value: str, host: str) -> re.Pattern[str]:
    text = re.escape(value.replace("<host>", host)).replace("<version>", r"[0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*")
    return re.compile(text)


def request_differences(expected: dict[str, Any], got: Request, host: str) -> Iterator[str]:
    for name, want, have in (
        ("method", expected["method"], got.method),
        ("target", expected["target"], got.target),
        ("version", "HTTP/1.1", got.version),
        ("body", expected.get("body", "").encode(), got.body),
    ):
        if want != have:
            yield f"{name}: {have!r}, expected {want!r}"
    want_headers = {name.lower(): value for name, value in expected["headers"].items()}
    names = [name.lower() for name, _ in got.headers]
    if sorted(names) != sorted(want_headers):
        yield f"header names: {sorted(names)}, expected {sorted(want_headers)}"
    for name, value in got.headers:
        want = want_headers.get(name.lower())
        if want is not None and not header_pattern(want, host).fullmatch(value):
            yield f"header {name}: {value!r}, expected {want!r}"


def check_error(expected: dict[str, Any], error: dict[str, Any]) -> None:
    error = {"outcome_unknown": False, **error}
    assert not differences(expected, error), f"{differences(expected, error)}\nin {error}"
    assert error["status"] == STATUS[error["class"]]
    assert error["message"].strip() and "\n" not in error["message"]
    assert API_KEY not in json.dumps(error)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_each_exchange_has_the_bytes_of_its_fixture(case: dict[str, Any], language: str, driver: Driver) -> None:
    play(case, driver)


def play(case: dict[str, Any], driver: Driver) -> None:
    with ScriptedServer([scripted(exchange["reply"]) for exchange in case["exchanges"]]) as server:
        client = {"base_url": server.url + ACCOUNT, "api_key": API_KEY, "max_retries": 0, **case.get("client", {})}
        client["base_url"] = client["base_url"].replace("<server>", server.url)
        reply = driver.run({**case["call"], "client": client})
        requests = server.requests
    wanted = [exchange["request"] for exchange in case["exchanges"]]
    assert [f"{r.method} {r.target}" for r in requests] == [f"{r['method']} {r['target']}" for r in wanted], reply
    for want, got in zip(wanted, requests, strict=True):
        found = list(request_differences(want, got, server.host))
        assert not found, "\n".join(found)
    assert server.connections == 1, "the connection is kept"
    if "ok" in case["expect"]:
        assert "ok" in reply, reply
        found = differences(case["expect"]["ok"], reply["ok"])
        assert not found, "\n".join(found)
    else:
        assert "error" in reply, reply
        check_error(case["expect"]["error"], reply["error"])
