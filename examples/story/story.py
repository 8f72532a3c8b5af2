"""The story: a program that shows the life of a subscription.

The program needs a running sandbox (examples/quickstart.sh starts one), which it finds through the environment
variables BILLCORE_BASE_URL, BILLCORE_API_KEY and BILLCORE_SANDBOX_CONTROL. It exits with status 1 if a check fails.
"""

from __future__ import annotations

import http.client
import itertools
import os
import sys
from collections import Counter
from datetime import UTC, datetime

from listener import Listener
from story_inbox import Inbox

import billcore
from billcore import webhooks
from billcore.testing import Control, ControlError


class NotAsItShouldBe(Exception):
    """A check of a step failed."""


def expect(truth: bool, claim: str) -> None:
    if not truth:
        raise NotAsItShouldBe(claim)


def step(number: int, title: str) -> None:
    print(f"{number:2}. {title}", flush=True)


def say(line: str) -> None:
    print(f"    {line}", flush=True)


def money(cents: int, currency: str) -> str:
    return f"{cents // 100}.{cents % 100:02} {currency}"


def list_products(client: billcore.Client) -> list[billcore.Product]:
    step(1, "List the products")
    pager = client.products.list()
    products = list(pager)
    say(f"{len(products)} products on {pager.fetched_pages} pages; the list is {pager.verdict}")
    expect(pager.fetched_pages > 1, "the products fill several pages")
    expect(len(products) == pager.total, "every product was listed")
    expect(str(pager.verdict) == "complete", "the list did not move while it was read")
    return products


def find_subscription(client: billcore.Client, reference_id: str) -> billcore.Subscription:
    found = client.subscriptions.list(reference_id=reference_id).first()
    if found is None or found.reference_id != reference_id:
        raise NotAsItShouldBe(f"there is a subscription with the reference id {reference_id}")
    return found


def find_by_reference(client: billcore.Client) -> billcore.Subscription:
    step(2, "Find a subscription by its reference id")
    found = find_subscription(client, "demo-active")
    say(f"{found.reference_id} is subscription {found.id}: {found.status}, {money(found.price, found.currency)}")
    expect(found.status == "active", "the subscription is active")
    return found


def read_orders(client: billcore.Client, subscription: billcore.Subscription) -> None:
    step(3, "Read its orders in two states")
    pager = client.subscriptions.orders(subscription.id, state=["paid", "confirmed"], per_page=10)
    states = Counter(order.state for order in pager)
    say(f"{states['paid']} paid and {states['confirmed']} confirmed orders on {pager.fetched_pages} pages")
    expect(set(states) == {"paid", "confirmed"}, "there are orders in these two states, and no others were listed")


def register_endpoint(client: billcore.Client, control: Control, url: str) -> str:
    step(4, "Register a webhook endpoint")
    answer = client.webhook_endpoints.create(url=url)
    # The real service shows the secret only in its admin UI; the sandbox returns it through a control route.
    secret = next((endpoint["secret"] for endpoint in control.endpoints() if endpoint["url"] == url), "")
    say(f"answered {answer.status}; its secret has {len(secret)} characters")
    expect(len(secret) == 32, "the endpoint has a secret of 32 characters")
    return secret


def charge(client: billcore.Client, subscription: billcore.Subscription, product: billcore.Product) -> billcore.Order:
    step(5, "Charge")
    order = client.subscriptions.charge(subscription.id, product_id=product.id, amount=1500, description="Extra night")
    total, gross = money(order.total, order.currency), money(order.total_with_vat, order.currency)
    say(f"order {order.id}: {total}, {gross} with VAT, {order.state}")
    expect(order.total == 1500 and order.total_with_vat == 1875, "the order has the amount charged, plus 25 % VAT")
    expect(client.orders.get(order.id) == order, "the order can be read again")
    return order


def be_refused(client: billcore.Client, product: billcore.Product) -> None:
    step(6, "Handle a refused charge")
    declined = find_subscription(client, "demo-declined")
    try:
        client.subscriptions.charge(declined.id, product_id=product.id, amount=1500)
    except billcore.PaymentError as error:
        say(f"PaymentError, status {error.status}, code {error.code}: {error.message}")
        expect(error.status == 402 and not error.outcome_unknown, "a refusal is 402, and final")
    else:
        raise NotAsItShouldBe("the charge on demo-declined is refused")


def lose_an_answer(
    client: billcore.Client,
    control: Control,
    subscription: billcore.Subscription,
    product: billcore.Product,
    last_known: billcore.Order,
) -> billcore.Order:
    step(7, "Lose the answer to a charge")
    control.fault("reset_after", method="POST", path="/subscription/*/order")
    try:
        client.subscriptions.charge(subscription.id, product_id=product.id, amount=2700)
    except billcore.OutcomeUnknownError as error:
        say(f"OutcomeUnknownError: {error.method} {error.path} was sent, but not answered")
    else:
        raise NotAsItShouldBe("a connection reset instead of an answer leaves the outcome unknown")
    # Look for the order before a new charge. Orders are listed latest first, so a new order comes before the last one
    # that is already known.
    orders = client.subscriptions.orders(subscription.id, product_id=product.id)
    newer = itertools.takewhile(lambda order: order.id != last_known.id, orders)
    found = [order for order in newer if order.total == 2700]
    expect(len(found) == 1, "the order list shows the charge once")
    say(f"the order list shows it: order {found[0].id}, {money(found[0].total, found[0].currency)}, {found[0].state}")
    expect(len(control.ledger("charge")) == 2, "the service made two charges in total: nothing was sent twice")
    return found[0]


