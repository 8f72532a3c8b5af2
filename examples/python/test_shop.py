from shop import Shop

from billcore.testing import SandboxAccount


def test_no_double_charge(billcore_sandbox: SandboxAccount) -> None:
    shop = Shop(billcore_sandbox.base_url, billcore_sandbox.api_key, billcore_sandbox.ids["products"]["one_time"])
    billcore_sandbox.fault("status", status=503, effect=True, operation="charge")  # charges, but answers 503
    shop.buy("demo-active", 1500)
    billcore_sandbox.fault("delay", delay=60, operation="charge")  # charges, but the client times out
    shop.buy("demo-active", 1500)
    assert len(billcore_sandbox.control.ledger("charge")) == len(shop.orders) == 2


def test_duplicates_out_of_order_ship_once(billcore_sandbox: SandboxAccount) -> None:
    shop = Shop(billcore_sandbox.base_url, billcore_sandbox.api_key, billcore_sandbox.ids["products"]["one_time"])
    inbox = billcore_sandbox.receive(handler=shop.on_event)
    billcore_sandbox.fault("event_reorder", event="order.confirmed")  # arrives after order.paid
    billcore_sandbox.fault("event_duplicate", event="order.paid")
    shop.buy("demo-active", 1500)
    assert inbox.wait("order.paid", count=2) and inbox.wait("order.confirmed") and shop.shipped == shop.orders


def test_access_ends_after_failed_renewals(billcore_sandbox: SandboxAccount) -> None:
    shop = Shop(billcore_sandbox.base_url, billcore_sandbox.api_key, billcore_sandbox.ids["products"]["one_time"])
    inbox = billcore_sandbox.receive(handler=shop.on_event)
    billcore_sandbox.trigger("renewal-fails", on=billcore_sandbox.ids["subscriptions"]["demo-declined"])
    assert inbox.wait("subscription.updated") and "demo-declined" in shop.members
    billcore_sandbox.advance(days=5)  # the service tries again after 1 and 3 days, and gives up
    assert inbox.wait("subscription.updated", count=2) and "demo-declined" not in shop.members
