"""The client: options, arguments, requests, redaction, threads, closing."""

from __future__ import annotations

import copy
import gc
import json
import os
import pickle
import threading
import warnings
from collections.abc import Callable
from decimal import Decimal
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest

import billcore
from conformance.server import Reply, json_reply

from .conftest import Serve
from .support import ACCOUNT, API_KEY, ORDER, PRODUCT, SUBSCRIPTION, data, page, run_python

URL = "https://service.example" + ACCOUNT


EXTRA = {"X-Extra": "1", "User-Agent": "shop/2"}


class Number(IntEnum):
    SEVEN = 7


class Index:
    def __index__(self) -> int:
        return 7


# Options.


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


# Arguments.


@pytest.mark.parametrize("wrong", [True, 1.5, 1 << 70, "5", None, Decimal(1)])
@pytest.mark.parametrize("name", ["amount", "product_id", "quantity", "vat", "page", "per_page", "id"])
def test_numbers_must_be_integers(serve: Serve, name: str, wrong: Any) -> None:
    server, client = serve([])
    subscriptions, products = client.subscriptions, client.products
    if wrong is None and name in ("quantity", "vat", "per_page"):
        return
    charge: dict[str, Any] = {"product_id": 1, "amount": 1, name: wrong}
    lists: dict[str, list[Callable[[], object]]] = {
        "page": [
            lambda: subscriptions.list(page=wrong),
            lambda: subscriptions.orders("s", page=wrong),
            lambda: products.list(page=wrong),
        ],
        "per_page": [lambda: subscriptions.orders("s", per_page=wrong)],
        "id": [lambda: products.get(wrong), lambda: products.update(wrong, name="x"), lambda: products.delete(wrong)],
    }
    calls = lists.get(name, [lambda: subscriptions.charge("s", **charge)])
    if name == "product_id" and wrong is not None:
        calls += [lambda: subscriptions.orders("s", product_id=wrong)]
    for call in calls:
        with pytest.raises(billcore.InvalidArgumentError, match=rf"\b{name}\b"):
            call()
    assert server.requests == []


@pytest.mark.parametrize("number", [7, Number.SEVEN, Index()])
def test_anything_that_is_an_integer_is_one(serve: Serve, number: Any) -> None:
    server, client = serve([data(ORDER), data(PRODUCT), data(SUBSCRIPTION)])
    client.subscriptions.charge("s", product_id=number, amount=number, quantity=number, vat=number)
    assert json.loads(server.requests[0].body) == {"product_id": 7, "amount": 7, "quantity": 7, "vat": 7}
    client.products.get(number)
    client.subscriptions.get(number)
    assert [request.target for request in server.requests[1:]] == [ACCOUNT + "/product/7", ACCOUNT + "/subscription/7"]


@pytest.mark.parametrize(
    ("given", "sent"),
    [("a/b?c%d", "a%2Fb%3Fc%25d"), ("💳", "%F0%9F%92%B3"), (10**30, str(10**30)), (-5, "-5"), ("~a.b-_", "~a.b-_")],
)
def test_ids_are_path_segments(serve: Serve, given: str | int, sent: str) -> None:
    server, client = serve([data(SUBSCRIPTION), data(ORDER)])
    client.subscriptions.get(given)
    client.orders.get(given)
    assert [request.target for request in server.requests] == [
        f"{ACCOUNT}/subscription/{sent}",
        f"{ACCOUNT}/order/{sent}",
    ]


@pytest.mark.parametrize("wrong", ["", ".", "..", "a\r\nb", "a\0", "\ud800", True, 1.5, None, b"s", Decimal(5), ["s"]])
def test_ids_that_are_none(serve: Serve, wrong: Any) -> None:
    server, client = serve([])
    calls: list[Callable[[Any], object]] = [client.subscriptions.get, client.subscriptions.cancel, client.orders.get]
    for call in calls:
        with pytest.raises(billcore.InvalidArgumentError, match=r"\bid\b"):
            call(wrong)
    assert server.requests == []


def test_only_what_is_given_is_sent(serve: Serve) -> None:
    server, client = serve([data(ORDER), data(ORDER)])
    client.subscriptions.charge("s", product_id=1, amount=-5)
    client.subscriptions.charge("s", product_id=1, amount=0, quantity=None, vat=None, description="blåbær \U0001f4b3")
    assert [request.body.decode() for request in server.requests] == [
        '{"product_id":1,"amount":-5}',
        '{"product_id":1,"amount":0,"description":"blåbær 💳"}',
    ]


@pytest.mark.parametrize(
    ("state", "sent"),
    [
        ("paid", "&filter%5Bstate%5D=paid"),
        (["paid", "confirmed"], "&filter%5Bstate%5D=paid%2Cconfirmed"),
        (("paid",), "&filter%5Bstate%5D=paid"),
        ([], ""),
        (None, ""),
    ],
)
def test_states(serve: Serve, state: Any, sent: str) -> None:
    server, client = serve([page([], 1, 1)])
    assert client.subscriptions.orders("s", state=state).collect() == []
    assert server.requests[0].target == f"{ACCOUNT}/subscription/s/orders?page=1{sent}"


@pytest.mark.parametrize("state", [5, {"paid"}, [5], [""], "a,b", ["\ud800"]])
def test_states_that_are_none(serve: Serve, state: Any) -> None:
    _, client = serve([])
    with pytest.raises(billcore.InvalidArgumentError, match="state"):
        client.subscriptions.orders("s", state=state)


