"""Tests every row of states.toml for each state of its `from`, through routes and with a real receiver."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from billcore.testing import ControlError, Sandbox, SandboxAccount
from billcore_sandbox.lifecycle import Machine, Transition
from sandbox.support import Receiver, Service, ended, events
from support.waiting import GENEROUS


class Story:
    """One account with a receiver: methods are steps of tests, `ids` has the ids of objects that the steps made."""

    def __init__(self, mine: SandboxAccount, receiver: Receiver) -> None:
        self.control, self.service, self.receiver = mine.control, Service(mine.accounts[0]), receiver
        self.other_product = mine.ids["products"]["subscription"]
        self.ids: dict[str, Any] = {"endpoint": self.control.create_endpoint(receiver.url)["id"]}

    def act(self, machine: str, cause: str, **fields: Any) -> Any:
        """Performs an action on the object that the steps made, by its control route."""
        return self.control._call("POST", f"{machine}s/{self.ids[machine]}/{cause}", fields)

    def make(self, kind: str = "one_time", **fields: Any) -> None:
        self.ids["product"] = self.control.create_product("Tea", type=kind, **fields)["id"]

    def checkout(self, **fields: Any) -> None:
        made = self.control.checkout(self.ids["product"], **fields)
        self.ids |= {"order": made["order"]["id"], "subscription": (made["subscription"] or {}).get("id")}

    def buy(self, kind: str = "subscription", product: dict[str, Any] | None = None, **fields: Any) -> None:
        self.make(kind, **product or {})
        self.checkout(**fields)

    def bought(self, kind: str = "subscription", product: dict[str, Any] | None = None, **fields: Any) -> None:
        """Buys a product and confirms the order, which is then paid unless billing="invoice"."""
        self.buy(kind, product, **fields)
        self.act("order", "confirm")

    def declined(self, renewals: int, *, accepted: bool = False, **fields: Any) -> None:
        """Makes a subscription whose payments are declined, with this number of failed renewals."""
        self.bought(**fields)
        self.act("subscription", "change_billing", declines=True)
        for _ in range(renewals):
            self.act("subscription", "renew")
        if accepted:
            self.act("subscription", "change_billing", declines=False)

    def last_cycle(self, renewals: int) -> None:
        """Makes a subscription whose only cycle is paid, after this number of failed renewals."""
        self.declined(renewals)
        self.make("fixed_cycle", cycles=1)
        self.swap(self.ids["product"])

    def swap(self, product: int) -> None:
        path = f"/subscription/{self.ids['subscription']}/product"
        assert self.service.post(path, {"product_id": product}).status == 200

    def cancelled(self, *, stays_active: bool) -> None:
        self.bought(product={"stays_active": stays_active})
        self.act("subscription", "cancel")

    def expired(self) -> None:
        self.bought("fixed_cycle", {"cycles": 1})
        self.act("subscription", "renew")

    def before_charge(self) -> None:
        """Makes a subscription that is billed by invoice, so that the order of a charge is not paid at once."""
        self.bought(billing="invoice")
        self.act("order", "pay")
        self.make()

    def charge(self) -> None:
        body = {"product_id": self.ids["product"], "amount": 900}
        self.ids["order"] = self.service.post(f"/subscription/{self.ids['subscription']}/order", body).data["id"]

    def invoice(self, *causes: str) -> None:
        self.bought("one_time", billing="invoice")
        for each in causes:
            self.act("order", each)

    def create_group(self) -> None:
        self.ids["group"] = self.control.create_group("Drinks", [self.ids["product"]])["id"]

    def grouped(self) -> None:
        self.make()
        self.create_group()

    def register(self) -> None:
        url = self.receiver.url + "&other=1"
        self.ids["endpoint"] = self.service.post("/webhooks/endpoints", {"url": url}).data["id"]

    def issue(self) -> None:
        self.key = self.control.issue_key()
        self.ids["key"] = self.control.keys()[-1]["id"]

    def state(self, machine: str) -> str:
        """The state of the object, from the REST interface, or for groups and endpoints from a control route."""
        number = self.ids[machine]
        if machine in ("subscription", "order"):
            shown = self.service.get(f"/{machine}/{number}").data
            return str(shown["status" if machine == "subscription" else "state"])
        if machine == "product":
            return {200: "live", 404: "deleted"}[self.service.get(f"/product/{number}").status]
        if machine == "group":
            try:
                self.control.change_group(number)
            except ControlError as error:
                return "deleted" if "The group is deleted" in str(error) else str(error)
            return "live"
        if machine == "endpoint":
            return next((each["state"] for each in self.control.endpoints() if each["id"] == number), "deleted")
        status = self.service.send("GET", "/products", headers={"X-API-KEY": self.key}).status
        return {200: "valid", 401: "revoked"}[status]


Step = Callable[[Story], Any]
# The step that leads into each state.
STATES: dict[str, dict[str, Step]] = {
    "subscription": {
        "new": lambda s: s.make("subscription"),
        "pending": lambda s: s.buy(),
        "future_start": lambda s: s.bought(starts_in_days=7),
        "trialing": lambda s: s.bought(trial_days=14),
        "active": lambda s: s.bought(),
        "delayed": lambda s: s.declined(1),
        "unpaid": lambda s: s.declined(3),
        "ending": lambda s: s.cancelled(stays_active=True),
        "cancelled": lambda s: s.cancelled(stays_active=False),
        "expired": lambda s: s.expired(),
    },
    "order": {
        "new": lambda s: s.make(),
        "created": lambda s: s.buy("one_time", billing="invoice"),
        "confirmed": lambda s: s.invoice(),
        "payment_pending": lambda s: s.invoice("await_payment"),
        "payment_pending_user": lambda s: s.invoice("await_user"),
        "payment_failed": lambda s: s.invoice("fail_payment"),
        "paid": lambda s: s.bought("one_time"),
    },
    "product": {"new": lambda s: None, "live": lambda s: s.make()},
    "group": {"new": lambda s: s.make(), "live": lambda s: s.grouped()},
    "endpoint": {
        "new": lambda s: None,
        "enabled": lambda s: None,
        "disabled": lambda s: s.act("endpoint", "disable"),
    },
    "key": {"new": lambda s: None, "valid": lambda s: s.issue()},
}
# The step that leads into a state so that the row with this cause and this guard applies, where it needs another.
WITH_GUARD: dict[tuple[str, str], dict[str, Step]] = {
    ("first_payment", "starts_later"): {
        "pending": lambda s: s.bought(billing="invoice", starts_in_days=7, trial_days=7)
    },
    ("first_payment", "has_trial"): {"pending": lambda s: s.bought(billing="invoice", trial_days=7)},
    ("first_payment", ""): {"pending": lambda s: s.bought(billing="invoice")},
    ("start", "has_trial"): {"future_start": lambda s: s.bought(starts_in_days=7, trial_days=7)},
    ("cancel", "stays_active"): {"active": lambda s: s.bought(product={"stays_active": True})},
    ("renew", "has_no_cycle_left"): {
        "active": lambda s: s.bought("fixed_cycle", {"cycles": 1}),
        "delayed": lambda s: s.last_cycle(1),
        "unpaid": lambda s: s.last_cycle(3),
    },
    ("renew", "pays"): {
        "delayed": lambda s: s.declined(1, accepted=True),
        "unpaid": lambda s: s.declined(3, accepted=True),
    },
    ("renew", "may_be_retried"): {
        "trialing": lambda s: s.declined(0, trial_days=14),
        "active": lambda s: s.declined(0),
    },
    ("renew", ""): {
        "trialing": lambda s: s.declined(0, trial_days=14),
        "active": lambda s: s.declined(0),
        "delayed": lambda s: s.declined(2),
    },
    ("bill", ""): {"new": lambda s: s.before_charge()},
}
# The step of each action that has no control route of its own, or whose route needs fields.
ACTIONS: dict[str, Step] = {
    "first_payment": lambda s: s.act("order", "pay"),
    "checkout": lambda s: s.checkout(),
    "change_product": lambda s: s.swap(s.other_product),
    "change_billing": lambda s: s.act("subscription", "change_billing", billing="mobile"),
    "bill": lambda s: s.charge(),
    "product create": lambda s: s.make(),
    "product update": lambda s: s.service.post(f"/product/{s.ids['product']}", {"price": 7}),
    "product delete": lambda s: s.service.send("DELETE", f"/product/{s.ids['product']}"),
    "group create": lambda s: s.create_group(),
    "endpoint create": lambda s: s.register(),
    "key issue": lambda s: s.issue(),
}
# The events of actions that also fire events of other objects.
MORE = {"subscription.renewed": "order.confirmed order.paid", "subscription.created": "order.paid"}


@pytest.fixture(scope="module")
def no_retries() -> Iterator[Sandbox]:
    with Sandbox(renewal_retries=[], delivery_timeout=GENEROUS) as sandbox:
        yield sandbox


@pytest.fixture
def story(request: pytest.FixtureRequest, receiver: Receiver) -> Story:
    """A Story in a new account; if the parameter is "no_retries", the sandbox does not retry renewals."""
    process: Sandbox = request.getfixturevalue(getattr(request, "param", "process"))
    return Story(process.new_account(), receiver)


def cases() -> Iterator[Any]:
    for row in Machine().transitions:
        for source in row.sources:
            gives_up = row.to == "unpaid" and source in ("trialing", "active")
            name = f"{row.machine}-{source}-{row.cause}-{row.guard or 'else'}"
            yield pytest.param("no_retries" if gives_up else "process", row, source, id=name)


@pytest.mark.parametrize(("story", "row", "source"), [*cases()], indirect=["story"])
def test_each_row_of_the_state_table_holds(story: Story, row: Transition, source: str) -> None:
    machine = row.machine
    WITH_GUARD.get((row.cause, row.guard or ""), {}).get(source, STATES[machine][source])(story)
    shown = {"ending": "active"}.get(source, source)
    assert source == "new" or story.state(machine) == shown
    before = len(ended(story.control))
    action = ACTIONS.get(row.cause) or ACTIONS.get(f"{machine} {row.cause}")
    if action is None:
        story.act(machine, row.cause)
    else:
        action(story)
    fired = [each["event"] for each in ended(story.control)]
    assert fired[before:] == [*MORE.get(row.event or "", "").split(), *([row.event] if row.event else [])]
    assert events(story.receiver.received) == fired
    assert story.state(machine) == (shown if row.to == "same" else row.to)


@pytest.mark.parametrize(
    ("reach", "cause", "message"),
    [
        (
            lambda s: s.cancelled(stays_active=True),
            lambda s: s.act("subscription", "renew"),
            "The subscription is cancelled, which does not take renew: it takes end, change_product, change_billing.",
        ),
        (
            lambda s: [s.bought(), s.service.send("DELETE", f"/product/{s.ids['product']}")],
            lambda s: s.control.trigger("product-withdrawn", on=s.ids["subscription"]),
            "The product is deleted, which does not take delete: it takes nothing any more.",
        ),
    ],
)
def test_a_cause_that_the_state_does_not_allow(story: Story, reach: Step, cause: Step, message: str) -> None:
    reach(story)
    before = (story.control.ledger(), len(ended(story.control)))
    with pytest.raises(ControlError) as refused:
        cause(story)
    assert str(refused.value) == f"422 not_allowed: {message}"
    assert (story.control.ledger(), len(story.control.deliveries())) == before
