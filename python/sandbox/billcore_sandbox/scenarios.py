"""Runs the scenarios of scenarios.toml on a new subscription or an existing one."""

from __future__ import annotations

import sqlite3
import tomllib
from dataclasses import dataclass
from importlib import resources as package_files
from typing import Any

import msgspec

from billcore_sandbox.control import answers, bodies, objects
from billcore_sandbox.control.common import account_or_first, find, shown
from billcore_sandbox.errors import Refusal, invalid
from billcore_sandbox.service import subscriptions
from billcore_sandbox.service.calls import call_with
from billcore_sandbox.store import Account
from billcore_sandbox.world import World

# A step such as "renew until unpaid" fails if the status is not reached after this many repetitions.
_MOST_STEPS = 100


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scenario of scenarios.toml.

    new: fields of the checkout, and `type`, `stays_active` and `own_product`, which choose the product.
    begin: steps that run only on a new subscription. fires: the events that `trigger` finds the scenario by.
    """

    name: str
    about: str
    new: dict[str, Any]
    begin: tuple[str, ...]
    fires: tuple[str, ...]
    steps: tuple[str, ...]


def _read() -> dict[str, Scenario]:
    file = package_files.files("billcore_sandbox") / "data" / "scenarios.toml"
    return {
        name: Scenario(
            name=name,
            about=row["about"],
            new=row["new"],
            begin=tuple(row.get("begin", ())),
            fires=tuple(row.get("fires", ())),
            steps=tuple(row["steps"]),
        )
        for name, row in tomllib.loads(file.read_text("utf-8")).items()
    }


SCENARIOS = _read()


def listed(world: World, query: bodies.Nothing) -> answers.Scenarios:
    """The scenarios that `trigger` can run."""
    return {"scenarios": [{"name": each.name, "about": each.about} for each in SCENARIOS.values()]}


def trigger(world: World, body: bodies.Trigger) -> answers.Triggered:
    """Run a scenario, or the one that fires the event `name`, on a new subscription or on the one with the id `on`."""
    by_event = (each for each in SCENARIOS.values() if body.name in each.fires)
    scenario = SCENARIOS.get(body.name) or next(by_event, None)
    if scenario is None:
        raise invalid(f"There is no scenario {body.name!r}: there are {', '.join(SCENARIOS)}.", "unknown_scenario")
    with world.together():
        if body.on is not None:
            row, account = find(world, "subscription", str(body.on), body)
            story = _Story(world, account, row["id"], None)
        else:
            account = account_or_first(world, body.account)
            story = _begun(world, account, scenario)
            for step in scenario.begin:
                story.step(step)
        before = world.store.last_id("deliveries")
        for step in scenario.steps:
            story.step(step)
    sql = "SELECT id, event FROM deliveries WHERE seq > ? ORDER BY seq"
    return {
        "scenario": scenario.name,
        **story.shown(),
        "deliveries": [{"id": row["id"], "event": row["event"]} for row in world.store.all(sql, before)],
    }


def _begun(world: World, account: Account, scenario: Scenario) -> _Story:
    new = dict(scenario.new)
    kind, stays, own = new.pop("type"), new.pop("stays_active", None), new.pop("own_product", False)
    where = f"type = '{kind}'" + ("" if stays is None else f" AND stays_active = {int(stays)}")
    made = {"name": f"Product of {scenario.name}", "type": kind, "stays_active": bool(stays)}
    number = _product(world, account, "0" if own else where, made)
    fields = {"account": account.uuid, "product_id": number, "reference_id": f"scenario-{scenario.name}", **new}
    bought: Any = objects.checkout(world, msgspec.convert(fields, bodies.Checkout))
    return _Story(world, account, int(bought["subscription"]["id"]), int(bought["order"]["id"]))


def _product(world: World, account: Account, where: str, otherwise: dict[str, Any]) -> int:
    """The id of the account's first product that meets the condition, or of a new product with these fields."""
    sql = f"SELECT id FROM products WHERE account = ? AND state = 'live' AND {where} ORDER BY id LIMIT 1"
    row = world.store.one(sql, account.number)
    if row is not None:
        return int(row["id"])
    made = msgspec.convert({"account": account.uuid, **otherwise}, bodies.NewProduct)
    return int(objects.create_product(world, made)["product"]["id"])


class _Story:
    """Runs steps on one subscription and its order that waits for a confirmation or a payment."""

    def __init__(self, world: World, account: Account, subscription: int, order: int | None) -> None:
        self._world = world
        self._account = account
        self._subscription = subscription
        self._order = order
        self._body = bodies.Nothing()

    def _row(self) -> sqlite3.Row:
        return self._world.store.all("SELECT * FROM subscriptions WHERE id = ?", self._subscription)[0]

    def _waiting_order(self) -> str:
        if self._order is not None:
            return str(self._order)
        ended = "'paid', 'payment_refunded', 'payment_cancelled'"
        sql = f"SELECT id FROM orders WHERE subscription_id = ? AND state NOT IN ({ended}) ORDER BY id DESC"
        row = self._world.store.one(sql, self._subscription)
        if row is None:
            raise invalid("This subscription has no order that waits for a payment.", "not_allowed")
        return str(row["id"])

    def step(self, step: str) -> None:
        number = str(self._subscription)
        cause, _, target = step.partition(" until ")
        if target:
            self._until(cause, target)
        elif step in ("decline", "accept"):
            # This step performs no action: it sets whether later payments are declined.
            self._world.store.update("subscriptions", self._subscription, {"declines": int(step == "decline")})
        elif step in ("confirm", "pay"):
            action = objects.confirm if step == "confirm" else objects.pay
            action(self._world, self._body, self._waiting_order())
        elif step in ("charge", "charge refused"):
            self._charge(refused=step == "charge refused")
        elif step == "change_billing":
            changed = bodies.BillingMethod(billing="card", declines=False)
            objects.change_billing(self._world, changed, number)
        elif step == "change_product":
            product = self._other_product("subscription")
            subscriptions.change_product(call_with(self._world, self._account, number, product_id=product))
        elif step == "delete_product":
            with self._world.effect(self._account) as work:
                work.machine.fire(work, "product", work.row("products", self._row()["product_id"]), "delete")
        else:
            objects.subscription_cause(self._world, step, self._body, number)

    def _until(self, cause: str, target: str) -> None:
        for _ in range(_MOST_STEPS):
            if self._row()["status"] == target:
                return
            objects.subscription_cause(self._world, cause, self._body, str(self._subscription))
        raise invalid(f"This subscription does not become {target}.", "not_allowed")

    def _other_product(self, kind: str) -> int:
        where = f"type = '{kind}' AND id != {self._row()['product_id']}"
        return _product(self._world, self._account, where, {"name": f"Scenario {kind}", "type": kind})

    def _charge(self, *, refused: bool) -> None:
        fields = {"product_id": self._other_product("one_time"), "amount": 1500, "description": "scenario"}
        try:
            subscriptions.charge(call_with(self._world, self._account, self._subscription, **fields))
        except Refusal:
            if not refused:
                raise
            return
        if refused:
            raise invalid("This subscription takes a charge, so this story does not fit it.", "not_allowed")

    def shown(self) -> answers.Shown:
        """The subscription and its latest order, as the REST interface shows them."""
        with self._world.effect(self._account) as work:
            sql = "SELECT * FROM orders WHERE subscription_id = ? ORDER BY id DESC LIMIT 1"
            order = work.db.execute(sql, (self._subscription,)).fetchone()
            return shown(work, order, self._subscription)
