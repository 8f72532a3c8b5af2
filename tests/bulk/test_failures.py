"""A service that refuses: nothing is lost, nothing is given twice, and no list has a row that it does not deserve."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import pytest

import billcore
from billcore import _clock, bulk

from .support import LONGER, Found, Scene, found_in, no_pauses, one_row_at_a_time, rows_of


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    no_pauses(monkeypatch)


def test_a_key_that_is_revoked_in_the_middle(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    class Hooks:
        def on_response(self, attempt: billcore.Attempt) -> None:
            answered.append(attempt)
            if len(answered) == 3:
                scene.control.revoke_key(scene.control.keys()[0]["id"])

    one_row_at_a_time(monkeypatch)
    answered: list[billcore.Attempt] = []
    partition, stored, found = scene.plan(), scene.stored(), Found()
    before = scene.asked()
    with scene.client_with(hooks=Hooks()) as client, pytest.raises(billcore.AuthenticationError) as caught:
        for step in bulk.read(partition, client=client, lists_at_once=1):
            found.add(*step)
    assert "\n" not in str(caught.value) and scene.account.api_key not in str(caught.value)
    assert list(found.reads) == ["", *partition.ids[:3]]
    assert found.orders == {id: stored[id] for id in partition.ids[:3] if id in stored}
    assert scene.asked() == before + 4, "the reading ends with the first 401"


@pytest.mark.parametrize("status", [400, 404, 405, 410, 416, 422])
def test_a_service_that_refuses_later_pages(scene: Scene, status: int) -> None:
    """Such as one that gives at most 10,000 records of a list."""
    scene.grow(scene.many, 3)
    for list in ("subscriptions", "products"):
        scene.control.fault("rows", operation=f"{list}.list", insert=100)
        scene.service.get(f"/{list}")
    many, orders = scene.many, scene.orders(scene.many)
    for operation in ("subscriptions.list", "products.list", "subscriptions.orders"):
        scene.control.fault("status", operation=operation, query={"page": "2"}, status=status, times=100)
    partition = scene.plan()
    assert len(partition.ids) == 100 and many not in partition.ids
    found = found_in([bulk.read(replace(partition, ids=(*partition.ids, many)), client=scene.client)])
    assert found.orders[many] == orders[:200]
    short = {id: row["reason"] for id, row in found.reads.items() if row["verdict"] != "complete"}
    assert short.keys() == {"", many} == {id for id in found.reads if found.verdict(id) == "possibly_missed"}
    assert short[""].startswith(f"GET /subscriptions?page=2: {status}")
    assert short[many].startswith(f"GET /subscription/{many}/orders?page=2: {status}")
    for resource in ("subscriptions", "products"):
        (_, records), (_, reads) = bulk.read(bulk.plan(scene.client, 1, resource=resource)[0], client=scene.client)
        (row,) = rows_of(reads)
        assert (records.num_rows, row["pages"], row["verdict"]) == (100, 1, "possibly_missed")
        assert row["reason"].startswith(f"GET /{resource}?page=2: ")


@pytest.mark.parametrize(("number", "problem"), [(3, "the page is empty"), (1, "received page 1 instead")])
def test_a_service_that_answers_a_later_page_with_another_one(scene: Scene, number: int, problem: str) -> None:
    scene.control.fault("rows", operation="products.list", insert=100, times=2)
    scene.service.get("/products")
    scene.service.get("/products")
    page = scene.service.get("/products").json
    page["data"] = [] if number == 3 else page["data"]
    page["pagination"] |= {"current_page": number, "count": len(page["data"]), "total_pages": 9}
    scene.control.fault("status", operation="products.list", query={"page": "3"}, status=200, body=page, times=100)
    (_, records), (_, reads) = bulk.read(bulk.plan(scene.client, 1, resource="products")[0], client=scene.client)
    (row,) = rows_of(reads)
    assert (records.num_rows, row["verdict"]) == (200, "possibly_missed")
    assert row["reason"].startswith(f"GET /products?page=3: {problem}")


@pytest.mark.parametrize("status", [401, 403, 409])
def test_a_later_page_with_another_error(scene: Scene, status: int) -> None:
    scene.control.fault("rows", operation="subscriptions.list", insert=100)
    scene.service.get("/subscriptions")
    scene.control.fault("status", operation="subscriptions.list", query={"page": "2"}, status=status, times=100)
    for resource in ("orders", "subscriptions"):
        with pytest.raises(billcore.ApiError) as caught:
            (partition,) = bulk.plan(scene.client, 1, resource=resource)
            found_in([bulk.read(partition, client=scene.client)])
        assert caught.value.status == status


def test_a_key_that_belongs_to_another_account_from_the_second_page_on(scene: Scene) -> None:
    for list in ("subscriptions", "products"):
        scene.control.fault("rows", operation=f"{list}.list", insert=100)
        scene.service.get(f"/{list}")
        scene.control.fault("status", operation=f"{list}.list", nth=2, times=100, status=404)
    with pytest.raises(billcore.NotFoundError, match=r"GET /subscriptions\?page=1"):
        scene.plan()
    (partition,) = bulk.plan(scene.client, 1, resource="products")
    with pytest.raises(billcore.NotFoundError, match=r"GET /products\?page=1"):
        found_in([bulk.read(partition, client=scene.client)])


def test_a_key_of_another_account(scene: Scene) -> None:
    partition = scene.plan()
    other = scene.control.create_account()["api_key"]
    with scene.client_with(api_key=other) as client, pytest.raises(billcore.NotFoundError) as caught:
        for relation, batch in bulk.read(partition, client=client):
            pytest.fail(f"gave {relation} {batch}")
    assert str(caught.value).startswith("GET /subscriptions?page=1: 404 not found, or the API key belongs to another")


def test_a_list_of_products_that_is_not_found(scene: Scene) -> None:
    scene.control.fault("status", operation="products.list", status=404)
    (partition,) = bulk.plan(scene.client, 1, resource="products")
    with pytest.raises(billcore.NotFoundError):
        found_in([bulk.read(partition, client=scene.client)])


def test_rate_limits_are_waited_out(scene: Scene) -> None:
    scene.grow(scene.many, 5)
    id = scene.subscriptions()[0]
    scene.control.fault("status", path=f"/subscription/{id}/orders", status=404)
    scene.control.fault("status", operation="orders", status=429, nth=3, times=100)
    scene.control.fault("status", operation="orders", status=429, nth=5, retry_after=1, times=3)
    scene.control.fault("status", operation="subscriptions.list", status=429, times=5)
    partition = scene.plan()
    scene.control.fault("status", operation="subscriptions.list", status=429, times=5)
    found = found_in([bulk.read(partition, client=scene.client)])
    stored = scene.stored()
    stored.pop(id, None)
    assert found.orders == stored
    assert {id: row["verdict"] for id, row in found.reads.items() if row["verdict"] != "complete"} == {id: "not_found"}
    assert found.reads.keys() == {"", *partition.ids}
    assert {fault["left"] for fault in scene.control.faults()} == {0}


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"kind": "status", "status": 429}, billcore.RateLimitError),
        ({"kind": "status", "status": 503}, billcore.ServerError),
        ({"kind": "status", "status": 408}, billcore.ApiError),
        ({"kind": "reset_before"}, billcore.ConnectionError),
        ({"kind": "delay", "delay": LONGER}, billcore.TimeoutError),
    ],
)
def test_patience_ends(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, fault: dict[str, Any], error: type[Exception]
) -> None:
    class Hooks:
        def on_request(self, attempt: billcore.Attempt) -> None:
            tries.append(attempt)

    tries: list[billcore.Attempt] = []
    partition, seconds = scene.plan(), itertools.count()
    # Each reading of the clock is a second later.
    monkeypatch.setattr(_clock, "now", lambda: next(seconds))
    scene.control.fault(**fault, operation="orders", times=100_000)
    timeout = 0.1 if "delay" in fault else LONGER
    with scene.client_with(timeout=timeout, hooks=Hooks()) as client, pytest.raises(error):
        found_in([bulk.read(partition, client=client, lists_at_once=1, patience=3.5)])
    of_another_list = 0 if error is billcore.RateLimitError else 1
    assert len(tries) == 4 + of_another_list, "the first one, and those after 1, 2 and 3 seconds"


def test_a_pause_that_is_longer_than_the_patience(scene: Scene) -> None:
    partition = scene.plan()
    scene.control.fault("status", operation="orders", status=429, retry_after=1000, times=100)
    with pytest.raises(billcore.RateLimitError) as caught:
        found_in([bulk.read(partition, client=scene.client, patience=999)])
    assert caught.value.retry_after == 1000
    assert scene.asked() <= len(partition.ids)
