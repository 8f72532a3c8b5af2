"""Retries in Python: options, counts, Ctrl-C. The rules are in retry_test.cpp and tests/conformance/test_retries.py."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import pytest

import billcore
from conformance.server import Reply, json_reply
from support.waiting import LATE

from .conftest import Serve
from .support import ORDER, SUBSCRIPTION, data

GOOD = data(SUBSCRIPTION)
RESET = Reply(send_only=0, ending="reset")


def limited(after: str | None = None) -> Reply:
    return Reply(status=429, headers={} if after is None else {"Retry-After": after})


@pytest.mark.parametrize("bad", [limited("0"), RESET])
def test_a_read_is_repeated(serve: Serve, bad: Reply) -> None:
    server, client = serve([bad, GOOD])
    subscription = client.with_options(max_retries=2).subscriptions.get("s")
    assert subscription.id == "sub_1" and len(server.requests) == 2
    info = subscription.response_info
    assert info is not None and info.attempts == 2


def test_a_list_goes_on_behind_a_broken_page(serve: Serve) -> None:
    pages = [
        {"data": [{**ORDER, "id": f"o{n}"}], "pagination": {"total": 2, "current_page": n, "total_pages": 2}}
        for n in (1, 2)
    ]
    bodies = [json_reply(page) for page in pages]
    server, client = serve([bodies[0], Reply(status=503), RESET, bodies[1]])
    assert [order.id for order in client.with_options(max_retries=2).subscriptions.orders("s")] == ["o1", "o2"]
    assert len(server.requests) == 4


def test_ctrl_c_ends_a_wait(serve: Serve) -> None:
    _, client = serve([limited("50")])
    timer = threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT))
    # A shell that starts the tests in the background makes them ignore SIGINT.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    begun = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            timer.start()
            client.with_options(max_retries=2, timeout=None).subscriptions.get("s")
        timer.join()
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - begun < LATE


def test_with_options_shares_the_connections(serve: Serve) -> None:
    server, client = serve([GOOD, GOOD, GOOD])
    other = client.with_options(headers={"X-Tenant": "7"}, timeout=5)
    client.subscriptions.get("s")
    other.subscriptions.get("s")
    other.close()
    with pytest.raises(billcore.ConfigError, match="closed"):
        other.subscriptions.get("s")
    client.subscriptions.get("s")
    assert {request.connection for request in server.requests} == {0}
    assert [request.header("X-Tenant") for request in server.requests] == [None, "7", None]


@pytest.mark.parametrize("options", [{"timeout": 0}, {"max_retries": -1}, {"headers": {"X-API-KEY": "other"}}])
def test_options_that_cannot_work(serve: Serve, options: dict[str, Any]) -> None:
    _, client = serve([])
    with pytest.raises(billcore.ConfigError):
        client.with_options(**options)
    if "timeout" not in options:
        with pytest.raises(billcore.ConfigError):
            billcore.Client(base_url="https://service.example/x", api_key="k", **options)


@pytest.mark.parametrize("value", [True, 1.5, "2", None])
def test_max_retries_is_an_integer(serve: Serve, value: Any) -> None:
    _, client = serve([])
    with pytest.raises(billcore.InvalidArgumentError, match="max_retries"):
        client.with_options(max_retries=value)
