"""The client: options, requests, redaction, threads, closing."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import billcore
from conformance.server import Reply, json_reply

from .conftest import Serve
from .support import ACCOUNT, API_KEY, ORDER, SUBSCRIPTION, data, in_threads, run_python

URL = "https://service.example" + ACCOUNT


EXTRA = {"X-Extra": "1", "User-Agent": "shop/2"}


def test_options_from_the_environment(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server, _ = serve([data(SUBSCRIPTION)])
    monkeypatch.setenv("BILLCORE_BASE_URL", server.url + ACCOUNT + "/")
    monkeypatch.setenv("BILLCORE_API_KEY", "key_of_the_environment")
    with billcore.Client() as client:
        assert client.subscriptions.get(1).id == "sub_1"
    (request,) = server.requests
    assert request.header("X-API-KEY") == "key_of_the_environment"
    assert request.target == ACCOUNT + "/subscription/1"


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"api_key": "k"},
        {"base_url": URL},
        {"base_url": "service.example", "api_key": "k"},
        {"base_url": URL + "?a=b", "api_key": "k"},
        {"base_url": "https://service.example", "api_key": "k"},
        {"base_url": "https://service.example/", "api_key": "k"},
        {"base_url": "http://service.example/x", "api_key": "k"},
        {"base_url": URL, "api_key": "k\r\nX: y"},
        {"base_url": URL, "api_key": "k", "headers": {"X": "a\r\nb"}},
        {"base_url": URL, "api_key": "k", "headers": {"X-API-Key": "other"}},
        {"base_url": URL, "api_key": "k", "timeout": 0},
        {"base_url": URL, "api_key": "k", "timeout": -1.5},
        {"base_url": URL, "api_key": "k", "max_response": 0},
        {"base_url": URL, "api_key": "k", "ca_bundle": "/nowhere/ca.pem"},
        {"base_url": URL, "api_key": "k", "request_id_header": "a b"},
    ],
)
def test_options_that_cannot_work(options: dict[str, Any]) -> None:
    with pytest.raises(billcore.ConfigError):
        billcore.Client(**options)


@pytest.mark.parametrize("kind", [billcore.Client, billcore.AsyncClient])
def test_a_base_url_without_the_account(monkeypatch: pytest.MonkeyPatch, kind: Any) -> None:
    for url in ("https://service.example", "https://service.example/", "http://127.0.0.1:8080//"):
        with pytest.raises(billcore.ConfigError, match=r"account segment.*https://HOST/ACCOUNT_ID"):
            kind(base_url=url, api_key="k")
        monkeypatch.setenv("BILLCORE_BASE_URL", url)
        with pytest.raises(billcore.ConfigError, match="account segment"):
            kind(api_key="k")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("base_url", 5),
        ("base_url", "https://\udc80"),
        ("api_key", b"k"),
        ("timeout", "5"),
        ("timeout", True),
        ("timeout", float("nan")),
        ("ca_bundle", 5),
        ("headers", 5),
        ("headers", "X: y"),
        ("headers", ["ab"]),
        ("headers", {"X": 5}),
        ("http2", 1),
        ("allow_insecure_http", "yes"),
        ("request_id_header", None),
        ("max_response", 1.5),
        ("max_response", 1 << 70),
    ],
)
def test_options_of_the_wrong_type(name: str, value: Any) -> None:
    with pytest.raises(billcore.InvalidArgumentError, match=name):
        billcore.Client(**{"base_url": URL, "api_key": "k", name: value})


def test_options_are_keywords_only() -> None:
    with pytest.raises(TypeError, match="positional"):
        billcore.Client(URL, API_KEY)  # type: ignore[call-arg]


@pytest.mark.parametrize("headers", [EXTRA, list(EXTRA.items())])
def test_headers_are_sent(serve: Serve, headers: Any) -> None:
    server, _ = serve([data(ORDER)])
    with billcore.Client(base_url=server.url + ACCOUNT, api_key=API_KEY, headers=headers, timeout=None) as client:
        client.orders.get("o")
    assert server.requests[0].header("X-Extra") == "1"
    agent = server.requests[0].header("User-Agent")
    assert agent is not None and agent.startswith(f"billcore/{billcore.__version__} ") and agent.endswith(" shop/2")


def test_ca_bundle_takes_a_path(tmp_path: Path) -> None:
    bundle = tmp_path / "ca.pem"
    bundle.write_text("")
    billcore.Client(base_url=URL, api_key="k", ca_bundle=bundle).close()


def test_max_response(serve: Serve) -> None:
    server, _ = serve([data(ORDER), data(ORDER)])
    with billcore.Client(base_url=server.url + ACCOUNT, api_key=API_KEY, max_response=50) as client:
        with pytest.raises(billcore.DecodeError, match="max_response"):
            client.orders.get("o")
        with pytest.raises(billcore.OutcomeUnknownError) as caught:
            client.subscriptions.charge("s", product_id=1, amount=1)
    assert isinstance(caught.value.__cause__, billcore.DecodeError)


# request() and answers.


def test_request(serve: Serve) -> None:
    server, client = serve([json_reply([1, {"a": 10**30}], 201), Reply(status=204), Reply(status=404, body=b"no")])
    query: dict[str, str | int] = {"a": "b c", "n": 5}
    response = client.request("POST", "/things", query=query, json={"k": None})
    assert (response.status, response.json(), response.body) == (201, [1, {"a": 10**30}], b'[1,{"a":%d}]' % 10**30)
    assert response.headers["content-type"] == "application/json" and response.response_info.status == 201
    assert repr(response) == "<Response status=201>"
    assert client.request("DELETE", "/things", query=[("a", "1"), ("a", "2")], json=billcore.NOT_GIVEN).body == b""
    assert client.request("GET", "/x", raise_on_error=False).status == 404
    assert [(r.method, r.target, r.body) for r in server.requests] == [
        ("POST", ACCOUNT + "/things?a=b%20c&n=5", b'{"k":null}'),
        ("DELETE", ACCOUNT + "/things?a=1&a=2", b""),
        ("GET", ACCOUNT + "/x", b""),
    ]


def test_a_refusal_whose_body_cannot_be_decoded(serve: Serve) -> None:
    """raise_on_error=False does not suppress it: DecodeError for its body would say that the write was done."""
    _, client = serve([Reply(status=402, headers={"Content-Encoding": "gzip"}, body=b"no")])
    with pytest.raises(billcore.PaymentError):
        client.request("POST", "/things", json={"k": 1}, raise_on_error=False)


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, r"not None: leave the name out, or pass '' to send it empty"),
        (True, r"not bool: .*'true'"),
        (1.5, r"not float: .*str\(value\)"),
        (b"x", r"not bytes: .*str\(value\)"),
        ([1, 2], r"not list: .*pairs"),
        ((), r"not tuple: .*pairs"),
    ],
)
def test_values_of_a_query_that_have_no_one_text(serve: Serve, value: Any, words: str) -> None:
    _, client = serve([])
    for query in ({"a": value}, [("b", 1), ("a", value)]):
        with pytest.raises(billcore.InvalidArgumentError, match="^a value of query must be a str or an int, " + words):
            client.request("GET", "/x", query=query)


def test_request_json_null_is_sent_and_answers_need_not_be_json(serve: Serve) -> None:
    server, client = serve([Reply(body=b"<html>"), Reply(status=500)])
    response = client.request("PUT", "/x", json=None)
    assert server.requests[0].body == b"null"
    with pytest.raises(billcore.DecodeError):
        response.json()
    with pytest.raises(billcore.ServerError):
        client.request("GET", "/x")


@pytest.mark.parametrize(
    "arguments",
    [
        {"method": "HEAD"},
        {"method": 5},
        {"path": "x"},
        {"path": "/a b"},
        {"path": "/x?y"},
        {"path": "/../x"},
        {"query": 5},
        {"query": "a=b"},
        {"query": {"a": None}},
        {"query": {"a": True}},
        {"json": {}},
        {"raise_on_error": 1},
        {"timeout": "1"},
        {"timeout": 0},
    ],
)
def test_requests_that_are_refused(serve: Serve, arguments: dict[str, Any]) -> None:
    server, client = serve([])
    with pytest.raises(billcore.InvalidArgumentError):
        client.request(**{"method": "GET", "path": "/x", **arguments})
    assert server.requests == []


def test_delete_and_create_accept_any_body(serve: Serve) -> None:
    _, client = serve([Reply(body=b"<html>"), Reply(status=201, body=b"")])
    assert client.products.delete(42) is None  # type: ignore[func-returns-value]
    response = client.webhook_endpoints.create(url="https://example.com/hook")
    assert (response.status, response.body) == (201, b"")


def test_copies_and_pickles_of_results(serve: Serve) -> None:
    _, client = serve([data(SUBSCRIPTION)])
    made = client.subscriptions.get("s")
    assert made.response_info is not None and made.response_info.status == 200
    again = copy.copy(made)
    assert again == made and again.response_info is not None and again.response_info.status == 200
    assert pickle.loads(pickle.dumps(made)) == made


# Tests of keys, closing, threads and processes.


def test_the_key_is_in_no_text(serve: Serve) -> None:
    echo = Reply(status=500, headers={"X-Request-Id": API_KEY, "X-Echo": API_KEY}, body=f"<b>{API_KEY}</b>".encode())
    error = json_reply({"error": {"code": API_KEY, "message": f"key {API_KEY}"}}, 422)
    _, client = serve([echo, error, Reply(body=API_KEY.encode()), echo])
    texts = [repr(client), str(client)]
    calls: list[Callable[[], object]] = [
        lambda: client.subscriptions.get("s"),
        lambda: client.webhook_endpoints.create(url="x"),
        lambda: client.subscriptions.get("s"),
        lambda: billcore.Client(base_url=URL, api_key=API_KEY, wrong=1),  # type: ignore[call-arg]
        lambda: billcore.Client(base_url=URL, api_key=API_KEY, timeout="x"),  # type: ignore[arg-type]
        lambda: billcore.Client(base_url=URL, api_key=API_KEY + "\n"),
        lambda: pickle.dumps(client),
        lambda: copy.copy(client),
    ]
    for call in calls:
        with pytest.raises((billcore.BillcoreError, TypeError)) as caught:
            call()
        texts += [repr(caught.value), str(caught.value), repr(caught.value.__dict__)]
        if isinstance(caught.value, billcore.BillcoreError):
            texts.append(repr(pickle.dumps(caught.value)))
    texts.append(repr(client.request("GET", "/x", raise_on_error=False).headers))
    assert len(texts) > 20
    for text in texts:
        assert API_KEY not in text


def test_portal_urls_are_in_no_text(serve: Serve) -> None:
    _, client = serve([json_reply({"data": [SUBSCRIPTION]}), json_reply(SUBSCRIPTION, 500), data(SUBSCRIPTION)])
    texts = []
    for kind in (billcore.DecodeError, billcore.ServerError):
        with pytest.raises(kind) as caught:
            client.subscriptions.get("s")
        texts += [str(caught.value), repr(caught.value.__dict__)]
    made = client.subscriptions.get("s")
    texts += [repr(made), repr(made.response_info)]
    for text in texts:
        assert "portal.example" not in text
    assert "portal.example" in made.raw and "portal.example" in made.to_dict()["cancel_url"]


def test_client_refuses_to_pickle_or_copy(serve: Serve) -> None:
    _, client = serve([])
    for call in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="Client cannot be pickled or copied"):
            call(client)


def test_after_close_a_call_is_a_config_error(serve: Serve) -> None:
    server, client = serve([data(SUBSCRIPTION)])
    subscriptions = client.subscriptions
    pager = client.products.list()
    with client as same:
        assert same is client
    client.close()
    for call in (lambda: subscriptions.get("s"), lambda: client.orders.get("o"), pager.first):
        with pytest.raises(billcore.ConfigError, match="closed"):
            call()
    assert server.requests == []


def test_unclosed_clients_close_quietly(serve: Serve) -> None:
    server, _ = serve(lambda request: data(SUBSCRIPTION))
    files = len(os.listdir("/proc/self/fd"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(5):
            client = billcore.Client(base_url=server.url + ACCOUNT, api_key=API_KEY)
            kept = client.subscriptions
            assert kept.get("s").id == "sub_1"
            del client
            assert kept.get("s").id == "sub_1", "a group keeps its client's connections"
        del kept
        gc.collect()
    # Allow a few open descriptors: the server's threads, in this process, close their ends of the connections later.
    assert len(os.listdir("/proc/self/fd")) <= files + 5


def test_one_client_in_eight_threads(serve: Serve) -> None:
    def script(request: Any) -> Reply:
        return data({**SUBSCRIPTION, "id": request.target.rsplit("/", 1)[1]})

    server, client = serve(script)

    def work(number: int) -> None:
        for i in range(25):
            name = f"s{number}-{i}"
            assert client.subscriptions.get(name).id == name

    in_threads(work, range(8))
    assert len(server.requests) == 200 and server.connections <= 8


def test_a_client_works_on_both_sides_of_a_fork(serve: Serve) -> None:
    server, client = serve(lambda request: data(SUBSCRIPTION))
    assert client.subscriptions.get("s").id == "sub_1"
    # Run in a child process: the test process has threads, so it must not fork.
    code = """
import os, sys, billcore
client = billcore.Client(base_url=sys.argv[1], api_key=sys.argv[2])
assert client.subscriptions.get("parent").id == "sub_1"
child = os.fork()
assert client.subscriptions.get("both").id == "sub_1"
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
assert client.subscriptions.get("parent").id == "sub_1"
"""
    run_python(code, server.url + ACCOUNT, API_KEY)
    assert len(server.requests) == 5
