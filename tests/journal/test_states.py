"""Tests each row of the table of states in python/docs/journal.md: the effect of the next call with the key."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import billcore
from billcore.journal import (
    AmbiguousChargeError,
    ChargeInProgressError,
    ChargePendingError,
    Journal,
    JournalError,
    KeyReusedError,
    UnresolvedChargeError,
)
from billcore.journal._window import Baseline

from .support import CHARGE, PAST, Scene, on_sqlite


def lost(scene: Scene, *, made: bool, key: str = "k", **options: object) -> None:
    """Makes a charge whose answer is lost. made: whether the service made the order."""
    scene.control.fault("reset_after" if made else "reset_before", method="POST", path=CHARGE)
    with pytest.raises(ChargePendingError):
        scene.charge(scene.journal(**options), key)
    assert scene.database.state(key) == "unknown"


def test_an_answered_charge_is_returned_again_without_a_request(scene: Scene) -> None:
    first = scene.charge(scene.journal())
    requests = len(scene.control.requests())
    again = scene.charge(scene.journal())
    assert again == first and again.total == 1500
    assert len(scene.control.requests()) == requests and len(scene.charges()) == 1


def test_the_intent_is_committed_before_anything_is_sent(scene: Scene) -> None:
    states: list[str] = []

    class Hooks:
        def on_request(self, attempt: billcore.Attempt) -> None:
            if attempt.method == "POST":
                states.append(scene.database.state("k"))

    with billcore.Client(base_url=scene.account.base_url, api_key=scene.account.api_key, hooks=Hooks()) as client:
        scene.client = client
        scene.charge(scene.journal())
    assert states == ["sending"]


def test_a_charge_in_flight_is_not_sent_again(scene: Scene) -> None:
    scene.charge(scene.journal())
    scene.database.execute("UPDATE billcore_charges SET state = 'sending', order_id = NULL, deadline = deadline + 500")
    with pytest.raises(ChargeInProgressError, match="may be in flight") as raised:
        scene.charge(scene.journal())
    assert raised.value.retry_after is not None and 0 < raised.value.retry_after <= 530
    assert scene.sent() == 1


@pytest.mark.parametrize("state", ["sending", "unknown"])
def test_a_lost_answer_is_found(scene: Scene, state: str) -> None:
    lost(scene, made=True)
    if state == "sending":  # as after a crash
        scene.database.execute("UPDATE billcore_charges SET state = 'sending', uncertain = NULL")
        scene.database.age(PAST)
    order = scene.charge(scene.journal())
    assert [each["order_id"] for each in scene.charges()] == [str(order.id)]
    assert scene.database.state("k") == "charged" and scene.journal().open() == []


@on_sqlite
@pytest.mark.parametrize("state", ["created", "confirmed", "payment_pending", "payment_pending_user"])
def test_an_order_that_is_not_paid_yet_is_found(scene: Scene, state: str) -> None:
    scene.product = scene.control.create_product("new", type="one_time")["id"]
    lost(scene, made=True)
    [order] = scene.client.subscriptions.orders(scene.subscription, product_id=scene.product)
    page = {"total": 1, "count": 1, "per_page": 200, "current_page": 1, "total_pages": 1, "links": {}}
    body = {"data": [order.to_dict() | {"state": state}], "pagination": page}
    scene.control.fault("status", method="GET", path="/subscription/*/orders", status=200, body=body)
    assert scene.charge(scene.journal()).id == order.id


def test_a_charge_that_was_not_made_is_sent_again_after_settle(scene: Scene) -> None:
    lost(scene, made=False)
    with pytest.raises(ChargePendingError, match="call again in") as raised:
        scene.charge(scene.journal())
    assert raised.value.retry_after is not None and raised.value.retry_after > 30
    assert scene.sent() == 1
    scene.database.age(PAST)
    order = scene.charge(scene.journal())
    assert [each["order_id"] for each in scene.charges()] == [str(order.id)] and scene.sent() == 2


def test_without_settle_a_person_decides(scene: Scene) -> None:
    lost(scene, made=False, settle=None)
    scene.database.age(PAST)
    journal = scene.journal(settle=None)
    with pytest.raises(UnresolvedChargeError, match="resolve"):
        scene.charge(journal)
    assert [each.key for each in journal.open()] == ["k"]
    assert journal.resolve("k", None) is None
    assert scene.charge(journal).total == 1500
    assert len(scene.charges()) == 1 and journal.open() == []


def test_an_order_that_a_person_names(scene: Scene) -> None:
    lost(scene, made=False, settle=None)
    order = scene.client.subscriptions.charge(scene.subscription, product_id=scene.product, amount=999)
    journal = scene.journal(settle=None)
    with pytest.raises(JournalError, match=r"its total is 999, .* force=True"):
        journal.resolve("k", order.id)
    assert journal.resolve("k", order.id, force=True) == order
    assert scene.charge(journal) == order
    assert journal.resolve("k", order.id) == order
    for other in (None, 1):
        with pytest.raises(JournalError, match="is resolved"):
            journal.resolve("k", other)


def test_an_order_that_cannot_be_the_charges(scene: Scene) -> None:
    """Of another subscription, or of another product."""
    lost(scene, made=False, settle=None)
    product = scene.control.create_product("other", type="one_time")["id"]
    other = str(scene.account.ids["subscriptions"]["demo-many-orders"])
    for order in (
        scene.client.subscriptions.charge(other, product_id=scene.product, amount=1500),
        scene.client.subscriptions.charge(scene.subscription, product_id=product, amount=1500),
    ):
        with pytest.raises(JournalError, match="is not in the list of the orders of the subscription"):
            scene.journal(settle=None).resolve("k", order.id, force=True)


def test_nothing_is_resolved_while_the_charge_may_be_in_flight(scene: Scene) -> None:
    lost(scene, made=False)
    scene.database.execute("UPDATE billcore_charges SET state = 'sending', uncertain = NULL")
    with pytest.raises(ChargeInProgressError):
        scene.journal().resolve("k", None)
    with pytest.raises(JournalError, match="no key 'other'"):
        scene.journal().resolve("other", None)


@pytest.mark.parametrize("settle", [None, 60.0])
def test_nobody_can_say_too_early_that_nothing_was_charged(scene: Scene, settle: float | None) -> None:
    lost(scene, made=False)
    scene.database.age(0 if settle is None else 30 + 30)
    with pytest.raises(ChargePendingError) as raised:
        scene.journal(settle=settle).resolve("k", None)
    assert raised.value.retry_after is not None and raised.value.retry_after > 0
    order = scene.client.subscriptions.charge(scene.subscription, product_id=scene.product, amount=1500)
    assert scene.journal(settle=settle).resolve("k", order.id) == order


def test_a_person_sees_each_new_order_before_nothing_was_charged(scene: Scene) -> None:
    lost(scene, made=True)
    scene.database.age(PAST)
    journal = scene.journal()
    with pytest.raises(AmbiguousChargeError) as raised:
        journal.resolve("k", None)
    assert [str(order.id) for order in raised.value.candidates] == [scene.charges()[0]["order_id"]]
    later = scene.client.subscriptions.charge(scene.subscription, product_id=scene.product, amount=7)
    with pytest.raises(AmbiguousChargeError) as raised:
        journal.resolve("k", None)
    assert later.id in [order.id for order in raised.value.candidates]
    assert journal.resolve("k", None) is None
    # The baseline stays: only what the person has seen is not taken for the charge.
    assert scene.charge(journal).total == 1500 and len(scene.charges()) == 3


def test_an_order_that_turns_up_after_a_person_has_decided(scene: Scene) -> None:
    """The service makes the first attempt's order after a person has said that nothing was charged."""
    scene.control.freeze()
    scene.control.fault("late", operation="charge", delay=3600)
    with pytest.raises(ChargePendingError):
        scene.charge(scene.journal())
    scene.database.age(PAST)
    scene.journal().resolve("k", None)
    scene.control.advance(seconds=3600)
    lost(scene, made=False)
    scene.database.age(PAST)
    assert str(scene.charge(scene.journal()).id) == scene.charges()[0]["order_id"] and len(scene.charges()) == 1


