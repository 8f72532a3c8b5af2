"""Mistakes that users make. Every type checker refuses the lines marked as wrong, and no other lines.

If the mark of a line names checkers, the other checkers accept the line. For example, ty does not check the keywords of
a TypedDict, and some checkers do not report a comparison of two literals that are never equal.
"""

from typing import assert_type

import billcore
from billcore import webhooks


def webhook(event: webhooks.AnyEvent, body: bytes) -> None:
    match event:
        case webhooks.OrderPayed(data=order):  # wrong
            pass
        case webhooks.OrderPaid(data=order):
            print(order.totl)  # wrong
            print(order.total + "DKK")  # wrong
        case webhooks.SubscriptionCancelled(data=subscription):
            print(subscription.ends_at.year)  # wrong
        case webhooks.ProductUpdated(data=product):
            assert_type(product, billcore.Order)  # wrong
        case _:
            pass
    webhooks.verify("text", "x", "y")  # wrong
    webhooks.unwrap(body, None)  # wrong
    webhooks.sign({"name": "test.hook"}, "s")  # wrong
    print(event.named)  # wrong


def route(event: webhooks.AnyEvent) -> None:
    if event.name == "order.payed":  # wrong: mypy pyright
        pass


class Mine(webhooks.OrderPaid):  # wrong
    pass


def write(client: billcore.Client) -> None:
    client.products.update(101, prise=5)  # wrong: mypy pyright pyrefly
    client.products.update(101, price="5")  # wrong
    typed: billcore.ProductWrite = {"prise": 5}  # wrong
    print(typed)
    client.subscriptions.charge(1, product_id=1, amount=1.5)  # wrong
    client.subscriptions.charge(1, product_id=1)  # wrong
    client.subscriptions.find_charges(7)  # wrong
    client.subscriptions.find_charges(7, since="now")  # wrong
    client.webhook_endpoints.create()  # wrong
    client.subscriptions.get("s").price = 5  # wrong


def read(client: billcore.Client) -> None:
    client.subscriptions.list(sort=True)  # wrong
    client.subscriptions.list(resume=b"p1.")  # wrong
    client.products.list().to_arrow(5)  # wrong
    for page in client.products.list().pages():
        print(page.item)  # wrong
    order: billcore.Order = client.subscriptions.get(1)  # wrong
    print(order)
    if (first := client.subscriptions.list().first()) is None:
        print(first.id)  # wrong
    if client.subscriptions.get(1).status == "canceled":  # wrong: mypy pyright
        pass
    match client.orders.get(1).state:
        case "payed":  # wrong: pyright
            pass
        case _:
            pass
    client.subscriptions.orders(1, state=["paid", "payed"])  # wrong
    client.orders.list()  # wrong
    len(client.products.list())  # wrong
    billcore.format_amount(18.75, "DKK")  # wrong
    client.products.get("101")  # wrong
    print(client.nothing)  # wrong
    billcore.Client(concurrency="8")  # wrong
    billcore.Client(hooks=5)  # wrong
    billcore.Client("http://127.0.0.1/a")  # wrong
    client.with_options(api_key="k")  # wrong


async def awaited(client: billcore.AsyncClient) -> None:
    print(client.subscriptions.get("s").price)  # wrong
    for _ in client.subscriptions.orders("s"):  # wrong
        pass
    with client:  # wrong
        pass
    await client.products.update(101, prise=5)  # wrong: mypy pyright pyrefly


def objects() -> None:
    billcore.testing.order(totl=5)  # wrong: mypy pyright pyrefly
    billcore.testing.subscription(status="alive")  # wrong
    billcore.testing.page(billcore.testing.order())  # wrong
