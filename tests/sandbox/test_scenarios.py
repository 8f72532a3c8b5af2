"""Scenarios: the state of the objects after each scenario, and the events that a receiver gets."""

from __future__ import annotations

from typing import Any

import pytest

from billcore.testing import ControlError, SandboxAccount
from sandbox.support import Receiver, Service, ended, events

ORDER = "order.confirmed order.paid "
UPDATED = "subscription.updated "
RENEWED = ORDER + "subscription.renewed "
BOUGHT = ORDER + "subscription.created "

# Maps a scenario to the subscription's final status, the events before the scenario's steps, the events of its steps,
# and an existing subscription on which it runs as well: its name, or the fields of a checkout.
SCENARIOS: dict[str, tuple[str, str, str, str | dict[str, Any]]] = {
    "first-order": ("active", "", BOUGHT, {"confirmed": False}),
    "renewal": ("active", BOUGHT, RENEWED, "demo-active"),
    "renewal-fails": ("delayed", BOUGHT, UPDATED, "demo-active"),
    "recovers": ("active", BOUGHT + UPDATED, RENEWED, "demo-declined"),
    "unpaid": ("unpaid", BOUGHT, UPDATED * 2, "demo-active"),
    "cancelled": ("cancelled", BOUGHT, "subscription.cancelled", "demo-active"),
    "cancelled-until-end": ("cancelled", BOUGHT, "subscription.cancelled " + UPDATED, "demo-stays-active"),
    "trial-ends": ("active", BOUGHT, RENEWED, {"trial_days": 3}),
    "delayed-start": ("active", BOUGHT, UPDATED, {"starts_in_days": 3}),
    "fixed-cycle-ends": ("expired", BOUGHT, RENEWED * 2 + UPDATED, {"type": "fixed_cycle"}),
    "invoice-paid-late": (
        "active",
        "order.confirmed",
        "order.paid subscription.created",
        {"billing": "invoice"},
    ),
    "donation": ("active", BOUGHT, RENEWED, "demo-donation"),
    "charge": ("active", BOUGHT, ORDER, "demo-active"),
    "charge-declined": ("active", BOUGHT, "", "demo-active"),
    "plan-swap": ("active", BOUGHT, UPDATED, "demo-active"),
    "product-withdrawn": ("active", "product.updated " + BOUGHT, "product.deleted " + RENEWED, "demo-active"),
    "card-replaced": ("active", BOUGHT + UPDATED, UPDATED + RENEWED, "demo-declined"),
}


def existing(mine: SandboxAccount, what: str | dict[str, Any]) -> str:
    """The id of a subscription with this name, or of a new one whose checkout has these fields."""
    if isinstance(what, str):
        return str(mine.ids["subscriptions"][what])
    fields = {"type": "subscription", "confirmed": True, **what}
    product, confirmed = mine.ids["products"][fields.pop("type")], fields.pop("confirmed")
    made = mine.control.checkout(product, **fields)
    if confirmed:
        mine.control.confirm(made["order"]["id"])
    return str(made["subscription"]["id"])


@pytest.mark.parametrize("on_existing", [False, True])
@pytest.mark.parametrize("name", SCENARIOS)
def test_each_scenario(mine: SandboxAccount, receiver: Receiver, name: str, on_existing: bool) -> None:
    control, service = mine.control, Service(mine.accounts[0])
    status, before, wanted, what = SCENARIOS[name]
    number = existing(mine, what) if on_existing else None
    control.create_endpoint(receiver.url)
    done = control.trigger(name, on=number)
    assert (done["scenario"], done["subscription"]["status"]) == (name, status)
    if on_existing:
        assert done["subscription"]["id"] == number
        # The product of a new scenario is in no group.
        before, wanted = "", wanted.replace("product.deleted ", "product.deleted product-group.updated ")
    else:
        assert done["subscription"]["id"] not in mine.ids["subscriptions"].values()
    assert [each["event"] for each in done["deliveries"]] == wanted.split()
    ended(control)
    assert events(receiver.received) == [*before.split(), *wanted.split()]
    sent = [each.event["id"] for each in receiver.received]
    assert sent[len(before.split()) :] == [each["id"] for each in done["deliveries"]]
    path = f"/subscription/{done['subscription']['id']}"
    assert service.get(path).data == done["subscription"]
    assert service.get(f"{path}/orders?per_page=1").data == ([done["order"]] if done["order"] else [])


def test_every_scenario_has_a_test(mine: SandboxAccount) -> None:
    assert [*mine.control.scenarios()] == [*SCENARIOS]


def test_an_unknown_name_lists_the_names(mine: SandboxAccount) -> None:
    with pytest.raises(ControlError, match="422 unknown_scenario: There is no scenario 'renew'") as refused:
        mine.control.trigger("renew")
    assert ", ".join(SCENARIOS) in str(refused.value)
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
