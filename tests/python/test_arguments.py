"""Arguments of the client's calls: those that the client refuses without a request, and the exact requests it sends."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from decimal import Decimal
from enum import IntEnum
from types import ModuleType
from typing import Any

import pytest

import billcore
from support.waiting import until

from .async_support import silent
from .conftest import Serve
from .support import ACCOUNT, ORDER, PRODUCT, SUBSCRIPTION, data, page


class Number(IntEnum):
    SEVEN = 7


class Money(Decimal):
    """A Decimal whose __str__() is not JSON and whose is_finite() is always true."""

    def __str__(self) -> str:
        return f"{self:,.2f}"

    def is_finite(self) -> bool:
        return True


class Index:
    def __index__(self) -> int:
        return 7


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


LONG = ["s" * 1_000_000, "s" * 10_000_000]  # the first id is too long for servers, the second for libcurl


@pytest.mark.parametrize(
    "wrong", [*LONG, "", ".", "..", "a\r\nb", "a\0", "\ud800", True, 1.5, None, b"s", Decimal(5), ["s"]]
)
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
        (None, ""),
    ],
)
def test_each_form_of_state_is_sent_as_a_filter(serve: Serve, state: Any, sent: str) -> None:
    server, client = serve([page([], 1, 1)])
    assert client.subscriptions.orders("s", state=state).collect() == []
    assert server.requests[0].target == f"{ACCOUNT}/subscription/s/orders?page=1{sent}"


@pytest.mark.parametrize("state", [5, [], (), {"paid"}, [5], [""], "a,b", ["\ud800"]])
def test_states_that_are_none(serve: Serve, state: Any) -> None:
    _, client = serve([])
    with pytest.raises(billcore.InvalidArgumentError, match="state"):
        client.subscriptions.orders("s", state=state)


@pytest.mark.parametrize("state", ["paid,confirmed", "paid, confirmed", ["paid,confirmed"], ("new", "paid,")])
def test_several_states_in_one_text(serve: Serve, state: Any) -> None:
    _, client = serve([])
    with pytest.raises(billcore.InvalidArgumentError, match=r'a sequence, state=\["paid", "confirmed"\]'):
        client.subscriptions.orders("s", state=state)


def test_wrong_calls_name_the_argument(serve: Serve) -> None:
    _, client = serve([])
    calls: list[tuple[Callable[..., object], tuple[Any, ...], dict[str, Any], str]] = [
        (client.subscriptions.charge, ("s",), {"amount": 1}, "product_id"),
        (client.subscriptions.charge, ("s", 1), {"amount": 1}, "positional"),
        (client.subscriptions.get, (), {}, "'id'"),
        (client.subscriptions.get, (), {"id": "s"}, "unexpected keyword argument 'id'"),
        (client.subscriptions.list, (), {"sort": True}, "sort"),
        (client.subscriptions.list, (None,), {}, "positional"),
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
        ({"amounts": [Money("1234.567")]}, {}, '{"amounts":[1234.567]}'),
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


def test_a_body_while_decimal_is_being_imported(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    server, client = serve([data(PRODUCT)])
    monkeypatch.setitem(sys.modules, "decimal", ModuleType("decimal"))
    client.products.update(42, {"any": [1]})
    assert server.requests[0].body == b'{"any":[1]}'


@pytest.mark.parametrize(("name", "near"), [("prise", "'price'"), ("vat_rates", "'vat_rate'"), ("xyz", "")])
def test_update_refuses_a_misspelt_field(serve: Serve, name: str, near: str) -> None:
    server, client = serve([data(PRODUCT)])
    words = f"did you mean {near}" if near else "go through the mapping"
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'.*{words}"):
        client.products.update(42, **{name: 5})  # type: ignore[arg-type]
    assert server.requests == []
    client.products.update(42, {name: 5})
    assert server.requests[0].body.decode() == f'{{"{name}":5}}'


def test_update_has_a_timeout_of_its_own(serve: Serve) -> None:
    server, client = serve(silent)
    with pytest.raises(billcore.OutcomeUnknownError):
        client.products.update(42, {"timeout": "field"}, timeout=0.2)
    until(lambda: server.requests)  # the call may end before the server has seen its request
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
        {"x": Money("NaN")},
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
