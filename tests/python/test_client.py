"""Client and AsyncClient: options, requests, results, closing. tests/conformance has the bytes of each operation, and
the errors, for both."""

from __future__ import annotations

import asyncio
import copy
import gc
import pickle
import ssl
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import billcore
from conformance.server import Reply, ScriptedServer, json_reply
from support.waiting import until

from .async_support import UNSENT, Run, each_loop, serving
from .calls_support import calling, each_kind
from .conftest import Serve
from .support import ACCOUNT, ORDER, PRODUCT, SUBSCRIPTION, data

URL = "https://service.example" + ACCOUNT
EXTRA = {"X-Extra": "1", "User-Agent": "shop/2"}

# ---- Options ---------------------------------------------------------------------------------------------------------


def test_options_from_the_environment(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server, _ = serve([data(SUBSCRIPTION)])
    monkeypatch.setenv("BILLCORE_BASE_URL", server.url + ACCOUNT + "/")
    monkeypatch.setenv("BILLCORE_API_KEY", "key_of_the_environment")
    with billcore.Client() as client:
        assert client.subscriptions.get(1).id == "sub_1"
    (request,) = server.requests
    assert request.header("X-API-KEY") == "key_of_the_environment"
    assert request.target == ACCOUNT + "/subscription/1"


def test_the_certificates_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tls: tuple[ssl.SSLContext, str]
) -> None:
    with ScriptedServer(lambda _: data(ORDER), tls=tls[0]) as server:

        def get(**options: Any) -> str | int:
            with billcore.Client(base_url=server.url + ACCOUNT, api_key="k", max_retries=0, **options) as client:
                return client.orders.get("o").id

        for name, value in (("SSL_CERT_FILE", ""), ("SSL_CERT_DIR", str(tmp_path))):  # the system's, and none
            monkeypatch.setenv(name, value)
            with pytest.raises(billcore.TlsError):
                get()
        monkeypatch.setenv("SSL_CERT_FILE", tls[1])
        assert get() == "ord_1"
        monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/ca")
        with pytest.raises(billcore.ConfigError, match="SSL_CERT_FILE names /nowhere/ca"):
            get()
        assert get(ca_bundle=Path(tls[1])) == "ord_1"


@pytest.mark.parametrize("make", [billcore.Client, billcore.AsyncClient])
def test_options_that_cannot_work(make: Any) -> None:
    good = {"base_url": URL, "api_key": "k"}
    for options in ({}, {"api_key": "k"}, good | {"base_url": "http://service.example/x"}, good | {"timeout": -1.5}):
        with pytest.raises(billcore.ConfigError):
            make(**options)
    for wrong in ({"timeout": 0}, {"max_retries": -1}, {"headers": {"X-API-KEY": "other"}}):
        with pytest.raises(billcore.ConfigError):
            make(**good).with_options(**wrong)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("base_url", 5),
        ("base_url", "https://\udc80"),
        ("api_key", b"k"),
        ("timeout", float("nan")),
        ("headers", "X: y"),
        ("headers", ["ab"]),
        ("headers", {"X": 5}),
        ("http2", 1),
        ("max_response", 1 << 70),
        ("max_retries", True),
        ("concurrency", "8"),
    ],
)
def test_options_of_the_wrong_type(name: str, value: Any) -> None:
    with pytest.raises(billcore.InvalidArgumentError, match=name):
        billcore.Client(**{"base_url": URL, "api_key": "k", name: value})


@each_kind
@pytest.mark.parametrize("headers", [EXTRA, list(EXTRA.items())])
def test_with_options_shares_the_connections(kind: str, headers: Any) -> None:
    with calling(kind, lambda _: data(SUBSCRIPTION), headers=headers, timeout=None) as (server, calls):
        other = calls.client.with_options(headers={"X-Tenant": "7"}, timeout=5)
        calls.done(calls.client.subscriptions.get("s"))
        calls.done(other.subscriptions.get("s"))
        calls.done(other.close())
        with pytest.raises(billcore.ConfigError, match="closed"):
            calls.done(other.subscriptions.get("s"))
        calls.done(calls.client.subscriptions.get("s"))
        assert {request.connection for request in server.requests} == {0}
        sent = [(request.header("X-Extra"), request.header("X-Tenant")) for request in server.requests]
        assert sent == [("1", None), (None, "7"), ("1", None)]
        agent = server.requests[0].header("User-Agent")
        assert agent is not None and agent.startswith(f"billcore/{billcore.__version__} ") and agent.endswith(" shop/2")


