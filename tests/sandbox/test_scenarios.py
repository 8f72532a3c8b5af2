"""Scenarios: the state of the objects after each scenario, and the events that a receiver gets."""

from __future__ import annotations

from typing import Any

import pytest

from billcore.testing import ControlError, Sandbox, SandboxAccount
from sandbox.support import Receiver, Service

ORDER = "order.confirmed order.paid "
UPDATED = "subscription.updated "
RENEWED = ORDER + "subscription.renewed "

# Maps a scenario to the subscription's final status, the events before the scenario's steps, the events of its steps.
NEW = {
    "first-order": ("active", "", ORDER + "subscription.created"),
    "renewal": ("active", ORDER + "subscription.created", RENEWED),
    "renewal-fails": ("delayed", ORDER + "subscription.created", UPDATED),
    "recovers": ("active", ORDER + "subscription.created " + UPDATED, RENEWED),
    "unpaid": ("unpaid", ORDER + "subscription.created", UPDATED * 2),
    "cancelled": ("cancelled", ORDER + "subscription.created", "subscription.cancelled"),
    "cancelled-until-end": ("cancelled", ORDER + "subscription.created", "subscription.cancelled " + UPDATED),
    "trial-ends": ("active", ORDER + "subscription.created", RENEWED),
    "delayed-start": ("active", ORDER + "subscription.created", UPDATED),
    "fixed-cycle-ends": ("expired", ORDER + "subscription.created", RENEWED * 2 + UPDATED),
    "invoice-paid-late": ("active", "order.confirmed", "order.paid subscription.created"),
    "donation": ("active", ORDER + "subscription.created", RENEWED),
    "charge": ("active", ORDER + "subscription.created", ORDER),
    "charge-declined": ("active", ORDER + "subscription.created", ""),
    "plan-swap": ("active", ORDER + "subscription.created", UPDATED),
    "product-withdrawn": ("active", "product.updated " + ORDER + "subscription.created", "product.deleted " + RENEWED),
    "card-replaced": ("active", ORDER + "subscription.created " + UPDATED, UPDATED + RENEWED),
}
# Maps a scenario to the name of an existing subscription, the subscription's final status, and the events of the
# scenario. Scenarios that run only on a new subscription are left out.
EXISTING = {
    "renewal": ("demo-active", "active", RENEWED),
    "renewal-fails": ("demo-active", "delayed", UPDATED),
    "recovers": ("demo-declined", "active", RENEWED),
    "unpaid": ("demo-active", "unpaid", UPDATED * 2),
    "cancelled": ("demo-active", "cancelled", "subscription.cancelled"),
    "cancelled-until-end": ("demo-stays-active", "cancelled", "subscription.cancelled " + UPDATED),
    "donation": ("demo-donation", "active", RENEWED),
    "charge": ("demo-active", "active", ORDER),
    "charge-declined": ("demo-active", "active", ""),
    "plan-swap": ("demo-active", "active", UPDATED),
    "product-withdrawn": ("demo-active", "active", "product.deleted product-group.updated " + RENEWED),
    "card-replaced": ("demo-declined", "active", UPDATED + RENEWED),
}


def told(mine: SandboxAccount, receiver: Receiver, done: dict[str, Any], before: str, events: str) -> None:
    """Compares the answer of a scenario with the REST interface and with the events that the receiver got."""
    assert [each["event"] for each in done["deliveries"]] == events.split()
    deliveries = mine.control.wait_for_deliveries()
    assert [each["event"] for each in deliveries] == [*before.split(), *events.split()]
    assert [each.event["id"] for each in receiver.received][len(before.split()) :] == [
        each["id"] for each in done["deliveries"]
    ]
    service = Service(mine.accounts[0])
    number = done["subscription"]["id"]
    assert service.get(f"/subscription/{number}").data == done["subscription"]
    assert service.get(f"/subscription/{number}/orders?per_page=1").data == ([done["order"]] if done["order"] else [])


@pytest.mark.parametrize("name", NEW)
def test_a_scenario_makes_a_new_subscription(mine: SandboxAccount, receiver: Receiver, name: str) -> None:
    status, before, events = NEW[name]
    mine.control.create_endpoint(receiver.url)
    done = mine.control.trigger(name)
    assert (done["scenario"], done["subscription"]["status"]) == (name, status)
    assert done["subscription"]["id"] not in mine.ids["subscriptions"].values()
    told(mine, receiver, done, before, events)


