"""What a reading gives: every order once, with its subscription, and a row for each list."""

from __future__ import annotations

from typing import Any

import pytest

from billcore import bulk
from billcore.testing import Sandbox

from .support import Found, Scene, found_in, rows_of


def test_the_rows_are_those_of_the_store(sandbox: Sandbox) -> None:
    scene = Scene(sandbox)
    partitions = bulk.plan(scene.client, 3)
    assert [len(partition.ids) for partition in partitions] == [142, 142, 142]
    found = found_in(bulk.read(each, client=scene.client) for each in partitions)
    assert found.orders == scene.stored()
    assert set(found.reads) == {"", *scene.subscriptions()}
    assert {row["verdict"] for row in found.reads.values()} == {"complete"}
    for id, row in found.reads.items():
        pages, total = (5, 426) if not id else (-(-len(found.orders[id]) // 200) or 1, len(found.orders[id]))
        assert (row["pages"], row["total"], row["reason"]) == (pages, total, "")


@pytest.mark.parametrize("resource", ["subscriptions", "products"])
def test_subscriptions_and_products_are_read_like_orders(scene: Scene, resource: Any) -> None:
    partitions = bulk.plan(scene.client, 8, resource=resource, fields=["id"])
    assert len(partitions) == 1
    (_, records), (relation, reads) = bulk.read(partitions[0], client=scene.client)
    assert {str(row["id"]) for row in rows_of(records)} == {
        str(each.id) for each in getattr(scene.client, resource).list()
    }
    assert relation == "reads" and [(row["id"], row["verdict"]) for row in rows_of(reads)] == [("", "complete")]


def test_an_account_without_subscriptions(sandbox: Sandbox) -> None:
    scene = Scene(sandbox.new_account(demo=False))
    (partition,) = bulk.plan(scene.client, 8)
    found = found_in([bulk.read(partition, client=scene.client)])
    assert found.orders == {} and found.verdict("") == "complete" and found.reads[""]["total"] == 0


def test_a_list_of_more_rows_than_a_batch(scene: Scene) -> None:
    scene.grow(scene.many, 83)
    sizes, found = [], Found()
    for relation, batch in bulk.read(scene.plan(), client=scene.client):
        found.add(relation, batch)
        if relation == "orders":
            sizes.append(batch.num_rows)
    assert len(found.orders[scene.many]) > 8192 and found.orders == scene.stored()
    assert len(sizes) == 2 and sizes[0] >= 8192
    assert found.verdict(scene.many) == "complete"
