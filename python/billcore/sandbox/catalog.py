"""One event of each name, as this sandbox sends it: what billcore.testing.event() is made from.

The events come out of the sandbox's own operations on its demo data, in memory, without a server and without the extra
`sandbox`. Nothing is delivered. Service interface: Events, Catalog.
"""

from __future__ import annotations

import json
from typing import Any

from billcore.sandbox import checkout, endpoints, products, subscriptions
from billcore.sandbox.calls import Call
from billcore.sandbox.events import TEST_HOOK
from billcore.sandbox.options import Options
from billcore.sandbox.store import Account
from billcore.sandbox.world import World

# Deliveries to a URL that is not loopback are recorded and held back, so no event loop is needed.
_URL = "https://receiver.example/webhooks"


def make() -> tuple[int, dict[str, Any]]:
    """The account's number, and `data` by event name, whole: integer ids in it, as the service sends them today."""
    world = World(Options(event_ids="int", event_payload="full"))
    try:
        account = world.store.accounts[0]
        endpoints.create(_call(world, account, url=_URL))
        _life_of_a_subscription(world, account)
        _life_of_a_group(world, account)
        endpoint = world.store.all("SELECT * FROM endpoints")[0]
        with world.effect(account) as work:
            work.test_hook(endpoint, None)
        found: dict[str, Any] = {}
        for row in world.store.all("SELECT event, data FROM deliveries ORDER BY seq"):
            found.setdefault(row["event"], json.loads(row["data"]))
        assert TEST_HOOK in found
        return account.number, found
    finally:
        world.store.close()


def _call(world: World, account: Account, id: object = "", **fields: Any) -> Call:
    return Call(world, account, str(id), body=json.dumps(fields).encode(), content_type="application/json")


def _life_of_a_subscription(world: World, account: Account) -> None:
    """Bought and paid, changed, renewed, cancelled: subscription.* and order.*."""
    plans = world.store.all("SELECT * FROM products WHERE account = ? AND type = 'subscription'", account.number)
    plan, other = [product for product in plans if not product["stays_active"]][:2]
    customer = {"reference_id": "customer-1", "reference_name": "Zoë Ångström", "metadata": {"source": "web"}}
    bought = checkout.checkout(world, {"product_id": plan["id"], **customer})
    subscription = bought["subscription"]["id"]
    checkout.confirm(world, bought["order"]["id"], {})
    subscriptions.change_product(_call(world, account, subscription, product_id=other["id"]))
    checkout.renew(world, subscription, {})
    subscriptions.cancel(_call(world, account, subscription))


def _life_of_a_group(world: World, account: Account) -> None:
    """A product changes, then the products of its group are deleted one by one: product.* and product-group.*."""
    members = world.store.all(
        "SELECT product_id FROM group_members WHERE group_id = (SELECT group_id FROM group_members JOIN products"
        " ON id = product_id WHERE account = ? AND image IS NOT NULL ORDER BY id LIMIT 1) ORDER BY product_id",
        account.number,
    )
    products.update(_call(world, account, members[0]["product_id"], name="Gym pass Premium"))
    for row in members:
        products.delete(_call(world, account, row["product_id"]))
