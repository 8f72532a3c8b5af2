"""Prints one event of each name as the sandbox sends it: the samples of billcore.testing.event().

    python -m billcore_sandbox.catalog > python/billcore/testing/samples.json

The events come from the sandbox's own operations on its demo data, in memory. Nothing is delivered. The output is the
same at each run. Service interface: Events, Catalog.
"""

from __future__ import annotations

import contextlib
import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from billcore_sandbox.control import bodies, deliveries, objects
from billcore_sandbox.events import NAMES
from billcore_sandbox.options import DEFAULT_SEED, Options
from billcore_sandbox.service import products, subscriptions
from billcore_sandbox.service.calls import call_with
from billcore_sandbox.service.endpoints import register
from billcore_sandbox.store import Account
from billcore_sandbox.world import World

START = datetime(2026, 1, 12, 9, tzinfo=UTC)
# Deliveries to a URL that is not loopback are recorded and held back, so no event loop is needed.
_URL = "https://receiver.example/webhooks"


def make() -> tuple[int, dict[str, Any]]:
    """The account's number, and the full `data` of each event by its name. Ids are integers."""
    world = World(Options(event_ids="int", event_payload="full", seed=DEFAULT_SEED, start=START))
    with contextlib.closing(world.store):
        account = world.store.accounts[0]
        account.clock.freeze()
        account.clock.set(START)
        register(world, account, _URL)
        _life_of_a_subscription(world, account)
        _life_of_a_group(world, account)
        deliveries.test_hook(world, bodies.TestHook())
        found: dict[str, Any] = {}
        for row in world.store.all("SELECT event, body FROM deliveries ORDER BY seq"):
            found.setdefault(row["event"], json.loads(row["body"])["data"])
        assert {*found} == {*NAMES}
        return account.number, found


def _life_of_a_subscription(world: World, account: Account) -> None:
    """Buy, pay, change, renew and cancel a subscription, which fires the events subscription.* and order.*."""
    where = "account = ? AND type = 'subscription' AND stays_active = 0 ORDER BY id LIMIT 2"
    plan, other = world.store.all(f"SELECT id FROM products WHERE {where}", account.number)
    customer: Any = {"reference_id": "customer-1", "reference_name": "Zoë Ångström", "metadata": {"source": "web"}}
    bought: Any = objects.checkout(world, bodies.Checkout(product_id=plan["id"], **customer))
    subscription = bought["subscription"]["id"]
    objects.confirm(world, bodies.Nothing(), bought["order"]["id"])
    subscriptions.change_product(call_with(world, account, subscription, product_id=other["id"]))
    for cause in ("renew", "cancel"):
        objects.subscription_cause(world, cause, bodies.Nothing(), subscription)


def _life_of_a_group(world: World, account: Account) -> None:
    """Change a product, then delete all products of its group, which fires the events product.* and product-group.*."""
    members = world.store.all(
        "SELECT product_id FROM group_members WHERE group_id = (SELECT group_id FROM group_members JOIN products"
        " ON id = product_id WHERE account = ? AND image IS NOT NULL ORDER BY id LIMIT 1) ORDER BY product_id",
        account.number,
    )
    products.update(call_with(world, account, members[0]["product_id"], name="Gym pass Premium"))
    for row in members:
        products.delete(call_with(world, account, row["product_id"]))


def main() -> int:
    """Print the samples as JSON."""
    logging.getLogger("billcore_sandbox").setLevel(logging.ERROR)  # no warnings that deliveries are held back
    account, data = make()
    json.dump(
        {"account": account, "made_at": START.isoformat(), "data": data}, sys.stdout, ensure_ascii=False, indent=1
    )
    sys.stdout.write("\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
