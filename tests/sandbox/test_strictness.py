"""Unknown parameters of the service: tolerated, and reported on stderr, in `GET state` and in the request's record."""

from __future__ import annotations

from typing import Any

import pytest

from billcore.testing import Sandbox, SandboxAccount
from sandbox.support import Service


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
