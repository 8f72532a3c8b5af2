"""Measures how long AsyncClient blocks its event loop while answers arrive.

    python -m tests.bench.loop_blocking [--rounds 30] [--loop asyncio|uvloop]

nginx on loopback sends one answer at a time, or sixteen at once. A callback that runs in every iteration of the loop
records the longest iteration of each round: in wall time, and in processor time of the thread, which other programs
do not affect. The output has the medians over the rounds, in milliseconds.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import billcore

from .rest_server import TRANSPORTS, Authority, RestServer

SIZES = {"1 KB": 1_000, "100 KB": 100_000, "1 MB": 1_000_000, "3.9 MB": 3_900_000}
TARGET = 5.0  # ms; upper limit for the longest iteration of the loop with answers under 4 MB


def answer(size: int, shape: str) -> bytes:
    """Returns an answer of `size` bytes with a subscription. The shape `numbers` fills its metadata with numbers, the
    shape `texts` with typical entries."""
    fields: dict[str, Any] = {"id": "sub_1001", "status": "active", "currency": "NOK", "price": 1500}
    room = size - len(json.dumps({"data": {**fields, "metadata": []}}, separators=(",", ":")))
    if shape == "numbers":
        metadata: list[Any] = [7] * (room // 2)
    else:
        note = "blue seats for the night train to Bergen with a window and one quiet table"
        metadata = [{"key": "seats", "note": note}] * (room // (len(note) + 26))
    return json.dumps({"data": {**fields, "metadata": metadata}}, separators=(",", ":")).encode()


class Heartbeat:
    """A callback that runs in every iteration of the event loop and records the longest iteration."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._stopped = False
        self.reset()
        self._beat()

    def reset(self) -> None:
        self.clock = self.processor = 0.0
        self._last = time.perf_counter(), time.thread_time()

    def stop(self) -> None:
        self._stopped = True

    def _beat(self) -> None:
        now = time.perf_counter(), time.thread_time()
        self.clock = max(self.clock, now[0] - self._last[0])
        self.processor = max(self.processor, now[1] - self._last[1])
        self._last = now
        if not self._stopped:
            self._loop.call_soon(self._beat)


async def measure(base_url: str, bundle: Path, rounds: int, at_once: int) -> tuple[float, float]:
    async with billcore.AsyncClient(base_url=base_url, api_key="key_bench", ca_bundle=bundle) as client:

        async def get() -> None:
            assert (await client.subscriptions.get("sub_1001")).price == 1500

        await asyncio.gather(*(get() for _ in range(at_once)))
        heartbeat = Heartbeat(asyncio.get_running_loop())
        clock, processor = [], []
        for _ in range(rounds):
            await asyncio.sleep(0)
            heartbeat.reset()
            await asyncio.gather(*(get() for _ in range(at_once)))
            clock.append(heartbeat.clock * 1000)
            processor.append(heartbeat.processor * 1000)
        heartbeat.stop()
    return statistics.median(clock), statistics.median(processor)


def runner(name: str) -> Callable[..., Any]:
    if name == "asyncio":
        return asyncio.run
    import uvloop

    return uvloop.run


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--loop", choices=["asyncio", "uvloop"], default="asyncio")
    options = parser.parse_args()
    run = runner(options.loop)
    print(
        f"{options.loop}; the longest turn of the loop: median of {options.rounds} rounds, in ms, clock and processor"
    )
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        authority = Authority(Path(folder))
        for shape in ("texts", "numbers"):
            for name, size in SIZES.items():
                with RestServer(Path(folder) / f"{shape}-{size}", authority, answer(size, shape)) as nginx:
                    for transport, title in TRANSPORTS.items():
                        for at_once in (1, 16):
                            url = nginx.base_urls[transport]
                            clock, processor = run(measure(url, authority.bundle, options.rounds, at_once))
                            missed += clock > TARGET
                            print(f"{shape:8} {name:>7} {at_once:3} at once, {title:15} {clock:8.2f} {processor:8.2f}")
                            sys.stdout.flush()
    print(f"over {TARGET:.0f} ms by the clock: {missed}")


if __name__ == "__main__":
    main()
