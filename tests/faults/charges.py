"""Charges a subscription many times at once, with asyncio, and prints what it knows: see test_killed.py."""

from __future__ import annotations

import asyncio
import sys

import billcore


async def main(base_url: str, api_key: str, subscription: str, product: str, count: str) -> None:
    async with billcore.AsyncClient(base_url=base_url, api_key=api_key) as client:

        async def charge(number: int) -> None:
            print("begin", number, flush=True)
            known = "made"
            try:
                await client.subscriptions.charge(subscription, product_id=int(product), amount=1000 + number)
            except billcore.BillcoreError as error:
                known = "unknown" if getattr(error, "outcome_unknown", True) else "not-made"
            print("end", number, known, flush=True)

        await asyncio.gather(*(charge(number) for number in range(int(count))))


asyncio.run(main(*sys.argv[1:]))
