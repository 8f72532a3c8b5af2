"""Prints one event of each name as the sandbox sends it: the samples of billcore.testing.event().

    python -m billcore_sandbox.catalog > python/billcore/testing/samples.json

The events come from the sandbox's own operations on its demo data, in memory. Nothing is delivered. The output is the
same at each run. Service interface: Events, Catalog.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from typing import Any

from billcore_sandbox import outbox
from billcore_sandbox.control import bodies, objects
from billcore_sandbox.events import TEST_HOOK
from billcore_sandbox.options import DEFAULT_SEED, Options
from billcore_sandbox.service import endpoints, products, subscriptions
from billcore_sandbox.service.calls import Call
from billcore_sandbox.store import Account
from billcore_sandbox.world import World

START = datetime(2026, 1, 12, 9, tzinfo=UTC)
# Deliveries to a URL that is not loopback are recorded and held back, so no event loop is needed.
_URL = "https://receiver.example/webhooks"


def make() -> tuple[int, dict[str, Any]]:
    """The account's number, and the full `data` of each event by its name. Ids are integers."""
    world = World(Options(event_ids="int", event_payload="full", seed=DEFAULT_SEED, start=START))
    try:
        account = world.store.accounts[0]
        account.clock.freeze()
        account.clock.set(START)
        endpoints.create(_call(world, account, url=_URL))
        _life_of_a_subscription(world, account)
        _life_of_a_group(world, account)
        endpoint = world.store.all("SELECT * FROM endpoints")[0]
        with world.effect(account) as work:
            outbox.test_hook(work, endpoint, None)
        found: dict[str, Any] = {}
        for row in world.store.all("SELECT event, body FROM deliveries ORDER BY seq"):
            found.setdefault(row["event"], json.loads(row["body"])["data"])
        assert TEST_HOOK in found
        return account.number, found
    finally:
        world.store.close()


def _call(world: World, account: Account, id: object = "", **fields: Any) -> Call:
    return Call(world, account, str(id), body=json.dumps(fields).encode(), content_type="application/json")


def _life_of_a_subscription(world: World, account: Account) -> None:
    """Buy, pay, change, renew and cancel a subscription, which fires the events subscription.* and order.*."""
    plans = world.store.all("SELECT * FROM products WHERE account = ? AND type = 'subscription'", account.number)
    plan, other = [product for product in plans if not product["stays_active"]][:2]
    customer: dict[str, Any] = {
        "reference_id": "customer-1",
        "reference_name": "Zoë Ångström",
        "metadata": {"source": "web"},
    }
    bought: Any = objects.checkout(world, bodies.Checkout(product_id=plan["id"], **customer))
    subscription = bought["subscription"]["id"]
    nothing = bodies.Nothing()
    objects.confirm(world, nothing, bought["order"]["id"])
    subscriptions.change_product(_call(world, account, subscription, product_id=other["id"]))
    objects.subscription_cause(world, "renew", nothing, subscription)
    subscriptions.cancel(_call(world, account, subscription))


def _life_of_a_group(world: World, account: Account) -> None:
    """Change a product, then delete all products of its group, which fires the events product.* and product-group.*."""
    members = world.store.all(
        "SELECT product_id FROM group_members WHERE group_id = (SELECT group_id FROM group_members JOIN products"
        " ON id = product_id WHERE account = ? AND image IS NOT NULL ORDER BY id LIMIT 1) ORDER BY product_id",
        account.number,
    )
    products.update(_call(world, account, members[0]["product_id"], name="Gym pass Premium"))
    for row in members:
        products.delete(_call(world, account, row["product_id"]))


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
