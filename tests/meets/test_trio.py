"""A program of trio: Client works in trio's threads, AsyncClient only with asyncio."""

from __future__ import annotations

from functools import partial

import pytest
import trio

import billcore
from billcore.testing import SandboxAccount


async def charge(client: billcore.Client, subscription: str, product: int, cents: int) -> billcore.Order:
    call = partial(client.subscriptions.charge, subscription, product_id=product, amount=cents, timeout=20)
    order: billcore.Order = await trio.to_thread.run_sync(call)
    return order


class Begun(billcore.Hooks):
    """Collects a number of each attempt, from any thread."""

    def __init__(self) -> None:
        self.attempts: list[int] = []

    def on_request(self, attempt: billcore.Attempt, /) -> None:
        self.attempts.append(attempt.attempt)


def test_a_cancelled_scope_waits_for_its_charges(billcore_sandbox: SandboxAccount) -> None:
    ids, control = billcore_sandbox.ids, billcore_sandbox.control
    subscription, product = ids["subscriptions"]["demo-active"], ids["products"]["one_time"]
    control.fault("delay", delay=0.5, operation="charge", times=5)
    begun, orders = Begun(), list[billcore.Order]()

    async def main() -> None:
        with billcore.Client(
            base_url=billcore_sandbox.base_url, api_key=billcore_sandbox.api_key, hooks=begun
        ) as client:

            async def keep(cents: int) -> None:
                orders.append(await charge(client, subscription, product, cents))

            async with trio.open_nursery() as nursery:
                for number in range(5):
                    nursery.start_soon(keep, 1500 + number)
                while len(begun.attempts) < 5:
                    await trio.sleep(0.005)
                nursery.cancel_scope.cancel()

    trio.run(main)
    assert sorted(each.total for each in orders) == [1500, 1501, 1502, 1503, 1504]
    assert {each.id for each in orders} == {each["order_id"] for each in control.ledger("charge")}


def test_the_asynchronous_client_says_that_it_needs_asyncio(billcore_sandbox: SandboxAccount) -> None:
    async def main() -> None:
        client = billcore.AsyncClient(base_url=billcore_sandbox.base_url, api_key=billcore_sandbox.api_key)
        await client.products.get(101)

    with pytest.raises(RuntimeError, match="an AsyncClient works with asyncio only"):
        trio.run(main)
    assert billcore_sandbox.control.requests() == []
