"""Arguments of the client's calls: what the binding converts, and what it refuses without a request. The rows of
tests/fixtures/bad_input.json have the values that the core refuses, and those of the wrong type for a number."""

from __future__ import annotations

import json
import sys
from enum import IntEnum
from types import ModuleType
from typing import Any

import pytest

import billcore

from .conftest import Serve
from .support import ACCOUNT, ORDER, PRODUCT, SUBSCRIPTION, data, page


class Number(IntEnum):
    SEVEN = 7


class Index:
    def __index__(self) -> int:
        return 7


@pytest.mark.parametrize("number", [7, Number.SEVEN, Index()])
def test_anything_that_is_an_integer_is_one(serve: Serve, number: Any) -> None:
    server, client = serve([data(ORDER), data(PRODUCT), data(SUBSCRIPTION)])
    client.subscriptions.charge("s", product_id=number, amount=number, quantity=number, vat=number)
    assert json.loads(server.requests[0].body) == {"product_id": 7, "amount": 7, "quantity": 7, "vat": 7}
    client.products.get(number)
    client.subscriptions.get(number)
    assert [request.target for request in server.requests[1:]] == [ACCOUNT + "/product/7", ACCOUNT + "/subscription/7"]


# The last one is too long for libcurl.
@pytest.mark.parametrize("wrong", ["\ud800", b"s", "s" * 10_000_000])
def test_ids_that_are_none(serve: Serve, wrong: Any) -> None:
    server, client = serve([])
    with pytest.raises(billcore.InvalidArgumentError, match=r"\bid\b"):
        client.subscriptions.cancel(wrong)
    assert server.requests == []


def test_only_what_is_given_is_sent(serve: Serve) -> None:
    server, client = serve([data(ORDER)])
    client.subscriptions.charge("s", product_id=1, amount=0, quantity=None, vat=None, description="blåbær \U0001f4b3")
    assert server.requests[0].body.decode() == '{"product_id":1,"amount":0,"description":"blåbær 💳"}'


@pytest.mark.parametrize(("state", "sent"), [(("paid", "new"), "&filter%5Bstate%5D=paid%2Cnew"), (None, "")])
def test_each_form_of_state_is_sent_as_a_filter(serve: Serve, state: Any, sent: str) -> None:
    server, client = serve([page([], 1, 1)])
    assert client.subscriptions.orders("s", state=state).collect() == []
    assert server.requests[0].target == f"{ACCOUNT}/subscription/s/orders?page=1{sent}"


@pytest.mark.parametrize("state", [5, (), {"paid"}, [5], ["\ud800"], ["paid,new"]])
def test_states_that_are_none(serve: Serve, state: Any) -> None:
    _, client = serve([])
    with pytest.raises(billcore.InvalidArgumentError, match="state"):
        client.subscriptions.orders("s", state=state)


# Product updates; test_json_writer.py has the values.


@pytest.mark.parametrize(
    ("fields", "more", "sent"),
    [
        ({"name": "a", "price": 5}, {}, '{"name":"a","price":5}'),
        (None, {"description": None}, '{"description":null}'),
        ({"name": "a", "x": 1}, {"name": "b"}, '{"name":"b","x":1}'),
        ({"timeout": "field"}, {"timeout": 9}, '{"timeout":"field"}'),
        ({"prise": 5}, {}, '{"prise":5}'),
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


@pytest.mark.parametrize(("name", "near"), [("prise", "'price'"), ("xyz", "")])
def test_update_refuses_a_misspelt_field(serve: Serve, name: str, near: str) -> None:
    server, client = serve([])
    words = f"did you mean {near}" if near else "go through the mapping"
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'.*{words}"):
        client.products.update(42, **{name: 5})  # type: ignore[arg-type]
    assert server.requests == []


@pytest.mark.parametrize("fields", [{}, None, "name", [("name", "x")], {5: 1}, {"\ud800": 1}])
def test_updates_that_are_refused(serve: Serve, fields: Any) -> None:
    server, client = serve([])
    with pytest.raises(billcore.InvalidArgumentError):
        client.products.update(42, fields)
    assert server.requests == []