def test_wrong_calls_name_the_argument(serve: Serve) -> None:
    _, client = serve([])
    calls: list[tuple[Callable[..., object], tuple[Any, ...], dict[str, Any], str]] = [
        (client.subscriptions.charge, ("s",), {"amount": 1}, "product_id"),
        (client.subscriptions.charge, ("s", 1), {"amount": 1}, "positional"),
        (client.subscriptions.get, (), {}, "'id'"),
        (client.subscriptions.get, (), {"id": "s"}, "unexpected keyword argument 'id'"),
        (client.subscriptions.list, (), {"strict": True}, "strict"),
        (client.subscriptions.list, (), {"resume": None}, "resume"),
        (client.request, ("GET",), {"method": "GET", "path": "/x"}, "multiple values"),
    ]
    for call, arguments, keywords, text in calls:
        with pytest.raises(TypeError, match=text):
            call(*arguments, **keywords)


# Product updates.


@pytest.mark.parametrize(
    ("fields", "more", "sent"),
    [
        ({"name": "a", "price": 5}, {}, '{"name":"a","price":5}'),
        (None, {"description": None}, '{"description":null}'),
        ({"name": "a", "x": 1}, {"name": "b"}, '{"name":"b","x":1}'),
        ({"timeout": 5}, {}, '{"timeout":5}'),
        ({"vat_rate": Decimal("12.50")}, {}, '{"vat_rate":12.50}'),
        ({"vat_rate": 0.1, "a": 1e300, "b": -0.0}, {}, '{"vat_rate":0.1,"a":1e+300,"b":-0.0}'),
        ({"n": 10**30, "e": Number.SEVEN}, {}, f'{{"n":{10**30},"e":7}}'),
        (
            {"any": [True, None, ("é", {"k": 'q"\\\n\x7f/'})]},
            {},
            '{"any":[true,null,["é",{"k":"q\\"\\\\\\n\x7f/"}]]}',
        ),
    ],
)
def test_product_update(serve: Serve, fields: Any, more: dict[str, Any], sent: str) -> None:
    server, client = serve([data(PRODUCT)])
    assert isinstance(client.products.update(42, fields, **more), billcore.Product)
    assert server.requests[0].body.decode() == sent


def test_update_has_a_timeout_of_its_own(serve: Serve) -> None:
    server, client = serve([data(PRODUCT, delay=30)])
    with pytest.raises(billcore.OutcomeUnknownError):
        client.products.update(42, {"timeout": "field"}, timeout=0.2)
    assert server.requests[0].body == b'{"timeout":"field"}'


CYCLE: list[Any] = []
CYCLE.append(CYCLE)


@pytest.mark.parametrize(
    "fields",
    [
        {},
        None,
        5,
        "name",
        [("name", "x")],
        {5: 1},
        {"x": float("nan")},
        {"x": float("inf")},
        {"x": Decimal("NaN")},
        {"x": Decimal("Infinity")},
        {"x": "\ud800"},
        {"\ud800": 1},
        {"x": object()},
        {"x": {1: 2}},
        {"x": b"bytes"},
        {"x": {1, 2}},
        {"x": CYCLE},
        {"price": 1.5},
        {"price": True},
    ],
)
def test_updates_that_are_refused(serve: Serve, fields: Any) -> None:
    server, client = serve([])
    with pytest.raises(billcore.InvalidArgumentError):
        client.products.update(42, fields)
    assert server.requests == []


# request() and answers.


def test_request(serve: Serve) -> None:
    server, client = serve([json_reply([1, {"a": 10**30}], 201), Reply(status=204), Reply(status=404, body=b"no")])
    query: dict[str, str | int] = {"a": "b c", "n": 5}
    response = client.request("POST", "/things", query=query, json={"k": None})
    assert (response.status, response.json(), response.body) == (201, [1, {"a": 10**30}], b'[1,{"a":%d}]' % 10**30)
    assert response.headers["content-type"] == "application/json" and response.response_info.status == 201
    assert repr(response) == "<billcore.Response status=201>"
    assert client.request("DELETE", "/things", query=[("a", "1"), ("a", "2")], json=billcore.UNSET).body == b""
    assert client.request("GET", "/x", raise_on_error=False).status == 404
    assert [(r.method, r.target, r.body) for r in server.requests] == [
        ("POST", ACCOUNT + "/things?a=b%20c&n=5", b'{"k":null}'),
        ("DELETE", ACCOUNT + "/things?a=1&a=2", b""),
        ("GET", ACCOUNT + "/x", b""),
    ]


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


# Keys, closing, threads, processes.


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
    # The server's end of the same connections is in this process, too, and its threads close it a moment later.
    assert len(os.listdir("/proc/self/fd")) <= files + 5


def test_one_client_in_eight_threads(serve: Serve) -> None:
    def script(request: Any) -> Reply:
        return data({**SUBSCRIPTION, "id": request.target.rsplit("/", 1)[1]})

    server, client = serve(script)
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for i in range(25):
                name = f"s{number}-{i}"
                assert client.subscriptions.get(name).id == name
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and len(server.requests) == 200 and server.connections <= 8


def test_a_client_works_on_both_sides_of_a_fork(serve: Serve) -> None:
    server, client = serve(lambda request: data(SUBSCRIPTION))
    assert client.subscriptions.get("s").id == "sub_1"
    # In a process of its own: forking this one, which has threads, would be the test's own fault.
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
