"""Tests that each error tells a beginner what to do, in one line."""

from __future__ import annotations

from typing import Any

import pytest

import billcore

from .support import run_python

ID = "480001"


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
    assert "product_id" in call(client.subscriptions.charge, ID, amount=1)
    assert "multiple values" in call(client.request, "GET", method="GET", path="/x")


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


@pytest.mark.parametrize(("level", "lines"), [("debug", 3), ("INFO", 1), ("warning", 0), ("loud", 1), ("", 0)])
def test_a_log_by_environment(monkeypatch: pytest.MonkeyPatch, level: str, lines: int) -> None:
    """BILLCORE_LOG sets which lines are logged. If the program configures logging itself, each line appears once, in
    the program's own format."""
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
