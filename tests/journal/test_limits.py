"""Shows each limit that python/docs/journal.md states."""

from __future__ import annotations

from pathlib import Path

import pytest

import billcore
from billcore.journal import AmbiguousChargeError, ChargePendingError, Journal

from .support import Scene, SqliteDatabase


def test_a_service_that_works_later_than_settle_charges_twice(scene: Scene) -> None:
    scene.control.freeze()
    scene.control.fault("late", operation="charge", delay=3600)
    with pytest.raises(ChargePendingError):
        scene.charge(scene.journal())
    scene.database.age(30 + 60 + 1)  # deadline and settle have passed, but the service has not made the charge yet
    scene.charge(scene.journal())
    scene.control.advance(seconds=3600)
    assert len(scene.charges()) == 2


def test_a_settle_that_is_long_enough_charges_once(scene: Scene) -> None:
    scene.control.freeze()
    scene.control.fault("late", operation="charge", delay=3600)
    with pytest.raises(ChargePendingError):
        scene.charge(scene.journal(settle=4000))
    scene.control.advance(seconds=3600)
    scene.database.age(30 + 4000 + 1)
    order = scene.charge(scene.journal(settle=4000))
    assert [each["order_id"] for each in scene.charges()] == [str(order.id)]


def test_an_equal_charge_of_somebody_else_may_be_adopted(scene: Scene) -> None:
    scene.control.fault("reset_before", operation="charge")
    with pytest.raises(ChargePendingError):
        scene.charge(scene.journal())
    other = scene.client.subscriptions.charge(scene.subscription, product_id=scene.product, amount=1500)
    assert scene.charge(scene.journal()) == other


def test_two_journals_on_two_databases_know_nothing_of_each_other(scene: Scene, tmp_path: Path) -> None:
    scene.charge(scene.journal())
    other = Journal(SqliteDatabase(tmp_path / "other.db").connect, scene.client, settle=60, create=True)
    scene.charge(other)
    assert len(scene.charges()) == 2


def test_an_answer_that_comes_after_another_result(scene: Scene) -> None:
    """The journal raises if a key got two orders: here a person resolves the key while its request is in flight."""
    other = scene.client.subscriptions.charge(scene.subscription, product_id=scene.product, amount=2000)

    class Hooks:
        def on_response(self, attempt: billcore.Attempt) -> None:
            if attempt.method == "POST":
                scene.database.age(31)
                scene.journal().resolve("k", other.id, force=True)

    with billcore.Client(base_url=scene.client.base_url, api_key=scene.account.api_key, hooks=Hooks()) as client:
        journal = Journal(scene.database.connect, client)
        with pytest.raises(AmbiguousChargeError, match="another result") as raised:
            scene.charge(journal)
    assert [order.id for order in raised.value.candidates][1] == other.id