# ---- Results ---------------------------------------------------------------------------------------------------------

RESULTS: list[tuple[Callable[[Any], Any], dict[str, Any], type[Any]]] = [
    (lambda c: c.subscriptions.get("a b"), SUBSCRIPTION, billcore.Subscription),
    (lambda c: c.subscriptions.cancel(7), SUBSCRIPTION, billcore.Subscription),
    (lambda c: c.subscriptions.change_product("s", product_id=4), SUBSCRIPTION, billcore.Subscription),
    (lambda c: c.subscriptions.charge("s", product_id=1, amount=5), ORDER, billcore.Order),
    (lambda c: c.products.get(42), PRODUCT, billcore.Product),
    (lambda c: c.products.update(42, price=5), PRODUCT, billcore.Product),
    (lambda c: c.orders.get("o"), ORDER, billcore.Order),
]


@each_kind
@pytest.mark.parametrize(("call", "sample", "type_"), RESULTS)
def test_results_are_typed_and_know_their_answer(
    kind: str, call: Any, sample: dict[str, Any], type_: type[Any]
) -> None:
    reply = data(sample)
    reply.headers["X-Request-Id"] = "req_1"
    with calling(kind, [reply]) as (_, calls):
        made = calls.done(call(calls.client))
    assert type(made) is type_ and made.to_dict() == sample
    for one in (made, copy.copy(made)):
        info = one.response_info
        assert (info.status, info.attempts, info.request_id) == (200, 1, "req_1") and one == made
    assert pickle.loads(pickle.dumps(made)) == made


@each_kind
def test_request(kind: str) -> None:
    replies = [json_reply([1, {"a": 10**30}], 201), Reply(status=204), Reply(status=404, body=b"no"), Reply(body=b"<")]
    with calling(kind, replies) as (server, calls):

        def request(*args: Any, **more: Any) -> Any:
            return calls.done(calls.client.request(*args, **more))

        response = request("POST", "/things", query={"a": "b c", "n": 5}, json={"k": None})
        assert (response.status, response.json(), response.body) == (201, [1, {"a": 10**30}], b'[1,{"a":%d}]' % 10**30)
        assert response.headers["content-type"] == "application/json" and response.response_info.status == 201
        assert repr(response) == "<Response status=201>"
        assert request("DELETE", "/x", query=[("a", "1"), ("a", "2")], json=billcore.NOT_GIVEN).body == b""
        assert request("GET", "/x", raise_on_error=False).status == 404
        with pytest.raises(billcore.DecodeError):
            request("PUT", "/x", json=None).json()
        assert [(r.method, r.target.removeprefix(ACCOUNT), r.body) for r in server.requests] == [
            ("POST", "/things?a=b%20c&n=5", b'{"k":null}'),
            ("DELETE", "/x?a=1&a=2", b""),
            ("GET", "/x", b""),
            ("PUT", "/x", b"null"),
        ]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, r"not None: leave the name out, or pass '' to send it empty"),
        (True, r"not bool: .*'true'"),
        (1.5, r"not float: .*str\(value\)"),
        ([1, 2], r"not list: .*pairs"),
        ((), r"not tuple: .*pairs"),
    ],
)
def test_values_of_a_query_that_have_no_one_text(serve: Serve, value: Any, words: str) -> None:
    _, client = serve([])
    for query in ({"a": value}, [("b", 1), ("a", value)]):
        with pytest.raises(billcore.InvalidArgumentError, match="^a value of query must be a str or an int, " + words):
            client.request("GET", "/x", query=query)


@pytest.mark.parametrize(
    "arguments", [{"query": "a=b"}, {"json": {}}, {"raise_on_error": 1}, {"timeout": "1"}, {"timeout": 0}]
)
def test_requests_that_are_refused(serve: Serve, arguments: dict[str, Any]) -> None:
    server, client = serve([])
    with pytest.raises(billcore.InvalidArgumentError):
        client.request(**{"method": "GET", "path": "/x", **arguments})
    assert server.requests == []


