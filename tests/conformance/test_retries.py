"""Tests retries in every language: a client retries a read after a temporary failure, but never a write that was
sent."""

from __future__ import annotations

from typing import Any

import pytest

from .drivers import UNSIGNED, Driver
from .server import Reply, ScriptedServer, json_reply

GET = {"op": "subscriptions.get", "args": {"id": "sub_1"}}
WRITES = {
    "cancel": {"op": "subscriptions.cancel", "args": {"id": "sub_1"}},
    "delete": {"op": "products.delete", "args": {"id": 1}},
}
GOOD = json_reply({"data": {"id": "sub_1"}})
BAD = {
    "503": Reply(status=503),
    "408": Reply(status=408),
    "429": Reply(status=429, headers={"Retry-After": "0"}),
    "cut off": Reply(send_only=10, ending="close"),
    "reset": Reply(send_only=0, ending="reset"),
}


def _run(driver: Driver, call: dict[str, Any], replies: list[Reply], **options: Any) -> tuple[dict[str, Any], int]:
    with ScriptedServer(replies) as server:
        client = {"base_url": server.url + "/acct", "api_key": "key_retries", **options}
        return driver.run({**call, "client": client}), len(server.requests)


@pytest.mark.parametrize("bad", BAD)
def test_a_read_is_repeated_unless_told_not_to(bad: str, driver: Driver) -> None:
    assert _run(driver, GET, [BAD[bad], GOOD]) == ({"ok": {"id": "sub_1"}}, 2)  # two retries are the default
    assert _run(driver, GET, [BAD[bad], BAD[bad], GOOD], max_retries=2) == ({"ok": {"id": "sub_1"}}, 3)
    reply, count = _run(driver, GET, [BAD[bad], GOOD], max_retries=0)
    assert "error" in reply and count == 1


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("bad", BAD)
def test_a_write_is_sent_once(bad: str, write: str, driver: Driver) -> None:
    reply, count = _run(driver, WRITES[write], [BAD[bad], GOOD], max_retries=5)
    assert count == 1
    error = reply["error"]
    assert error["class"] == "RateLimitError" if bad == "429" else error["outcome_unknown"] is True


def test_max_retries_below_zero(language: str, driver: Driver) -> None:
    if language in UNSIGNED:
        return
    reply, count = _run(driver, GET, [GOOD], max_retries=-1)
    assert reply["error"]["class"] == "ConfigError" and "max_retries" in reply["error"]["message"] and count == 0
