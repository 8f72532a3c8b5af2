"""Which requests are retried, and which never are. retry_test.cpp tests these rules in C++, with an injected clock."""

from __future__ import annotations

import itertools
import signal
import socket
import threading
import time
from collections.abc import Callable
from email.utils import formatdate
from typing import Any

import pytest

import billcore
from conformance.server import Reply, Request, closed_port, json_reply
from support.waiting import LATE, until

from .conftest import Serve
from .support import ACCOUNT, API_KEY, ORDER, SUBSCRIPTION, data

GOOD = data(SUBSCRIPTION)
BROKEN = Reply(send_only=10, ending="close")
RESET = Reply(send_only=0, ending="reset")
WRITES: list[Callable[[billcore.Client], object]] = [
    lambda client: client.subscriptions.cancel("s"),
    lambda client: client.subscriptions.charge("s", product_id=1, amount=100),
    lambda client: client.subscriptions.change_product("s", product_id=1),
    lambda client: client.products.update(1, name="x"),
    lambda client: client.products.delete(1),
    lambda client: client.webhook_endpoints.create(url="https://a.example/"),
    lambda client: client.request("PUT", "/x", json={}),
]


def limited(after: str | None = None) -> Reply:
    return Reply(status=429, headers={} if after is None else {"Retry-After": after})


@pytest.mark.parametrize("bad", [Reply(status=500), Reply(status=503), Reply(status=408), limited("0"), BROKEN, RESET])
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


def test_a_kept_connection_that_broke_is_replaced_at_once(serve: Serve) -> None:
    """A broken keep-alive connection does not mean that the service is down, so the first retry does not wait."""

    class Waits(billcore.Hooks):
        def __init__(self) -> None:
            self.waits: list[float] = []

        def on_retry(self, attempt: billcore.Attempt) -> None:
            self.waits.append(attempt.wait)

    hooks = Waits()
    server, _ = serve([GOOD, RESET, RESET, RESET, GOOD])
    with billcore.Client(base_url=server.url + ACCOUNT, api_key=API_KEY, max_retries=3, hooks=hooks) as client:
        client.subscriptions.get("s")
        client.subscriptions.get("s")
    first, *others = hooks.waits
    assert first == 0 < sum(others)  # a single random wait may be 0 ms


@pytest.mark.parametrize("status", [301, 307, 400, 401, 402, 404, 422])
def test_other_statuses_are_final(serve: Serve, status: int) -> None:
    server, client = serve([Reply(status=status), GOOD])
    with pytest.raises(billcore.ApiError) as caught:
        client.with_options(max_retries=5).subscriptions.get("s")
    assert len(server.requests) == 1 and caught.value.attempts == 1


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("bad", [Reply(status=500), Reply(status=408), limited("0"), BROKEN, RESET])
def test_a_write_that_was_sent_is_never_repeated(
    serve: Serve, write: Callable[[billcore.Client], object], bad: Reply
) -> None:
    server, client = serve([bad, GOOD, GOOD])
    with pytest.raises(billcore.BillcoreError) as caught:
        write(client.with_options(max_retries=5))
    assert len(server.requests) == 1
    if bad.status != 429:
        outcome_unknown = isinstance(caught.value, billcore.OutcomeUnknownError)
        assert outcome_unknown or caught.value.outcome_unknown


@pytest.mark.parametrize("call", [lambda client: client.subscriptions.get("s"), *WRITES])
def test_a_closed_port_is_tried_twice(call: Callable[[billcore.Client], object]) -> None:
    url = f"http://127.0.0.1:{closed_port()}{ACCOUNT}"
    with (
        billcore.Client(base_url=url, api_key=API_KEY, max_retries=1) as client,
        pytest.raises(billcore.ConnectionError, match="attempt 2"),
    ):
        call(client)


def test_a_write_leaves_once_somebody_listens() -> None:
    """Connections are refused at first, so nothing is sent; the write is sent once a connection is accepted."""
    reserved = socket.socket()
    reserved.bind(("127.0.0.1", 0))
    address = reserved.getsockname()
    got: list[bytes] = []

    def answer() -> None:
        reserved.listen()
        connection, _ = reserved.accept()
        with connection:
            got.append(connection.recv(65536))
            body = b'{"data":{"id":"o"}}'
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))

    timer = threading.Timer(0.05, answer)
    with billcore.Client(base_url=f"http://127.0.0.1:{address[1]}{ACCOUNT}", api_key=API_KEY, max_retries=50) as client:
        timer.start()
        assert client.subscriptions.charge("s", product_id=1, amount=5).id == "o"
    timer.join()
    reserved.close()
    assert len(got) == 1


def test_the_deadline_is_that_of_all_attempts(serve: Serve) -> None:
    again = itertools.chain([limited("0")], itertools.repeat(Reply(status=503)))
    server, client = serve(lambda request: next(again))
    begun = time.monotonic()
    with pytest.raises((billcore.ServerError, billcore.TimeoutError)):
        client.with_options(max_retries=1000, timeout=0.7).subscriptions.get("s")
    assert time.monotonic() - begun < LATE
    until(lambda: len(server.requests) > 1)


def test_retry_after_longer_than_the_deadline_is_told_at_once(serve: Serve) -> None:
    server, client = serve([limited("90"), GOOD])
    begun = time.monotonic()
    with pytest.raises(billcore.RateLimitError) as caught:
        client.with_options(max_retries=2, timeout=60).subscriptions.get("s")
    assert caught.value.retry_after == 90 and len(server.requests) == 1
    assert time.monotonic() - begun < LATE


def test_retry_after_as_a_date(serve: Serve) -> None:
    now = time.time()
    dates = {"Date": formatdate(now, usegmt=True), "Retry-After": formatdate(now + 90, usegmt=True)}
    reply = Reply(status=429, headers=dates)
    _, client = serve([reply])
    with pytest.raises(billcore.RateLimitError) as caught:
        client.subscriptions.get("s")
    assert caught.value.retry_after == 90


def test_a_429_holds_up_the_other_threads(serve: Serve) -> None:
    came: list[float] = []
    told = threading.Event()

    class Telling(billcore.Hooks):
        def on_retry(self, attempt: billcore.Attempt, /) -> None:
            told.set()

    def script(_: Request) -> Reply:
        came.append(time.monotonic())
        return limited("1") if len(came) == 1 else GOOD

    server, _ = serve(script)
    with billcore.Client(base_url=server.url + ACCOUNT, api_key=API_KEY, max_retries=2, hooks=Telling()) as client:
        first = threading.Thread(target=lambda: client.subscriptions.get("s"))
        first.start()
        assert told.wait(60)
        assert client.subscriptions.get("s").id == "sub_1"
        first.join()
    assert len(came) == 3 and came[1] - came[0] > 0.9


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
