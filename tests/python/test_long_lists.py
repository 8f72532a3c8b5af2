"""Lists that are larger than memory: only the pages in flight are kept, for any length of the list."""

from __future__ import annotations

import json
from typing import Any

import pytest

from conformance.server import Reply, Request, ScriptedServer, json_reply

from .support import ACCOUNT, API_KEY, ORDER, SANITIZED, measured_environment, number_of, page, run_python

pytestmark = pytest.mark.skipif(SANITIZED, reason="measures with the optimised modules")
MOST = 20 << 20  # bytes of memory above the level at the start
PLACE = b"0123456789"  # placeholder for the id of an order; every id has this length

READ = """
import json, sys, time
import billcore

url, key, quarter = sys.argv[1:]
marks, seen = [], 0

def peak():  # the value of getrusage() includes the parent's
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) * 1024

with billcore.Client(base_url=url, api_key=key, timeout=60) as client:
    pager = client.subscriptions.orders("s")
    pager.first()
    memory, begun = peak(), time.process_time()
    for order in pager:
        assert int(order.id) == seen
        seen += 1
        if seen % int(quarter) == 0:
            marks.append(time.process_time())

print(json.dumps({
    "seen": seen,
    "verdict": str(pager.verdict),
    "pages": pager.fetched_pages,
    "memory": peak() - memory,
    "seconds": [b - a for a, b in zip([begun, *marks], marks)],
}))
"""


def read(pages: int, per_page: int, metadata: int = 0) -> dict[str, Any]:
    """Reads a list in another process; each page is made on request."""
    order = {**ORDER, "id": PLACE.decode(), "metadata": {"long": "m" * metadata} if metadata else {}}
    before, behind = json_reply(order).body.split(PLACE)
    pagination = page([], 1, pages, pages * per_page).body.partition(b',"pagination":')[2]

    def script(request: Request) -> Reply:
        first = (number_of(request) - 1) * per_page
        items = (behind + b"," + before).join(b"%010d" % place for place in range(first, first + per_page))
        numbers = pagination.replace(b'"current_page":1,', b'"current_page":%d,' % number_of(request))
        return Reply(body=b'{"data":[%b%b%b],"pagination":%b' % (before, items, behind, numbers))

    with ScriptedServer(script) as server:
        arguments = (server.url + ACCOUNT, API_KEY, str(pages * per_page // 4))
        found: dict[str, Any] = json.loads(run_python(READ, *arguments, environment=measured_environment()))
    assert (found["seen"], found["verdict"], found["pages"]) == (pages * per_page, "complete", pages)
    return found


def test_hundreds_of_thousands_of_orders() -> None:
    found = read(3_000, 100)
    assert found["memory"] <= MOST
    # The time must grow linearly: the last quarter may take at most twice as long as the slowest other quarter. The
    # factor 2 allows for a busy machine.
    *before, last = found["seconds"]
    assert last <= 2 * max(before)


def test_pages_of_many_megabytes() -> None:
    """200 items with 64 KiB of metadata each: 13 MB per page. Only the pages in flight are in memory."""
    found = read(12, 200, 64 << 10)
    assert found["memory"] <= 10 * (200 * (64 << 10)) * 2.5, "eight in flight, one being read, with its document"