def change_product(
    client: billcore.Client, subscription: billcore.Subscription, products: list[billcore.Product]
) -> None:
    step(8, "Change the product")
    monthly = (p for p in products if p.type == "subscription" and p.interval == "month")
    plan = next(
        (p for p in monthly if p.currency == subscription.currency and p.price_without_vat != subscription.price), None
    )
    if plan is None:
        raise NotAsItShouldBe("there is another monthly product")
    changed = client.subscriptions.change_product(subscription.id, product_id=plan.id)
    before, after = money(subscription.price, subscription.currency), money(changed.price, changed.currency)
    say(f"{plan.name}: {after} instead of {before}")
    expect(changed.price == plan.price_without_vat, "the subscription has the new product's price")


def renew(client: billcore.Client, control: Control, subscription: billcore.Subscription) -> None:
    step(9, "Renew")
    control.renew(subscription.id)
    renewed = client.subscriptions.get(subscription.id)
    if subscription.renews_at is None or renewed.renews_at is None:
        raise NotAsItShouldBe("an active subscription says when it renews")
    say(f"renews at {renewed.renews_at:%Y-%m-%d} instead of {subscription.renews_at:%Y-%m-%d}")
    expect(renewed.renews_at > subscription.renews_at, "renews_at has moved forward")


def cancel(client: billcore.Client, subscription: billcore.Subscription) -> None:
    step(10, "Cancel")
    cancelled = client.subscriptions.cancel(subscription.id)
    if cancelled.ends_at is None:
        raise NotAsItShouldBe("a cancelled subscription says when it ends")
    say(f"{cancelled.status}; paid, so usable until {cancelled.ends_at:%Y-%m-%d}")
    expect(cancelled.status == "cancelled", "the subscription is cancelled")
    expect(cancelled.usable_at(datetime.now(UTC)), "what has been paid for can still be used")


EXPECTED = {
    "order.confirmed": 3,  # one event for each of the two charges, one for the renewal
    "order.paid": 3,
    "subscription.updated": 1,
    "subscription.renewed": 1,
    "subscription.cancelled": 1,
}


def receive_events(inbox: Inbox, subscription: billcore.Subscription, charged: list[billcore.Order]) -> None:
    step(11, "Receive the events")
    inbox.wait_until(lambda: len(inbox.events) >= sum(EXPECTED.values()) and len(inbox.duplicates) >= 1)
    for event in inbox.events:
        say(f"{event.id} {event.name}")
    names = Counter(event.name for event in inbox.events)
    expect(names == EXPECTED, "each event has arrived, and has been kept once")
    # An id may be an integer in an event and a string in a REST answer, so compare ids as text.
    orders = [event.data for event in inbox.events if event.name == "order.paid"]
    paid = {str(order.id): order.total for order in orders if isinstance(order, billcore.Order)}
    for order in charged:
        expect(paid.get(str(order.id)) == order.total, "each charge has its order.paid, with its total")
    ended = next(event.data for event in inbox.events if event.name == "subscription.cancelled")
    is_ours = isinstance(ended, billcore.Subscription) and str(ended.id) == str(subscription.id)
    expect(is_ours and ended["status"] == "cancelled", "the right one was cancelled")
    expect([event.id for event in inbox.duplicates] == [inbox.events[0].id], "only the first event was redelivered")
    say(f"all verified; {inbox.duplicates[0].id} was answered 500, redelivered, and dropped")


def refuse_a_forgery(inbox: Inbox, port: int) -> None:
    step(12, "Refuse a forged event")
    body = inbox.events[0].raw
    headers = {
        "Content-Type": "application/json",
        "Service-Signature": webhooks.sign(body, "a guess of thirty-two characters"),
    }
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("POST", "/webhooks", body, headers)
    status = connection.getresponse().status
    connection.close()
    say(f"answered {status}: {', '.join(inbox.refused)}")
    expect(status == 401 and inbox.refused == ["mismatch"], "a wrong signature is refused")


def tell() -> None:
    control_url = os.environ.get("BILLCORE_SANDBOX_CONTROL", "")
    expect(control_url != "", "BILLCORE_SANDBOX_CONTROL is set")
    control = Control(control_url)
    control.reset()
    inbox = Inbox()
    with billcore.Client() as client, Listener(inbox.receive) as listener:
        products = list_products(client)
        one_time = next(product for product in products if product.type == "one_time")
        subscription = find_by_reference(client)
        read_orders(client, subscription)
        inbox.trust(register_endpoint(client, control, listener.url))
        first = charge(client, subscription, one_time)
        be_refused(client, one_time)
        second = lose_an_answer(client, control, subscription, one_time, first)
        change_product(client, subscription, products)
        renew(client, control, subscription)
        cancel(client, subscription)
        receive_events(inbox, subscription, [first, second])
        refuse_a_forgery(inbox, listener.port)


def main() -> int:
    print("The life of a subscription, in Python", flush=True)
    try:
        tell()
    except NotAsItShouldBe as error:
        print(f"story: check failed: {error}", file=sys.stderr)
        return 1
    except (billcore.BillcoreError, ControlError, OSError, ValueError) as error:
        print(f"story: {type(error).__name__}: {error}", file=sys.stderr)
        return 1
    print("Done: every step succeeded.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
