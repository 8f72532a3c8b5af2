"""Steps of tests: they bring objects into each state of states.toml and perform each row's action, only by routes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from billcore.testing import ControlError, SandboxAccount
from sandbox.support import Receiver, Service


class Story:
    """One account with a receiver: methods are steps of tests, attributes are ids of objects that the steps made."""

    def __init__(self, mine: SandboxAccount, receiver: Receiver) -> None:
        self.control, self.service, self.receiver = mine.control, Service(mine.accounts[0]), receiver
        self.other_product = mine.ids["products"]["subscription"]
        self.endpoint = self.control.create_endpoint(receiver.url)["id"]
        self.subscription = self.order = self.key = ""
        self.product = self.group = self.key_id = 0

    def post(self, path: str, **fields: Any) -> Any:
        return self.control._call("POST", path, fields)

    def make(self, kind: str = "one_time", **fields: Any) -> None:
        self.product = self.control.create_product("Tea", type=kind, **fields)["id"]

    def buy(self, kind: str = "subscription", product: dict[str, Any] | None = None, **fields: Any) -> None:
        self.make(kind, **product or {})
        self.checkout(**fields)

    def checkout(self, **fields: Any) -> None:
        made = self.control.checkout(self.product, **fields)
        self.order = made["order"]["id"]
        self.subscription = made["subscription"]["id"] if made["subscription"] else ""

    def bought(self, kind: str = "subscription", product: dict[str, Any] | None = None, **fields: Any) -> None:
        """Buys a product and confirms the order, which is then paid unless billing="invoice"."""
        self.buy(kind, product, **fields)
        self.control.confirm(self.order)

    def declined(self, renewals: int, **fields: Any) -> None:
        """Makes a subscription whose payments are declined, with this number of failed renewals."""
        self.bought(**fields)
        self.control.subscription(self.subscription, "change_billing", declines=True)
        for _ in range(renewals):
            self.control.renew(self.subscription)

    def accepted(self, renewals: int) -> None:
        self.declined(renewals)
        self.control.subscription(self.subscription, "change_billing", declines=False)

    def last_cycle(self, renewals: int) -> None:
        """Makes a subscription whose only cycle is paid, after this number of failed renewals."""
        self.declined(renewals)
        self.make("fixed_cycle", cycles=1)
        self.service.post(f"/subscription/{self.subscription}/product", {"product_id": self.product})

    def cancelled(self, *, stays_active: bool = False) -> None:
        self.bought(product={"stays_active": stays_active})
        self.service.post(f"/subscription/{self.subscription}/cancel")

    def expired(self) -> None:
        self.bought("fixed_cycle", {"cycles": 1})
        self.control.renew(self.subscription)

    def swap(self) -> None:
        before = self.service.get(f"/subscription/{self.subscription}").data
        answer = self.service.post(f"/subscription/{self.subscription}/product", {"product_id": self.other_product})
        assert answer.data["price"] != before["price"]

    def before_charge(self) -> None:
        """Makes a subscription that is billed by invoice, so that the order of a charge is not paid at once."""
        self.bought(billing="invoice")
        self.control.pay(self.order)
        self.make()

    def charge(self) -> None:
        body = {"product_id": self.product, "amount": 900}
        self.order = self.service.post(f"/subscription/{self.subscription}/order", body).data["id"]

    def invoice(self, *causes: str) -> None:
        self.bought("one_time", billing="invoice")
        for each in causes:
            self.post(f"orders/{self.order}/{each}")

    def create_group(self) -> None:
        self.group = self.post("groups", name="Drinks", products=[self.product])["group"]["id"]

    def grouped(self) -> None:
        self.make()
        self.create_group()

    def register(self) -> None:
        self.endpoint = self.service.post("/webhooks/endpoints", {"url": self.receiver.url + "&other=1"}).data["id"]

    def issue(self) -> None:
        self.key = self.control.issue_key()
        self.key_id = self.control.keys()[-1]["id"]

    def state(self, machine: str) -> str:
        """The state of the object, from the REST interface, or for groups and endpoints from a control route."""
        if machine == "subscription":
            return str(self.service.get(f"/subscription/{self.subscription}").data["status"])
        if machine == "order":
            return str(self.service.get(f"/order/{self.order}").data["state"])
        if machine == "product":
            return {200: "live", 404: "deleted"}[self.service.get(f"/product/{self.product}").status]
        if machine == "group":
            try:
                self.post(f"groups/{self.group}/change")
            except ControlError as error:
                assert "The group is deleted" in str(error)
                return "deleted"
            return "live"
        if machine == "endpoint":
            return next((each["state"] for each in self.control.endpoints() if each["id"] == self.endpoint), "deleted")
        status = self.service.send("GET", "/products", headers={"X-API-KEY": self.key}).status
        return {200: "valid", 401: "revoked"}[status]


Step = Callable[[Story], Any]


def nothing(story: Story) -> None:
    """A step that does nothing, for objects in the state `new` and for the endpoint, which is enabled at first."""


def on_subscription(cause: str, **fields: Any) -> Step:
    return lambda story: story.post(f"subscriptions/{story.subscription}/{cause}", **fields)


def on_order(cause: str) -> Step:
    return lambda story: story.post(f"orders/{story.order}/{cause}")


def on_endpoint(cause: str, **fields: Any) -> Step:
    return lambda story: story.post(f"endpoints/{story.endpoint}/{cause}", **fields)


def cancel(story: Story) -> None:
    assert story.service.post(f"/subscription/{story.subscription}/cancel").status == 200


def only(states: dict[str, Step], *names: str) -> dict[str, Step]:
    return {name: states[name] for name in names}


NEW: dict[str, Step] = {"new": nothing}
SUBSCRIPTION: dict[str, Step] = {
    "pending": lambda s: s.buy(),
    "future_start": lambda s: s.bought(starts_in_days=7),
    "trialing": lambda s: s.bought(trial_days=14),
    "active": lambda s: s.bought(),
    "delayed": lambda s: s.declined(1),
    "unpaid": lambda s: s.declined(3),
    "ending": lambda s: s.cancelled(stays_active=True),
    "cancelled": lambda s: s.cancelled(),
    "expired": lambda s: s.expired(),
}
ACCEPTED: dict[str, Step] = {
    **only(SUBSCRIPTION, "trialing", "active"),
    "delayed": lambda s: s.accepted(1),
    "unpaid": lambda s: s.accepted(3),
}
DECLINED: dict[str, Step] = {
    "trialing": lambda s: s.declined(0, trial_days=14),
    "active": lambda s: s.declined(0),
    "delayed": lambda s: s.declined(2),
}
LAST_CYCLE: dict[str, Step] = {
    "active": lambda s: s.bought("fixed_cycle", {"cycles": 1}),
    "delayed": lambda s: s.last_cycle(1),
    "unpaid": lambda s: s.last_cycle(3),
}
ORDER: dict[str, Step] = {
    "created": lambda s: s.buy("one_time"),
    "confirmed": lambda s: s.invoice(),
    "payment_pending": lambda s: s.invoice("await_payment"),
    "payment_pending_user": lambda s: s.invoice("await_user"),
    "payment_failed": lambda s: s.invoice("fail_payment"),
    "paid": lambda s: s.bought("one_time"),
}
ENDPOINT: dict[str, Step] = {"enabled": nothing, "disabled": on_endpoint("disable")}
PAID_AND_CREATED = "order.paid subscription.created"

# Maps (state machine, number of the machine's row in states.toml) to three values: for each state of `from`, the step
# that leads into the state; the step that performs the row's action; and the events that the action fires.
TABLE: dict[tuple[str, int], tuple[dict[str, Step], Step, str]] = {
    ("subscription", 1): ({"new": lambda s: s.make("subscription")}, lambda s: s.checkout(), ""),
    ("subscription", 2): (
        {"pending": lambda s: s.bought(billing="invoice", starts_in_days=7, trial_days=7)},
        on_order("pay"),
        PAID_AND_CREATED,
    ),
    ("subscription", 3): (
        {"pending": lambda s: s.bought(billing="invoice", trial_days=7)},
        on_order("pay"),
        PAID_AND_CREATED,
    ),
    ("subscription", 4): ({"pending": lambda s: s.bought(billing="invoice")}, on_order("pay"), PAID_AND_CREATED),
    ("subscription", 5): (
        {"future_start": lambda s: s.bought(starts_in_days=7, trial_days=7)},
        on_subscription("start"),
        "subscription.updated",
    ),
    ("subscription", 6): (only(SUBSCRIPTION, "future_start"), on_subscription("start"), "subscription.updated"),
    ("subscription", 7): (LAST_CYCLE, on_subscription("renew"), "subscription.updated"),
    ("subscription", 8): (ACCEPTED, on_subscription("renew"), "order.confirmed order.paid subscription.renewed"),
    ("subscription", 9): (only(DECLINED, "trialing", "active"), on_subscription("renew"), "subscription.updated"),
    ("subscription", 10): (only(SUBSCRIPTION, "delayed"), on_subscription("renew"), ""),
    ("subscription", 11): (DECLINED, on_subscription("renew"), "subscription.updated"),
    ("subscription", 12): (only(SUBSCRIPTION, "unpaid"), on_subscription("renew"), ""),
    ("subscription", 13): (
        {"active": lambda s: s.bought(product={"stays_active": True})},
        cancel,
        "subscription.cancelled",
    ),
    ("subscription", 14): (
        only(SUBSCRIPTION, "pending", "future_start", "trialing", "active", "delayed", "unpaid"),
        cancel,
        "subscription.cancelled",
    ),
    ("subscription", 15): (only(SUBSCRIPTION, "ending"), on_subscription("end"), "subscription.updated"),
    ("subscription", 16): (SUBSCRIPTION, lambda s: s.swap(), "subscription.updated"),
    ("subscription", 17): (
        {name: step for name, step in SUBSCRIPTION.items() if name not in ("cancelled", "expired")},
        on_subscription("change_billing", billing="mobile"),
        "subscription.updated",
    ),
    ("order", 1): ({"new": lambda s: s.make()}, lambda s: s.checkout(), ""),
    ("order", 2): ({"new": lambda s: s.before_charge()}, lambda s: s.charge(), "order.confirmed"),
    ("order", 3): ({"created": lambda s: s.buy("one_time", billing="invoice")}, on_order("confirm"), "order.confirmed"),
    ("order", 4): (
        only(ORDER, "confirmed", "payment_pending", "payment_pending_user", "payment_failed"),
        on_order("pay"),
        "order.paid",
    ),
    ("order", 5): (only(ORDER, "confirmed"), on_order("await_payment"), ""),
    ("order", 6): (only(ORDER, "confirmed", "payment_pending"), on_order("await_user"), ""),
    ("order", 7): (
        only(ORDER, "confirmed", "payment_pending", "payment_pending_user"),
        on_order("fail_payment"),
        "",
    ),
    ("order", 8): (
        {name: step for name, step in ORDER.items() if name != "paid"},
        on_order("cancel_payment"),
        "",
    ),
    ("order", 9): (only(ORDER, "paid"), on_order("refund"), ""),
    ("product", 1): (NEW, lambda s: s.make(), "product.updated"),
    ("product", 2): (
        {"live": lambda s: s.make()},
        lambda s: s.service.post(f"/product/{s.product}", {"price": 7}),
        "product.updated",
    ),
    ("product", 3): (
        {"live": lambda s: s.make()},
        lambda s: s.service.send("DELETE", f"/product/{s.product}"),
        "product.deleted",
    ),
    ("group", 1): ({"new": lambda s: s.make()}, lambda s: s.create_group(), "product-group.updated"),
    ("group", 2): (
        {"live": lambda s: s.grouped()},
        lambda s: s.post(f"groups/{s.group}/change", name="Food"),
        "product-group.updated",
    ),
    ("group", 3): (
        {"live": lambda s: s.grouped()},
        lambda s: s.post(f"groups/{s.group}/delete"),
        "product-group.deleted",
    ),
    ("endpoint", 1): (NEW, lambda s: s.register(), ""),
    ("endpoint", 2): (only(ENDPOINT, "enabled"), on_endpoint("disable"), ""),
    ("endpoint", 3): (only(ENDPOINT, "disabled"), on_endpoint("enable"), ""),
    ("endpoint", 4): (ENDPOINT, on_endpoint("rotate_secret", overlap=60), ""),
    ("endpoint", 5): (ENDPOINT, on_endpoint("delete"), ""),
    ("key", 1): (NEW, lambda s: s.issue(), ""),
    ("key", 2): ({"valid": lambda s: s.issue()}, lambda s: s.post(f"keys/{s.key_id}/revoke"), ""),
    ("key", 3): ({"valid": lambda s: s.issue()}, lambda s: s.post(f"keys/{s.key_id}/rotate"), ""),
}
