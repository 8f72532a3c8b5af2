"""Runs the operations in Python while Callgrind counts instructions: python_rows.py FOLDER

FOLDER contains the files that native.cpp reads. LD_PRELOAD must name the library cost-peer. Prints how often each
operation was performed.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import sys
from collections.abc import Callable
from pathlib import Path

from billcore import AsyncClient, Client, webhooks

PAGES = 20
ORDERS = PAGES * 100


def main() -> None:
    folder = Path(sys.argv[1])
    peer = ctypes.CDLL(None)
    port = peer.cost_listen(str(folder / "answers").encode())

    def counted(name: str, operations: int, run: Callable[[], bool]) -> None:
        good = run()  # the first run is not counted, because it does one-time work
        gc.collect()
        peer.cost_begin()
        good = run() and good
        peer.cost_end(f"Python {name}".encode())
        if not good:
            raise SystemExit(f"{name} read something else")
        print(f"Python {name} {operations}")

    delivery = folder / "900"
    verifier = webhooks.Verifier((delivery / "secret").read_text("ascii"))
    body, signature = (delivery / "body").read_bytes(), (delivery / "signature").read_text("ascii")

    def unwrap() -> bool:
        for _ in range(200):
            event = verifier.unwrap(body, signature)
            good = bool(event.id and event.name and getattr(event.data, "status", ""))
        return good

    counted("unwrap", 200, unwrap)
    base_url, api_key = f"http://127.0.0.1:{port}/acct", "key_cost_0123456789"
    with Client(base_url=base_url, api_key=api_key) as client:

        def get() -> bool:
            for _ in range(50):
                one = client.subscriptions.get("sub_1001")
                good = bool(one.id and one.status) and one.reference_id is not None
            return good

        def orders() -> bool:
            listed = client.subscriptions.orders(f"sub_{PAGES}")
            read = sum(bool(one.id and one.total_with_vat and one.state) for one in listed)
            return read == ORDERS

        counted("get", 50, get)
        counted("for", ORDERS, orders)

    with asyncio.Runner() as runner:
        asynchronous = AsyncClient(base_url=base_url, api_key=api_key)

        async def await_gets() -> bool:
            for _ in range(50):
                one = await asynchronous.subscriptions.get("sub_1001")
                good = bool(one.id and one.status) and one.reference_id is not None
            return good

        async def async_for() -> bool:
            read = 0
            async for one in asynchronous.subscriptions.orders(f"sub_{PAGES}"):
                read += bool(one.id and one.total_with_vat and one.state)
            return read == ORDERS

        counted("await get", 50, lambda: runner.run(await_gets()))
        counted("async for", ORDERS, lambda: runner.run(async_for()))
        runner.run(asynchronous.close())


if __name__ == "__main__":
    main()