def test_several_orders_that_fit(scene: Scene) -> None:
    lost(scene, made=True)
    other = scene.client.subscriptions.charge(scene.subscription, product_id=scene.product, amount=1500)
    with pytest.raises(ChargePendingError):
        scene.charge(scene.journal())
    scene.database.age(PAST)
    with pytest.raises(AmbiguousChargeError, match="more than one") as raised:
        scene.charge(scene.journal())
    assert {order.id for order in raised.value.candidates} >= {other.id}
    assert len(pickle.loads(pickle.dumps(raised.value)).candidates) == 2
    scene.journal().resolve("k", scene.charges()[0]["order_id"])
    assert str(scene.charge(scene.journal()).id) == scene.charges()[0]["order_id"]


def test_an_answer_that_cannot_be_read_is_never_sent_again(scene: Scene) -> None:
    scene.control.fault("status", method="POST", path=CHARGE, status=200, body="{", content_type="application/json")
    with pytest.raises(ChargePendingError):
        scene.charge(scene.journal())
    assert scene.database.state("k") == "unread"
    with pytest.raises(ChargePendingError):  # the list may lag
        scene.charge(scene.journal())
    scene.database.age(PAST)
    with pytest.raises(UnresolvedChargeError, match="was made"):
        scene.charge(scene.journal())
    assert scene.sent() == 1


