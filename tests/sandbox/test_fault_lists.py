"""Faults of lists: rows that are added and removed between two pages, and pages after the last one."""

from __future__ import annotations

from typing import Any

import pytest

from billcore.testing import SandboxAccount
from sandbox.support import Service


@pytest.fixture
def shop(mine: SandboxAccount) -> Service:
    return Service(mine.accounts[0])


def ids(service: Service, path: str, page: int = 1) -> list[str]:
    return [str(each["id"]) for each in service.get(f"{path}{'&' if '?' in path else '?'}page={page}").data]


def orders(mine: SandboxAccount) -> str:
    return f"/subscription/{mine.ids['subscriptions']['demo-many-orders']}/orders"


def test_orders_that_appear_between_two_pages(mine: SandboxAccount, shop: Service) -> None:
    path = orders(mine)
    first, second = ids(shop, path), ids(shop, path, 2)
    mine.control.fault("rows", operation="orders", insert=3)
    assert ids(shop, path) == first
    assert ids(shop, path, 2) == [*first[-3:], *second[:-3]]
    (effect,) = mine.control.ledger("rows")
    assert (effect["operation"], effect["deleted"]) == ("subscriptions.orders", [])
    assert ids(shop, path)[:3] == effect["inserted"][::-1]
    assert shop.get(f"/order/{effect['inserted'][0]}").data["state"] == shop.get(f"/order/{first[0]}").data["state"]
    assert mine.control.deliveries() == []


def test_orders_that_vanish_between_two_pages(mine: SandboxAccount, shop: Service) -> None:
    path = orders(mine)
    every = ids(shop, f"{path}?per_page=200")
    mine.control.fault("rows", operation="orders", query={"page": "1"}, delete=25)
    assert ids(shop, path, 2) == every[20:40]
    assert ids(shop, path, 1) == every[:20]
    assert ids(shop, path, 2) == every[45:]
    assert mine.control.ledger("rows")[0]["deleted"] == every[:25]
    assert [shop.get(f"/order/{number}").status for number in (every[0], every[25])] == [404, 200]


@pytest.mark.parametrize("name", ["products", "subscriptions"])
def test_rows_change_at_the_front_of_products_and_subscriptions(mine: SandboxAccount, shop: Service, name: str) -> None:
    path, operation = f"/{name}", f"{name}.list"
    before = ids(shop, path)
    mine.control.fault("rows", operation=operation, insert=2, delete=1)
    assert ids(shop, path) == before
    after = ids(shop, path)
    assert len(after) == len(before) + 1
    assert after[2:] == before[1:]
    assert len({*after, *before}) == len(before) + 2
    assert [shop.get(f"{path[:-1]}/{number}").status for number in (before[0], *after[:2])] == [404, 200, 200]
    assert [str(each) for each in mine.control.ledger("rows")[0]["inserted"]] == after[1::-1]


def test_inserted_subscriptions_live_on_and_share_no_reference(mine: SandboxAccount, shop: Service) -> None:
    mine.control.freeze()
    mine.control.fault("rows", operation="subscriptions.list", insert=1)
    shop.get("/subscriptions")
    (made,) = mine.control.ledger("rows")[0]["inserted"]
    assert shop.get(f"/subscription/{made}").data["reference_id"] is None
    assert shop.subscription("demo-active")["id"] != made
    happened = mine.control.advance(days=40)["happened"]
    assert "renew" in [each["cause"] for each in happened if each.get("subscription") == made]

    mine.control.fault("rows", operation="subscriptions.list", insert=1, delete=1)
    path = "/subscriptions?filter[reference_id]=demo-declined"
    before = ids(shop, path)
    (copy,) = ids(shop, path)
    assert copy not in before
    assert mine.control.ledger("rows")[1]["deleted"] == before
    happened = mine.control.advance(days=40)["happened"]
    assert before[0] not in [each.get("subscription") for each in happened]


def test_rows_change_only_with_a_page_that_has_rows(mine: SandboxAccount, shop: Service) -> None:
    mine.control.fault("rows", insert=1)
    for path in ("/order/1", "/subscriptions?filter[reference_id]=nobody", "/subscriptions?page=0", "/nothing"):
        shop.get(path)
    shop.send("GET", "/products", headers={"X-API-KEY": "wrong"})
    shop.post(f"/subscription/{mine.ids['subscriptions']['demo-active']}/cancel")
    assert mine.control.ledger("rows") == []
    shop.get("/products")
    assert len(mine.control.ledger("rows")) == 1


LAST = 3  # number of the last page: the subscription has 45 orders


@pytest.mark.parametrize("answer", ["empty", "not_found", "last_page", None])
def test_a_page_after_the_last_one(mine: SandboxAccount, shop: Service, answer: Any) -> None:
    path = orders(mine)
    usual = shop.get(f"{path}?page={LAST + 1}").json
    last = shop.get(f"{path}?page={LAST}").json
    mine.control.fault("beyond_end", operation="orders", times=2, answer=answer)
    for page in (1, LAST):
        assert shop.get(f"{path}?page={page}").status == 200
    (fault,) = mine.control.state()["faults"]
    assert (fault["seen"], fault["fired"]) == (0, 0)
    found = [shop.get(f"{path}?page={page}") for page in (LAST + 1, LAST + 1, LAST + 1)]
    if answer == "not_found":
        assert [(each.status, each.code) for each in found[:2]] == [(404, "not_found")] * 2
    else:
        assert [each.json for each in found[:2]] == [last if answer == "last_page" else usual] * 2
    assert found[2].json == usual


def test_page_one_of_an_empty_list_is_not_after_the_end(mine: SandboxAccount, shop: Service) -> None:
    mine.control.fault("beyond_end", answer="not_found")
    path = "/subscriptions?filter[reference_id]=nobody"
    assert [shop.get(f"{path}&page={page}").status for page in (1, 2)] == [200, 404]
