import asyncio
import sys

import billcore


async def main() -> None:
    async with billcore.AsyncClient() as client:  # uses BILLCORE_BASE_URL and BILLCORE_API_KEY
        active = [one async for one in client.subscriptions.list() if one.status == "active"]
        firsts = await asyncio.gather(*(client.subscriptions.orders(one.id).first() for one in active[:50]))
        print(f"{len(active)} active, {sum(order is not None for order in firsts)} of the first 50 have orders")


try:
    asyncio.run(main())
except billcore.BillcoreError as error:
    sys.exit(str(error))