def test_a_declined_charge_is_final(scene: Scene) -> None:
    with pytest.raises(billcore.PaymentError) as first:
        scene.charge(scene.journal(), subscription=scene.declining)
    scene.control.subscription(scene.declining, "change_billing", declines=False)
    with pytest.raises(billcore.PaymentError) as again:
        scene.charge(scene.journal(), subscription=scene.declining)
    assert str(again.value) == str(first.value)
    assert vars(again.value) == vars(first.value)
    assert scene.sent() == 1
    assert scene.charge(scene.journal(), "a new key", subscription=scene.declining).total == 1500


def test_a_402_after_a_lost_answer_is_believed_only_after_a_look_up(scene: Scene) -> None:
    lost(scene, made=True)  # the first attempt made an order
    made = scene.charges()[0]["order_id"]
    scene.database.execute("UPDATE billcore_charges SET state = 'not_sent'")  # as if a retry was not sent
    scene.control.subscription(scene.subscription, "change_billing", declines=True)
    assert str(scene.charge(scene.journal()).id) == made


def test_a_402_after_attempts_that_made_nothing(scene: Scene) -> None:
    lost(scene, made=False)
    scene.database.age(PAST)
    scene.control.subscription(scene.subscription, "change_billing", declines=True)
    with pytest.raises(billcore.PaymentError):
        scene.charge(scene.journal())
    assert scene.database.state("k") == "declined" and scene.journal().open() == []


def test_a_refusal_is_sent_again(scene: Scene) -> None:
    scene.control.fault("status", method="POST", path=CHARGE, status=422)
    with pytest.raises(billcore.ValidationError):
        scene.charge(scene.journal())
    assert scene.database.state("k") == "refused"
    assert scene.charge(scene.journal()).total == 1500


def test_the_same_key_with_other_arguments(scene: Scene) -> None:
    scene.charge(scene.journal())
    for changes in ({"amount": 1501}, {"quantity": 1}, {"vat": 2500}, {"subscription": scene.declining}):
        with pytest.raises(KeyReusedError, match="new key"):
            scene.charge(scene.journal(), **changes)
    assert scene.sent() == 1


def test_an_order_of_another_key_is_not_adopted(scene: Scene) -> None:
    first = scene.charge(scene.journal(), "first")
    # The baseline of the second key is empty, as if it was read before the first key's order was listed.
    lost(scene, made=False)
    baseline = Baseline([], whole=True).dump()
    scene.database.execute(f"UPDATE billcore_charges SET baseline = '{baseline}' WHERE key = 'k'")
    with pytest.raises(ChargePendingError):
        scene.charge(scene.journal())
    with pytest.raises(JournalError, match="belongs to another key"):
        scene.journal().resolve("k", first.id)


@pytest.mark.parametrize(("field", "per"), [("total", "amount"), ("total_with_vat", "amount_times_quantity")])
def test_an_answer_that_contradicts_the_rule_of_totals_stops_all_look_ups(scene: Scene, field: Any, per: Any) -> None:
    scene.journal().accept_total_rule(field=field, per=per)
    assert scene.charge(scene.journal(), "odd", quantity=3).total == 4500
    lost(scene, made=True)
    with pytest.raises(UnresolvedChargeError, match=r"has not the sum .* accept_total_rule\(\)"):
        scene.charge(scene.journal())
    scene.journal().accept_total_rule(field="total", per="amount_times_quantity")
    assert str(scene.charge(scene.journal()).id) == scene.charges()[-1]["order_id"]


def test_purge_deletes_settled_keys_alone(scene: Scene) -> None:
    journal = scene.journal()
    scene.charge(journal, "old")
    scene.database.age(PAST)
    scene.charge(journal, "new")
    with pytest.raises(billcore.InvalidArgumentError, match="aware"):
        journal.purge(datetime(2026, 1, 1))
    assert journal.purge(datetime.now(UTC) - timedelta(seconds=PAST / 2)) == 1
    assert (scene.database.state("old"), scene.database.state("new")) == ("none", "charged")
    for key in ("open", "open too"):
        scene.control.fault("reset_after", method="POST", path=CHARGE)
        with pytest.raises(ChargePendingError):
            scene.charge(journal, key, product_id=scene.control.create_product(key, type="one_time")["id"])
        if key == "open":
            scene.charge(journal, "newer")  # settled after the first open key began, and before the second one
    soon = datetime.now(UTC) + timedelta(seconds=PAST)
    assert journal.purge(soon) == 1 and scene.database.state("newer") == "charged"
    scene.database.age(PAST)
    with pytest.raises(billcore.InvalidArgumentError, match="the journal's horizon"):
        scene.journal(horizon=PAST * 2).purge(datetime.now(UTC) - timedelta(seconds=PAST))


def test_a_key_is_of_one_account(scene: Scene) -> None:
    order = scene.charge(scene.journal())
    root, _, account = scene.account.base_url.rpartition("/")
    with billcore.Client(base_url=f"{root}/{account.upper()}", api_key=scene.account.api_key) as client:
        assert scene.charge(Journal(scene.database.connect, client)) == order
    scene.database.execute("UPDATE billcore_charges SET account = 'other'")
    assert scene.charge(scene.journal()) != order
