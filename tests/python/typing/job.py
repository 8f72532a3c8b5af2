"""A nightly job over whole lists, blocking and with asyncio, as a user writes it; every type checker accepts it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from decimal import Decimal
from typing import assert_type

import billcore


def revenue(client: billcore.Client, subscription: str | int) -> int:
    states: list[billcore.OrderState] = ["paid"]
    pager = client.subscriptions.orders(subscription, state=states, per_page=200)
    assert_type(pager, billcore.Pager[billcore.Order])
    total = sum(order.total for order in pager)
    verdict = pager.verdict  # None until the list has been read to its end
    if verdict is not None and not verdict:
        assert_type(verdict.reason, billcore.VerdictReason | None)
        raise RuntimeError(f"a record may be missing: {verdict}")
    return total


def by_page(client: billcore.Client) -> Iterator[str]:
    for page in client.products.list(strict=True).pages():
        assert_type(page, billcore.Page[billcore.Product])
        assert_type(page.items, list[billcore.Product])
        assert_type(page.items[0].vat_rate, Decimal)
        for product in page.items:
            yield product.name
    for order in client.subscriptions.orders("s", state="paid", product_id=7):
        assert_type(order, billcore.Order)
    assert_type(client.products.list().collect(limit=5), list[billcore.Product])
    assert_type(client.products.list().total, int | None)
    assert_type(client.subscriptions.list(resume=client.subscriptions.list().state).fetched_pages, int)


def to_frame(client: billcore.Client) -> int:
    stream = client.products.list().to_arrow(fields=["id", "price"])
    assert_type(stream, billcore.ArrowStream)
    assert_type(stream.error, billcore.BillcoreError | None)
    return sum(batch.num_rows for batch in client.products.list().to_batches())


async def read(client: billcore.AsyncClient) -> AsyncIterator[billcore.Order]:
    async for subscription in client.subscriptions.list():
        assert_type(subscription, billcore.Subscription)
        async for order in client.subscriptions.orders(subscription.id):
            yield order
    async for page in client.products.list().pages():
        assert_type(page.items, list[billcore.Product])
    async for batch in client.products.list().to_batches(["id"]):
        assert_type(batch, billcore.ArrowBatch)


async def main() -> None:
    async with billcore.AsyncClient(concurrency=4) as client:
        first = await client.subscriptions.list().first()
        assert_type(first, billcore.Subscription | None)
        subscription, order = await asyncio.gather(client.subscriptions.get(1), client.orders.get("o"))
        assert_type(subscription, billcore.Subscription)
        assert_type(order, billcore.Order)
        task = asyncio.create_task(client.products.get(5))
        assert_type(await task, billcore.Product)
        assert_type(await client.products.update(5, price=2), billcore.Product)
        try:
            await client.subscriptions.charge(7, product_id=1, amount=2)
        except billcore.OutcomeUnknownError as error:
            assert_type(await client.subscriptions.find_charges(error), list[billcore.Order])
        async for order in read(client):
            print(order.id)
            async with asyncio.timeout(1):
                await client.orders.get(order.id)


def tests() -> None:
    assert_type(billcore.testing.event("order.paid", total=1), tuple[bytes, str])
    assert_type(billcore.testing.order(total=1, reference_id=None), billcore.Order)
    assert_type(list(billcore.testing.page([billcore.testing.product()])), list[billcore.Product])
    assert_type(billcore.otel.OpenTelemetryHooks(), billcore.otel.OpenTelemetryHooks)
    with billcore.testing.Sandbox() as sandbox:
        client = billcore.Client(base_url=sandbox.base_url, api_key=sandbox.api_key)
        print(revenue(client, 480001), list(by_page(client)), to_frame(client))


if __name__ == "__main__":
    asyncio.run(main())
