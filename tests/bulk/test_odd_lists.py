"""One odd record or list does not stop the others; what stops them all is told apart from it."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

import billcore
from billcore import bulk

from .support import Scene, found_in, no_pauses

ODD: dict[str, Callable[[dict[str, Any]], object]] = {
    "total": lambda page: page["data"][1].update(total="1990"),
    "amount": lambda page: page["data"][1].update(total_with_vat=19.9),
    "reference_id": lambda page: page["data"][1].update(reference_id=7),
    "zero date": lambda page: page["data"][1].update(created_at="0000-00-00T00:00:00Z"),
    "epoch": lambda page: page["data"][1].update(created_at=1631570340),
    "surrogate": lambda page: page["data"][1].update(reference_name="\ud800"),
    "item": lambda page: page["data"].__setitem__(1, "order"),
    "no data": lambda page: page.pop("data"),
    "current_page": lambda page: page["pagination"].update(current_page=7),
}


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    no_pauses(monkeypatch)


def fail(scene: Scene, odd: str | int) -> str:
    """Lets the first page of the list with the most orders be odd, or refused with a status; returns its path."""
    path = f"/subscription/{scene.many}/orders"
    answer: dict[str, Any] = {"status": odd}
    if isinstance(odd, str):
        body = "<html>Maintenance</html>"
        if change := ODD.get(odd):
            page = scene.service.get(f"{path}?per_page=200").json
            change(page)
            body = json.dumps(page)
        answer = {"status": 200, "body": body, "content_type": "text/html" if odd == "html" else "application/json"}
    scene.control.fault("status", path=path, times=1000, **answer)
    return path


@pytest.mark.parametrize("odd", [*ODD, "html", 400, 403, 410])
def test_one_list_fails_and_the_others_are_read(scene: Scene, odd: str | int) -> None:
    partition, stored = scene.plan(), scene.stored()
    path = fail(scene, odd)
    found = found_in([bulk.read(partition, client=scene.client)])
    row = found.reads[scene.many]
    assert (row["verdict"], row["as_of"]) == ("failed", None)
    assert f"GET {path}?page=1" in row["reason"]
    assert found.orders.pop(scene.many, []) == [] and stored.pop(scene.many)
    assert found.orders == stored
    assert {id for id in found.reads if found.verdict(id) != "complete"} == {scene.many}
    with pytest.raises(billcore.BillcoreError) as caught:
        found_in([bulk.read(partition, client=scene.client, fail_fast=True)])
    assert path in str(caught.value)


@pytest.mark.parametrize(
    ("fault", "lists_at_once"), [({"kind": "status", "status": 500}, 1), ({"kind": "reset_before"}, 32)]
)
def test_a_list_that_is_not_answered_for_longer_than_the_patience(
    scene: Scene, fault: dict[str, Any], lists_at_once: int
) -> None:
    """Wherever the list is in the partition; test_patience_ends has the service that answers no list."""
    stored = scene.stored()
    for id in scene.subscriptions():
        partition = scene.plan()
        each = scene.control.fault(**fault, path=f"/subscription/{id}/orders", times=1000)
        found = found_in([bulk.read(partition, client=scene.client, lists_at_once=lists_at_once, patience=0.2)])
        scene.control.delete_fault(each)
        assert {id for id in found.reads if found.verdict(id) != "complete"} == {id}
        assert found.verdict(id) == "failed" and found.reads[id]["reason"].startswith("GET ")
        assert found.orders == {other: orders for other, orders in stored.items() if other != id}


def test_a_later_page_that_cannot_be_read(scene: Scene) -> None:
    """The list fails, and keeps the rows before the page."""
    scene.grow(scene.many, 4)
    path, orders = f"/subscription/{scene.many}/orders", scene.orders(scene.many)
    page = scene.service.get(f"{path}?per_page=200&page=2").json
    page["data"][150]["total"] = None
    page["data"][151]["total"] = []
    scene.control.fault("status", path=path, query={"page": "2"}, status=200, body=page, times=100)
    found = found_in([bulk.read(scene.plan(), client=scene.client)])
    assert found.orders[scene.many] == orders[:200] and found.verdict(scene.many) == "failed"
    assert "page=2" in found.reads[scene.many]["reason"]


@pytest.mark.parametrize("lists_at_once", [1, 32])
def test_a_later_page_that_is_not_answered_for_longer_than_the_patience(scene: Scene, lists_at_once: int) -> None:
    """The list itself was the last one that the service answered with."""
    scene.grow(scene.many, 3)
    path, orders, partition = f"/subscription/{scene.many}/orders", scene.orders(scene.many), scene.plan()
    scene.control.fault("status", path=path, query={"page": "2"}, status=500, times=1000)
    found = found_in([bulk.read(partition, client=scene.client, lists_at_once=lists_at_once, patience=0.2)])
    assert {id for id in found.reads if found.verdict(id) != "complete"} == {scene.many}
    assert found.verdict(scene.many) == "failed" and found.orders[scene.many] == orders[:200]


def test_a_plan_with_odd_subscriptions(scene: Scene) -> None:
    """Two subscriptions cannot be planned: one is not an object, the other has no id. All others are."""
    scene.control.fault("rows", operation="subscriptions.list", insert=100, times=2)
    for _ in range(2):
        scene.service.get("/subscriptions")
    ids = scene.subscriptions()
    page = scene.service.get("/subscriptions?page=2").json
    page["data"][20] = "subscription"
    del page["data"][30]["id"]
    page["data"][40]["reference_id"] = 7
    scene.control.fault("status", path="/subscriptions", query={"page": "2"}, status=200, body=page, times=100)
    partition = scene.plan()
    assert [*partition.ids] == [id for id in ids if id not in (ids[120], ids[130])]
    assert partition.planned is not None and partition.planned.verdict == "possibly_missed"
    assert partition.planned.reason.startswith("GET /subscriptions?page=2") and partition.planned.as_of is None


def test_a_plan_with_a_page_that_cannot_be_read(scene: Scene) -> None:
    scene.control.fault("rows", operation="subscriptions.list", insert=100, times=2)
    for _ in range(2):
        scene.service.get("/subscriptions")
    html: dict[str, Any] = {"status": 200, "body": "<html>", "content_type": "text/html", "times": 100}
    scene.control.fault("status", path="/subscriptions", query={"page": "2"}, **html)
    asked = scene.asked("subscriptions.list")
    partition = scene.plan()
    assert len(partition.ids) == 100
    assert partition.planned is not None and partition.planned.verdict == "possibly_missed"
    assert partition.planned.reason.startswith("GET /subscriptions?page=2")
    assert scene.asked("subscriptions.list") < asked + 30
    scene.control.fault("status", path="/subscriptions", **html)
    with pytest.raises(billcore.DecodeError):
        scene.plan()


def test_a_plan_of_a_list_that_changes_at_each_page(scene: Scene) -> None:
    """A reading that ends early would lose whole subscriptions."""
    scene.control.fault("rows", operation="subscriptions.list", insert=100, times=8)
    for _ in range(8):
        scene.service.get("/subscriptions")
    before = scene.subscriptions()
    for deleted in (None, 2):
        fault = scene.control.fault("rows", operation="subscriptions.list", times=1000, insert=3, delete=deleted)
        partition = scene.plan()
        scene.control.delete_fault(fault)
        missing = {*before} & {*scene.subscriptions()} - {*partition.ids}
        planned = partition.planned
        assert planned is not None and planned.verdict == "possibly_missed" and planned.reason
        assert not missing and len(partition.ids) >= planned.total - 60


@pytest.mark.parametrize(
    ("fault", "verdict", "has_time"),
    [
        ({"kind": "rows", "optional": True, "insert": 7, "query": {"page": "9"}}, "complete", True),
        ({"kind": "rows", "insert": 7}, "possibly_missed", True),
        ({"kind": "rows", "insert": 100, "times": 3, "optional": True}, "possibly_missed", True),
        ({"kind": "rows", "delete": 7}, "possibly_missed", False),
        ({"kind": "status", "status": 410}, "possibly_missed", False),
    ],
)
def test_as_of(scene: Scene, fault: dict[str, Any], verdict: str, has_time: bool) -> None:
    """A list that only grew has every order of the time `as_of`; a list that shrank or was cut off has no such time."""
    scene.grow(scene.many, 5)
    orders, partition = scene.orders(scene.many), scene.plan()
    scene.control.fault(**{"query": {"page": "2"}, **fault}, path=f"/subscription/{scene.many}/orders")
    began = datetime.now(UTC)
    with scene.client_with(concurrency=1) as client:
        found = found_in([bulk.read(partition, client=client)])
    row = found.reads[scene.many]
    assert (row["verdict"], row["as_of"] is not None) == (verdict, has_time)
    if has_time:
        assert began <= row["as_of"] <= datetime.now(UTC) and {*orders} <= {*found.orders[scene.many]}
