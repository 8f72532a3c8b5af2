"""Lists that are larger than memory: only the pages in flight are kept, for any length of the list."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from .support import ACCOUNT, API_KEY, ORDER, SANITIZED, measured_environment, run_python

pytestmark = pytest.mark.skipif(SANITIZED, reason="measures with the optimised modules")
MOST = 20 << 20  # bytes of memory above the level at the start

READ = """
import asyncio, json, sys, time
import billcore

url, key, manner = sys.argv[1:]
options = dict(base_url=url, api_key=key, timeout=60)
marks, seen = [], 0

def peak():  # the value of getrusage() includes the parent's
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024

def take(order):
    global seen
    assert int(order.id) == seen
    seen += 1
    if seen % {quarter} == 0:
        marks.append(time.process_time())

def read():
    with billcore.Client(**options) as client:
        pager = client.subscriptions.orders("s")
        pager.first()
        start = peak(), time.process_time()
        if manner == "items":
            for order in pager:
                take(order)
        elif manner == "pages":
            for page in pager.pages():
                for order in page.items:
                    take(order)
        return pager, *start

async def aread():
    async with billcore.AsyncClient(**options) as client:
        pager = client.subscriptions.orders("s")
        await pager.first()
        start = peak(), time.process_time()
        async for order in pager:
            take(order)
        return pager, *start

pager, memory, begun = asyncio.run(aread()) if manner == "awaited" else read()
print(json.dumps({{
    "seen": seen,
    "verdict": str(pager.verdict),
    "pages": pager.fetched_pages,
    "memory": peak() - memory,
    "seconds": [b - a for a, b in zip([begun, *marks], marks)],
}}))
"""


@contextmanager
def long_list(pages: int, per_page: int, metadata: int = 0) -> Iterator[str]:
    """The base URL of a service whose lists have this many pages."""
    program = Path(__file__).with_name("long_list.py")
    command = [sys.executable, str(program), str(pages), str(per_page), str(metadata), json.dumps(ORDER)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}{ACCOUNT}"
        process.stdin.close()


def read(base_url: str, manner: str, items: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(
        run_python(READ.format(quarter=items // 4), base_url, API_KEY, manner, environment=measured_environment())
    )
    assert found["seen"] == items and found["verdict"] == "complete"
    return found


def test_three_hundred_thousand_orders() -> None:
    pages = 3_000
    with long_list(pages, 100) as base_url:
        found = read(base_url, "items", pages * 100)
    assert found["pages"] == pages
    assert found["memory"] <= MOST
    # The time must grow linearly: the last quarter may take at most twice as long as the slowest other quarter. The
    # factor 2 allows for a busy machine.
    *before, last = found["seconds"]
    assert last <= 2 * max(before)


@pytest.mark.parametrize("manner", ["pages", "awaited"])
def test_a_hundred_thousand_orders(manner: str) -> None:
    pages = 1_000
    with long_list(pages, 100) as base_url:
        assert read(base_url, manner, pages * 100)["memory"] <= MOST


def test_pages_of_many_megabytes() -> None:
    """200 items with 64 KiB of metadata each: 13 MB per page. Only the pages in flight are in memory."""
    with long_list(12, 200, 64 << 10) as base_url:
        found = read(base_url, "items", 2_400)
    assert found["memory"] <= 10 * (200 * (64 << 10)) * 2.5, "eight in flight, one being read, with its document"
