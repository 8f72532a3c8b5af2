"""Unknown parameters of the service: tolerated, and reported on stderr, in `GET state` and in the request's record."""

from __future__ import annotations

import re
from typing import Any

import pytest

from billcore.testing import Control, Sandbox, SandboxAccount
from sandbox.support import Service, of_ready, started


def names(account: SandboxAccount) -> list[tuple[str, str, int]]:
    found = account.control.state()["unknown_parameters"]
    assert all(each["account"] == Service(account.accounts[0]).account for each in found)
    return [(each["operation"], each["name"], each["count"]) for each in found]


def test_a_misspelt_field_changes_nothing_and_is_reported(mine: SandboxAccount, process: Sandbox) -> None:
    service = Service(mine.accounts[0])
    answers = [service.charge(quantty=3) for _ in range(2)]
    assert [(each.status, each.data["total"]) for each in answers] == [(200, 1500)] * 2
    assert names(mine) == [("subscriptions.charge", "quantty", 2)]
    assert [request["unknown"] for request in mine.control.requests() if request["method"] == "POST"] == [
        ["quantty"],
        ["quantty"],
    ]
    service.post(f"/product/{mine.ids['products']['one_time']}?quantty=3", {})
    warnings = [line for line in process.stderr().splitlines() if "'quantty'" in line]
    assert warnings == [
        "billcore sandbox: subscriptions.charge ignores the unknown parameter 'quantty': its parameters are product_id,"
        " amount, quantity, vat, description",
        "billcore sandbox: products.update ignores the unknown parameter 'quantty': its parameters are name,"
        " description, price, currency, vat_rate, interval",
    ]


@pytest.mark.parametrize(
    ("method", "path", "body", "unknown"),
    [
        ("GET", "/products?page=1&pgae=2&pgae=3", None, ["pgae"]),
        ("GET", "/products?per_page=5", None, ["per_page"]),
        ("GET", "/subscriptions?filter%5Breference_id%5D=x&filter[reference]=x", None, ["filter[reference]"]),
        ("GET", "{s}/orders?page=1&per_page=5&filter[state][]=paid&filter%5Bstate%5D%5B3%5D=paid", None, []),
        ("GET", "{s}/orders?filter[product_id]=1&filter[state]=paid&filter[status]=paid", None, ["filter[status]"]),
        ("GET", "{s}?x=", None, ["x"]),
        ("POST", "{s}/cancel?now=1", {"reason": "x", "at": None}, ["now", "reason", "at"]),
        ("POST", "{s}/product", {"product_id": 0, "quantity": 1}, ["quantity"]),
        ("POST", "/webhooks/endpoints", {"url": "x", "secret": "x"}, ["secret"]),
        ("POST", "/product/{p}", {"colour": "red", "name": "Towel"}, []),
        ("POST", "/product/{p}?colour=red", {}, ["colour"]),
        ("POST", "{s}/order", [{"quantty": 1}], []),
        ("POST", "/nothing?x=1", {"y": 1}, []),
    ],
)
def test_every_operation_knows_its_parameters(
    mine: SandboxAccount, method: str, path: str, body: Any, unknown: list[str]
) -> None:
    service = Service(mine.accounts[0])
    where = path.format(
        s=f"/subscription/{mine.ids['subscriptions']['demo-invoice']}", p=mine.ids["products"]["one_time"]
    )
    service.send(method, where, *([] if body is None else [body]))
    assert [name for _, name, _ in names(mine)] == unknown
    assert mine.control.requests()[-1]["unknown"] == unknown


def test_a_body_that_is_not_json_has_no_names(mine: SandboxAccount) -> None:
    service = Service(mine.accounts[0])
    assert service.send("POST", "/webhooks/endpoints", raw=b'{"x": ').status == 400
    assert service.send("POST", "/webhooks/endpoints", raw=b"[" * 100_000).status == 400
    assert names(mine) == []


def test_accounts_and_reset(process: Sandbox, control: Control) -> None:
    made = process.new_account()
    first, second = Service(process.accounts[0]), Service(made.accounts[0])
    first.get("/products?a=1")
    second.get("/products?b=1")
    assert [each["name"] for each in control.state()["unknown_parameters"]] == ["a", "b"]
    assert names(made) == [("products.list", "b", 1)]
    control.delete_account(second.account)
    assert [each["name"] for each in control.state()["unknown_parameters"]] == ["a"]
    control.reset()
    assert control.state()["unknown_parameters"] == []


def test_many_names_take_bounded_room_and_one_line_each() -> None:
    with started() as (process, ready):
        service, control = of_ready(ready)
        for batch in range(12):
            query = "&".join(f"{'x' * 200 if n == 0 else ''}n{batch}-{n}%0Aline=1" for n in range(120))
            assert service.get(f"/products?{query}").status == 200
        found = control.state()["unknown_parameters"]
        assert len(found) == 1000
        assert max(len(each["name"]) for each in found) == 100
        process.terminate()
        assert process.stderr is not None
        *lines, end = process.stderr.read().splitlines()
    assert len(lines) == 100
    assert all(re.match(r"billcore sandbox: products.list ignores the unknown parameter '", line) for line in lines)
    assert end == "billcore sandbox: further unknown parameters are only counted: see unknown_parameters in GET state"