@pytest.mark.parametrize("name", EXISTING)
def test_a_scenario_changes_an_existing_subscription(mine: SandboxAccount, receiver: Receiver, name: str) -> None:
    reference_id, status, events = EXISTING[name]
    number = mine.ids["subscriptions"][reference_id]
    mine.control.create_endpoint(receiver.url)
    done = mine.control.trigger(name, on=number)
    assert (done["subscription"]["id"], done["subscription"]["status"]) == (number, status)
    told(mine, receiver, done, "", events)


@pytest.mark.parametrize(
    ("name", "checkout", "confirmed", "status", "events"),
    [
        ("first-order", {}, False, "active", ORDER + "subscription.created"),
        ("invoice-paid-late", {"billing": "invoice"}, True, "active", "order.paid subscription.created"),
        ("trial-ends", {"trial_days": 3}, True, "active", RENEWED),
        ("delayed-start", {"starts_in_days": 3}, True, "active", UPDATED),
    ],
)
def test_on_a_subscription_that_a_test_has_bought(
    mine: SandboxAccount,
    receiver: Receiver,
    name: str,
    checkout: dict[str, Any],
    confirmed: bool,
    status: str,
    events: str,
) -> None:
    made = mine.control.checkout(mine.ids["products"]["subscription"], **checkout)
    if confirmed:
        mine.control.confirm(made["order"]["id"])
    mine.control.create_endpoint(receiver.url)
    done = mine.control.trigger(name, on=int(made["subscription"]["id"]))
    assert done["subscription"]["status"] == status
    told(mine, receiver, done, "", events)


def test_the_last_cycle_of_an_existing_subscription(mine: SandboxAccount, receiver: Receiver) -> None:
    made = mine.control.checkout(mine.ids["products"]["fixed_cycle"])
    mine.control.confirm(made["order"]["id"])
    mine.control.create_endpoint(receiver.url)
    done = mine.control.trigger("fixed-cycle-ends", on=made["subscription"]["id"])
    assert done["subscription"]["status"] == "expired"
    told(mine, receiver, done, "", RENEWED * 2 + UPDATED)


def test_every_scenario_has_a_test(mine: SandboxAccount) -> None:
    scenarios = mine.control.scenarios()
    assert [*scenarios] == [*NEW]
    assert all(about.endswith(".") for about in scenarios.values())
    bought = {"first-order", "invoice-paid-late", "trial-ends", "delayed-start", "fixed-cycle-ends"}
    assert {*EXISTING} | bought == {*scenarios}


def test_an_unknown_name_lists_the_names(mine: SandboxAccount) -> None:
    with pytest.raises(ControlError, match="422 unknown_scenario: There is no scenario 'renew'") as refused:
        mine.control.trigger("renew")
    assert ", ".join(NEW) in str(refused.value)
    assert mine.control.ledger() == []


@pytest.mark.parametrize(
    ("name", "reference_id", "message"),
    [
        ("first-order", "bought", "no order that waits"),
        ("invoice-paid-late", "bought", "no order that waits"),
        ("cancelled-until-end", "demo-active", "The subscription is cancelled, which does not take end"),
        ("delayed-start", "demo-active", "The subscription is active, which does not take start"),
        ("fixed-cycle-ends", "demo-active", "does not become expired"),
        ("donation", "demo-active", "takes a charge, so this story does not fit"),
    ],
)
def test_a_story_that_does_not_fit_the_subscription(
    mine: SandboxAccount, receiver: Receiver, name: str, reference_id: str, message: str
) -> None:
    service = Service(mine.accounts[0])
    bought = mine.control.trigger("first-order")["subscription"]["id"]
    number = mine.ids["subscriptions"].get(reference_id, bought)
    mine.control.create_endpoint(receiver.url)
    before = service.get(f"/subscription/{number}").data, mine.control.ledger()
    with pytest.raises(ControlError, match="422") as refused:
        mine.control.trigger(name, on=number)
    assert message in str(refused.value)
    # The scenario changed nothing.
    assert (service.get(f"/subscription/{number}").data, mine.control.ledger()) == before
    assert mine.control.deliveries() == []


def test_an_unknown_subscription(mine: SandboxAccount) -> None:
    for number in ("1", "x", 0):
        with pytest.raises(ControlError, match="404 not_found"):
            mine.control.trigger("renewal", on=number)


def test_an_account_without_products(process: Sandbox, receiver: Receiver) -> None:
    account = process.new_account(demo=False)
    account.control.create_endpoint(receiver.url)
    for name, (status, _, _) in NEW.items():
        assert account.control.trigger(name)["subscription"]["status"] == status
    process.control.delete_account(Service(account.accounts[0]).account)
