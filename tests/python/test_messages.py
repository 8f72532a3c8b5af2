"""Tests that each error tells a beginner what to do, in one line."""

from __future__ import annotations

from typing import Any

import pytest

import billcore
from conformance.server import Reply, ScriptedServer

from .conftest import Serve
from .support import ACCOUNT, API_KEY, run_python

ID = "480001"


def refused(client: billcore.Client, id: str = ID) -> str:
    with pytest.raises(billcore.NotFoundError) as caught:
        client.subscriptions.get(id)
    assert "\n" not in str(caught.value) and API_KEY not in str(caught.value)
    return str(caught.value)


def call(function: Any, *arguments: object, **named: object) -> str:
    with pytest.raises(TypeError) as caught:
        function(*arguments, **named)
    return str(caught.value)


def test_positional_arguments() -> None:
    client = billcore.Client(base_url="http://127.0.0.1:1/a", api_key="k")
    what = "takes no positional arguments, but 1 was given: pass arguments by name, such as base_url=..., api_key=..."
    assert call(billcore.Client, "a key") == f"Client() {what}"
    assert call(billcore.AsyncClient, "a key") == f"AsyncClient() {what}"
    text = call(client.subscriptions.charge, ID, 102, 1500)
    assert text.startswith("charge() takes 1 positional argument, but 3 were given: pass the others by name, ")
    assert text.endswith(", such as product_id=..., amount=...")
    assert call(client.subscriptions.get, ID, 1, 2).startswith("get() takes 1 positional argument, but 3 were given")


def test_misspelt_keywords() -> None:
    client = billcore.Client(base_url="http://127.0.0.1:1/a", api_key="k")
    assert call(billcore.Client, base_urls="x").endswith("'base_urls': did you mean 'base_url'?")
    assert call(client.subscriptions.charge, ID, amonut=5).endswith("'amonut': did you mean 'amount'?")
    assert call(client.subscriptions.charge, ID, zzz=5) == "charge() got an unexpected keyword argument 'zzz'"


def test_a_misplaced_method_names_the_right_place() -> None:
    for client in (
        billcore.Client(base_url="http://127.0.0.1:1/a", api_key="k"),
        billcore.AsyncClient(base_url="http://127.0.0.1:1/a", api_key="k"),
    ):
        orders: Any = client.orders
        with pytest.raises(AttributeError, match=r"has no attribute 'list': use client\.subscriptions\.orders\(id\)$"):
            _ = orders.list
        with pytest.raises(AttributeError, match=r"has no attribute 'lists'$"):
            _ = orders.lists
        assert not hasattr(orders, "lists") and not hasattr(orders, "\ud800")


def test_an_html_answer_says_check_base_url(serve: Serve) -> None:
    page = Reply(status=404, headers={"Content-Type": "text/html"}, body=b"<!doctype html><title>Not found</title>")
    _, client = serve([page])
    assert refused(client).endswith("; this is a web page, not an answer of the service: check base_url")


@pytest.mark.parametrize("last", ["products", "subscription", "webhooks"])
def test_a_base_url_past_the_account_is_explained(last: str) -> None:
    body = b'{"error": {"code": "not_found", "message": "no"}}'
    with ScriptedServer([Reply(status=404, body=body)]) as server:
        client = billcore.Client(base_url=f"{server.url}{ACCOUNT}/{last}/", api_key=API_KEY)
        assert refused(client).endswith(f"; check base_url: it ends in /{last}, not in the account segment")


def test_white_space_around_an_id(serve: Serve) -> None:
    server, client = serve([Reply(status=404)] * 3)
    for id in (f" {ID}", f"{ID} "):
        assert refused(client, id).endswith(f'; the id has white space around it: "{id}"')
    assert refused(client, "4 8").endswith("another account")
    assert [request.target.rsplit("/", 1)[1] for request in server.requests] == [f"%20{ID}", f"{ID}%20", "4%208"]


def test_the_request_id_ends_the_text(serve: Serve) -> None:
    reply = Reply(status=404, headers={"X-Request-Id": "req_7"}, body=b'{"error": {"code": "c", "message": "m"}}')
    _, client = serve([reply])
    assert refused(client).endswith(": m (c) [request id req_7]")


def test_a_call_outside_asyncio_says_that_it_needs_asyncio() -> None:
    client = billcore.AsyncClient(base_url="http://127.0.0.1:1/a", api_key="k")
    with pytest.raises(RuntimeError, match="works with asyncio only"):
        client.subscriptions.get(ID).__await__().send(None)


TALK = """
import logging
import billcore
client = billcore.Client(base_url="http://127.0.0.1:1/a", api_key="k", max_retries=1)
def call():
    try:
        client.subscriptions.get("s")
    except billcore.ConnectionError:
        print("failed", flush=True)
call()
logging.basicConfig(level=logging.WARNING)
call()
"""


@pytest.mark.parametrize(
    ("level", "lines"), [("debug", 3), ("INFO", 1), ("warning", 0), ("loud", 1), ("", 0), (None, 0)]
)
def test_a_log_by_environment(monkeypatch: pytest.MonkeyPatch, level: str | None, lines: int) -> None:
    """BILLCORE_LOG sets which lines are logged. If the program configures logging itself, each line appears once, in
    the program's own format."""
    if level is None:
        monkeypatch.delenv("BILLCORE_LOG", raising=False)
    else:
        monkeypatch.setenv("BILLCORE_LOG", level)
    printed = run_python(f"import sys; sys.stderr = sys.stdout\n{TALK}").splitlines()
    assert printed[-1] == "failed" and printed.count("failed") == 2
    before, _, after = "\n".join(printed).partition("failed")
    said = before.splitlines()
    assert len(said) == lines, said
    if level == "loud":
        assert said == ["billcore: BILLCORE_LOG must be debug, info, warning, not 'loud': ignored"]
    else:
        assert all("GET /subscription/{id}" in line and "request id" in line for line in said)
        own = [line for line in after.splitlines() if line.startswith(("DEBUG:billcore:", "INFO:billcore:"))]
        assert len(own) == lines and after.count("GET ") == lines, after


@pytest.mark.parametrize("level", ["debug", "loud"])
def test_a_log_without_stderr(monkeypatch: pytest.MonkeyPatch, level: str) -> None:
    monkeypatch.setenv("BILLCORE_LOG", level)
    assert run_python("import os\nos.close(2)\n" + TALK).split() == ["failed", "failed"]
