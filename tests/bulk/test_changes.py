"""Lists that change while they are read: a list with the verdict complete has the rows of the store."""

from __future__ import annotations

import random
from typing import Any

from billcore import bulk

from .support import Scene, found_in


def test_orders_appear_and_vanish_while_they_are_read(scene: Scene) -> None:
    """Each list grows or shrinks at some page or at none; each reading may be complete only if it missed nothing."""
    chance = random.Random(38)
    for id in scene.subscriptions():
        scene.grow(id, 5) if scene.orders(id) else None
    verdicts = set()
    partition = scene.plan()
    for _ in range(6):
        before = scene.stored()
        for id in before:
            grows = chance.random() < 0.5
            path, number = f"/subscription/{id}/orders", chance.randint(1, 100)
            for page in chance.sample(range(1, 4), chance.randint(0, 2)):
                change: Any = {"insert": number} if grows else {"delete": min(number, 60)}
                scene.control.fault("rows", path=path, query={"page": page}, optional=True, **change)
        found = found_in([bulk.read(partition, client=scene.client)])
        after = scene.stored()
        for id in partition.ids:
            orders, was, now = found.orders[id], before.get(id, []), after.get(id, [])
            assert len(orders) == len(set(orders)), "no order twice"
            assert set(orders) <= {*was, *now}
            verdicts.add(found.verdict(id))
            if found.verdict(id) == "complete":
                assert orders in (was, now)
            else:
                assert found.verdict(id) == "possibly_missed" and found.reads[id]["reason"] and was != now
    assert verdicts == {"complete", "possibly_missed"}


def test_subscriptions_that_appear_while_the_plan_is_made(scene: Scene) -> None:
    """The plan reads the list again until it is complete, and has the subscriptions of all readings."""
    scene.control.fault("rows", operation="subscriptions.list", insert=100, times=2)
    for _ in range(2):
        scene.service.get("/subscriptions")
    before, asked = scene.subscriptions(), scene.asked("subscriptions.list")
    scene.control.fault("rows", operation="subscriptions.list", query={"page": 1}, insert=50, delete=1)
    partition = scene.plan()
    assert scene.asked("subscriptions.list") >= asked + 6, "two readings of three pages"
    assert partition.planned is not None and partition.planned.verdict == "complete"
    assert set(partition.ids) == {*before, *scene.subscriptions()} > set(before)
    found = found_in([bulk.read(partition, client=scene.client)])
    assert [row["id"] for row in found.reads.values() if row["verdict"] == "not_found"] == before[:1]
