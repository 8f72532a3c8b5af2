"""Measures how long AsyncClient blocks its event loop while answers arrive.

    python -m tests.bench.loop_blocking [--rounds 30]

nginx on loopback sends one answer at a time, or sixteen at once. A callback that runs in every iteration of the loop
records the longest iteration of each round: in wall time, and in processor time of the thread, which other programs
do not affect. The output has the medians over the rounds, in milliseconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import billcore

from .rest_server import Authority, RestServer

SIZES = (1_000, 100_000, 1_000_000, 3_900_000)
TARGET = 5.0  # ms; upper limit for the longest iteration of the loop with answers under 4 MB


def answer(size: int, entry: Any) -> bytes:
    """Returns an answer of about `size` bytes with a subscription, whose metadata repeats the entry."""
    fields = {"id": "sub_1001", "status": "active", "currency": "NOK", "price": 1500}
    metadata = [entry] * (size // (len(json.dumps(entry, separators=(",", ":"))) + 1))
    return json.dumps({"data": {**fields, "metadata": metadata}}, separators=(",", ":")).encode()


async def measure(base_url: str, rounds: int, at_once: int) -> tuple[float, float]:
    async with billcore.AsyncClient(base_url=base_url, api_key="key_bench") as client:
        loop = asyncio.get_running_loop()
        longest, last = [0.0, 0.0], [0.0, 0.0]

        def beat() -> None:
            now = [time.perf_counter(), time.thread_time()]
            longest[:] = [max(most, (end - begin) * 1000) for most, begin, end in zip(longest, last, now, strict=True)]
            last[:] = now
            loop.call_soon(beat)

        async def get() -> None:
            assert (await client.subscriptions.get("sub_1001")).price == 1500

        beat()
        found = []
        for _ in range(rounds + 1):
            await asyncio.sleep(0)
            longest[:] = [0.0, 0.0]
            await asyncio.gather(*(get() for _ in range(at_once)))
            found.append((longest[0], longest[1]))
    clock, processor = zip(*found[1:], strict=True)  # the first round connects
    return statistics.median(clock), statistics.median(processor)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    print(f"the longest iteration of the loop: median of {rounds} rounds, in ms, clock and processor")
    missed = 0
    note = {"key": "seats", "note": "blue seats for the night train to Bergen with a window and one quiet table"}
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(Path(folder))
        # The client refuses an answer of over 1,048,576 values.
        for name, entry, sizes in (("texts", note, SIZES), ("numbers", 7, SIZES[:-1])):
            for size in sizes:
                with RestServer(Path(folder) / f"{name}-{size}", authority, answer(size, entry)) as nginx:
                    for at_once in (1, 16):
                        clock, processor = asyncio.run(measure(nginx.base_urls["plain"], rounds, at_once))
                        missed += clock > TARGET
                        print(f"{name:8} {size:>9,} {at_once:3} at once {clock:8.2f} {processor:8.2f}", flush=True)
    print(f"over {TARGET:.0f} ms by the clock: {missed}")


if __name__ == "__main__":
    main()
