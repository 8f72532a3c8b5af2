"""Tests that every client reports bad input and bad answers with the right error class, and sends no request for bad
input."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable, Collection, Iterator
from typing import Any

import pytest

from support.waiting import until

from .drivers import CLIENTS, LANGUAGES, STATUS, Driver
from .fixtures import ACCOUNT, API_KEY, body_bytes, differences, load
from .server import FullListener, Reply, Request, ScriptedServer, SilentListener, closed_port

CASES: list[dict[str, Any]] = load("bad_input.json")["cases"]


def languages_of(case: dict[str, Any]) -> list[str]:
    """Returns the clients for which a case runs. A REST case also runs with the clients that do not block."""
    languages = case.get("langs", LANGUAGES)
    others: Collection[str] = () if case["call"]["op"].startswith("webhook.") else (set(CLIENTS) - set(LANGUAGES))
    others = sorted(other for other in others if other.partition("-")[0] in languages)
    return [each for each in (*languages, *others) if each in CLIENTS]


PLAYS = [(case, language) for case in CASES for language in languages_of(case)]


def fill(value: Any, places: dict[str, str]) -> Any:
    """Replaces the tokens in all texts of the value, at any depth. A text that is exactly "<page>" is replaced by the
    page number as an integer."""
    if isinstance(value, dict):
        return {fill(key, places): fill(item, places) for key, item in value.items()}
    if isinstance(value, list):
        return [fill(item, places) for item in value]
    if value == "<page>":
        return int(places["<page>"])
    if isinstance(value, str):
        for place, text in places.items():
            value = value.replace(place, text)
    return value


CODINGS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "raw deflate": lambda body: zlib.compress(body, wbits=-zlib.MAX_WBITS),
    "cut": lambda body: body[:-1],
    "corrupt": lambda body: body[:-1] + bytes([body[-1] ^ 1]),
}


def make_reply(reply: dict[str, Any]) -> Reply:
    if "raw" in reply:
        body, raw = b"", reply["raw"].encode()
    elif "body" in reply:
        body, raw = json.dumps(reply["body"], ensure_ascii=False).encode(), None
    else:
        body, raw = body_bytes(reply) if reply.keys() & {"body_text", "body_b64", "body_parts"} else b"", None
    for coding in reply.get("coded", []):
        body = CODINGS[coding](body)
    return Reply(
        status=reply.get("status", 200),
        headers=reply.get("headers", {}),
        body=body,
        raw=raw,
        endless=reply.get("endless", "").encode(),
        ending=reply.get("ending", "keep"),
    )


def make_script(replies: list[dict[str, Any]], places: dict[str, str]) -> Callable[[Request], Reply]:
    """Makes a script with one reply per request. The server answers an unexpected request with 599, and records
    it."""
    waiting = list(replies)

    def next_reply(request: Request) -> Reply:
        if not waiting:
            return Reply(status=599, body=b"not foreseen")
        reply = waiting[0] if waiting[0].get("repeat") else waiting.pop(0)
        page = re.search(r"[?&]page=(\d+)", request.target)
        return make_reply(fill(reply, places | {"<page>": page[1] if page else "0"}))

    return next_reply


@pytest.fixture(scope="module")
def dead_ends() -> Iterator[dict[str, str]]:
    """Yields base URLs on which no request can succeed."""
    with FullListener() as full, SilentListener() as silent:
        yield {
            "<full>": f"http://127.0.0.1:{full.port}",
            "<silent_tls>": f"https://127.0.0.1:{silent.port}",
            "<closed>": f"http://127.0.0.1:{closed_port()}",
        }


@pytest.mark.own_languages
@pytest.mark.parametrize(("case", "language"), PLAYS, ids=[f"{case['name']}-{language}" for case, language in PLAYS])
def test_bad_input(
    case: dict[str, Any], language: str, drivers: Callable[[str], Driver], dead_ends: dict[str, str]
) -> None:
    with ScriptedServer(lambda request: Reply(status=599)) as other:
        places = dead_ends | {"<other>": other.url, "<api_key>": API_KEY}
        with ScriptedServer(make_script(case.get("server", []), places)) as server:
            places |= {"<server>": server.url, "<host>": server.host}
            client = {"base_url": "<server>" + ACCOUNT, "api_key": API_KEY, "max_retries": 0} | case.get("client", {})
            client = {key: value for key, value in client.items() if key not in case.get("client_without", [])}
            driver = drivers(language)
            if "first" in case:
                made = driver.run(fill({**case["first"], "client": client}, places))
                assert "ok" in made, made
            reply = driver.run(fill({**case["call"], "client": client}, places))
            if reply.get("error", {}).get("cause", reply.get("error", {}).get("class")) == "TimeoutError":
                # The client may give up before the server has read the request.
                until(lambda: len(server.requests) >= case["expect"].get("requests", 0))
            requests = server.requests
        strays = other.requests
    check(case, reply)
    expect = case["expect"]
    if "requests" in expect:
        assert len(requests) == expect["requests"], [f"{r.method} {r.target}" for r in requests]
    if "targets" in expect:
        assert [r.target for r in requests] == expect["targets"]
    assert len(strays) == expect.get("other_requests", 0), "a request went to another server"


def check(case: dict[str, Any], reply: dict[str, Any]) -> None:
    expect = case["expect"]
    if "error" not in expect:
        assert "ok" in reply, reply
        assert not differences(expect["ok"], reply["ok"]), differences(expect["ok"], reply["ok"])
        return
    assert "error" in reply, f"no error, but {reply!r}"
    error = {"outcome_unknown": False, **reply["error"]}
    wanted = dict(expect["error"])
    classes = wanted.pop("class")
    assert error["class"] in ([classes] if isinstance(classes, str) else classes), error
    assert not differences(wanted, error), f"{differences(wanted, error)}\nin {error}"
    assert not set(expect.get("absent", [])) & {name for name, value in error.items() if value is not None}, error
    assert error["status"] == STATUS[error["class"]]
    message = error["message"]
    assert message.strip() and not {"\n", "\r"} & set(message), f"not one line: {message!r}"
    assert len(message) < 1000, "an essay"
    assert re.search(expect.get("message", ""), message), message
    said = json.dumps(error, ensure_ascii=False)
    for hidden in [API_KEY, *expect.get("hidden", [])]:
        assert hidden not in said and json.dumps(hidden)[1:-1] not in said, "a secret is shown"