# ---- Closing and threads ---------------------------------------------------------------------------------------------


@each_kind
def test_after_close_a_call_is_a_config_error(kind: str) -> None:
    with calling(kind) as (server, calls):
        client = calls.client
        subscriptions, pager = client.subscriptions, client.products.list()
        before = None if kind == "blocking" else client.orders.get("o")

        async def enter() -> Any:
            async with client as same:
                return same

        assert (client.__enter__() if kind == "blocking" else calls.done(enter())) is client
        calls.done(client.close())
        calls.done(client.close())
        for call in (
            lambda: before or client.orders.get("o"),
            lambda: subscriptions.get("s"),
            lambda: client.request("GET", "/x"),
            pager.first,
        ):
            with pytest.raises(billcore.ConfigError, match="closed"):
                calls.done(call())
        assert server.requests == []


# ---- Coroutines that are never awaited, or entered twice -------------------------------------------------------------


@each_loop
def test_a_call_that_was_never_awaited_warns_and_sends_nothing(run: Run) -> None:
    with serving(lambda _: data(SUBSCRIPTION)) as (server, client):

        async def main() -> None:
            with pytest.warns(RuntimeWarning, match=r"coroutine 'Subscriptions.cancel' was never awaited"):
                client.subscriptions.cancel("s")  # type: ignore[unused-coroutine]
                gc.collect()
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                call = client.subscriptions.cancel("s")
                call.close()  # like any coroutine, a closed call prints no warning
                with pytest.raises(RuntimeError, match="cannot reuse"):
                    await call
                del call
                gc.collect()
            await asyncio.sleep(UNSENT)
            assert server.requests == [] and server.connections == 0
            call = client.subscriptions.get("s")
            await call
            with pytest.raises(RuntimeError, match="cannot reuse already awaited coroutine"):
                await call
            await client.close()

        run(main())
        assert len(server.requests) == 1


@each_loop
@pytest.mark.parametrize("write", [False, True])
@pytest.mark.parametrize(
    "use",
    [
        lambda call: call.close(),
        lambda call: call.send(None),
        lambda call: call.throw(KeyError("x")),
        lambda call: call.__await__().__next__(),
    ],
    ids=["close", "send", "throw", "next"],
)
def test_a_call_is_not_entered_twice(run: Run, use: Callable[[Any], object], write: bool) -> None:
    """A hook that closes or resumes the coroutine of the running call gets a ValueError; the call still succeeds."""
    told: list[str] = []

    class Hooks:
        call: Any = None

        def on_request(self, _: billcore.Attempt) -> None:
            with pytest.raises(ValueError, match="coroutine already executing"):
                use(self.call)
            told.append("refused")

    hooks = Hooks()
    with serving(lambda _: data(ORDER), hooks=hooks) as (server, client):

        async def main() -> None:
            async with client:
                if write:
                    hooks.call = client.subscriptions.charge("s", product_id=1, amount=1)
                else:
                    hooks.call = client.orders.get("o")
                assert (await hooks.call).id == ORDER["id"]

        run(main())
        assert told == ["refused"] and len(server.requests) == 1


def test_a_call_without_a_running_loop_is_refused() -> None:
    with serving(lambda _: data(SUBSCRIPTION)) as (server, client):
        call = client.subscriptions.get("s")
        with pytest.raises(RuntimeError, match=r"no running event loop of asyncio: .* works with asyncio only"):
            call.send(None)
        assert server.requests == []


@each_loop
def test_a_request_on_a_kept_connection_leaves_at_once(run: Run) -> None:
    """The first step of the coroutine sends the request, without waiting for a turn of the loop."""
    with serving(lambda _: data(SUBSCRIPTION)) as (server, client):

        async def main() -> None:
            assert (await client.subscriptions.get("s")).id == "sub_1"
            begun = client.subscriptions.get("t")
            begun.send(None)
            until(lambda: len(server.requests) == 2)  # until() blocks, so the event loop does not run meanwhile
            begun.close()
            assert (await client.subscriptions.get("u")).id == "sub_1"
            await client.close()

        run(main())
        assert [request.target.rpartition("/")[2] for request in server.requests] == ["s", "t", "u"]
