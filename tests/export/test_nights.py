"""Nights of `billcore export orders --since-last` over a shop in memory, whose lists change between and during them."""

from __future__ import annotations

import multiprocessing
import random
from pathlib import Path

import pytest

from bench.since_last import REFUNDED, Order, Shop, current, night, simulate

from .test_since_last import added


@pytest.fixture
def shop(monkeypatch: pytest.MonkeyPatch) -> Shop:
    monkeypatch.setenv("BILLCORE_BASE_URL", "http://127.0.0.1:9/account")
    monkeypatch.setenv("BILLCORE_API_KEY", "key")
    return Shop(1, random.Random(1))


def long_list(shop: Shop) -> tuple[str, list[Order]]:
    """The subscription with 700 orders or more, and its orders."""
    [found] = [(id, each) for id, each in shop.lists.items() if len(each) >= 700]
    return found


def status(shop: Shop, lake: Path, *more: str, failing: str = "") -> int:
    """The exit status of a night; `failing` is a list that fails after its first page."""
    return night(shop, lake, multiprocessing.Array("q", 3, lock=False), [*more], "jsonl", {failing}, 0)


def test_what_is_noticed_deep_in_a_list(shop: Shop, tmp_path: Path) -> None:
    """Below 200 known orders: python/docs/export.md says what a run without --full notices there."""
    long, orders = long_list(shop)

    def missed(*more: str) -> set[str]:
        """The orders that the current view does not have in their present state, after a run."""
        shop.render()
        assert status(shop, tmp_path / "lake", *more) == 0
        return {id for _, id, _ in {*shop.rows()} - {*current(tmp_path / "lake", "jsonl")}}

    def add(at: int) -> str:
        shop._order(orders, at=at)
        return str(orders[at][0])

    assert missed() == set()
    orders[-1][3] = "paid"
    assert missed() == set(), "an open order was paid"
    add(400)
    assert missed() == set()
    del orders[3], orders[500]
    assert missed() == set()
    add(300)
    assert missed() == set(), "the deleted orders do not hide it"
    orders[2:650] = reversed(orders[2:650])
    add(1)
    assert missed() == set(), "an order that moved is known"
    orders[600][3] = REFUNDED
    assert missed() == {orders[600][0]}
    del orders[500]
    assert missed() == {orders[599][0]}
    del orders[500]
    late = add(450)
    assert missed() == {late, orders[599][0]}, "in the same night as many were deleted"
    assert missed("--full") == set()
    for _ in range(250):
        add(0)
    del orders[-250:]
    shop.render()
    assert status(shop, tmp_path / "lake", failing=long) == 1, "only the first 200 can be read"
    assert missed() == set(), "the orders of a reading that failed do not end the next one"


def test_an_order_that_changes_while_its_list_is_read(shop: Shop, tmp_path: Path) -> None:
    """A new order moves it to the next page, so one reading sees both of its states, of which the last one is newer."""
    id, orders = long_list(shop)
    orders[199][3] = "confirmed"
    shop.render()
    first = shop.pages[id][1][0]
    shop._order(orders)
    orders[200][3] = "paid"
    shop.render()
    shop.pages[id][1][0] = first
    assert status(shop, tmp_path / "lake") == 0
    seen = {each["observed_at"]: each["state"] for each in added(tmp_path / "lake") if each["id"] == orders[200][0]}
    assert [seen[at] for at in sorted(seen)] == ["confirmed", "paid"]
    assert {*shop.rows()} - {*current(tmp_path / "lake", "jsonl")} == {(id, orders[0][0], "paid")}, "only the new order"


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_nights_with_kills(tmp_path: Path, form: str) -> None:
    """A shop lives for twelve nights; tests/bench/since_last.py simulates a year."""
    found = simulate(lists=150, nights=12, form=form, kill=0.02, seed=1, lake=tmp_path / "lake")
    assert (found["lost"], found["too_many"]) == (0, 0) and found["orders"] > 1500, found
