"""A signal or a cancellation while a list is read does not lose an item."""

from __future__ import annotations

import signal
import time
from typing import Any

import pytest

from conformance.server import Reply, Request

from .interrupt_support import Interrupter
from .support import ORDER, page

LISTS = {
    "items": "one = iter(pager)\nlook = lambda: [next(one)]",
    "pages": "one = iter(pager.pages())\nlook = lambda: next(one).items",
    "batches": """
import pyarrow
one = pager.to_batches()
look = lambda: pyarrow.record_batch(next(one)).to_pylist()
""",
    "joined batches": """
import pyarrow
one = pager.to_batches(rows=5)
look = lambda: pyarrow.record_batch(next(one)).to_pylist()
""",
    "collect": "look = lambda: pager.collect(limit=1000) or next(iter(()))",
}
READ = """
pager = client.subscriptions.orders("s")
%s
got, interrupts = [], 0
while True:
    try:
        new = look()
    except KeyboardInterrupt as error:
        interrupts += 1
        assert told(error)["notes"] == [], told(error)
    except StopIteration:
        break
    else:
        got += [one["id"] for one in new]
say(got=got, interrupts=interrupts, verdict=str(pager.verdict))
"""


def read_three_pages(code: str) -> dict[str, Any]:
    """Interrupts the first request of each page; no item may be lost. Returns the last line that the program prints."""
    caller = Interrupter(code)
    asked: set[int] = set()

    def script(request: Request) -> Reply:
        number = int(request.target.split("page=")[1])
        if number not in asked:
            asked.add(number)
            caller.signal(signal.SIGINT)
            time.sleep(0.002)
        return page([{**ORDER, "id": f"{number}{letter}"} for letter in "ab"], number, 3)

    (line,) = caller.run(script)
    assert line["got"] == ["1a", "1b", "2a", "2b", "3a", "3b"]
    return line


@pytest.mark.parametrize("kind", LISTS)
def test_no_item_is_lost(kind: str) -> None:
    line = read_three_pages(READ % LISTS[kind])
    # If several signals arrive before the handler runs, Python runs the handler only once.
    assert 1 <= line["interrupts"] <= 3 and line["verdict"] == "complete"


def test_no_batch_of_a_stream_is_lost() -> None:
    code = """
import pyarrow
pager = client.subscriptions.orders("s")
got, interrupts = [], 0
while True:
    try:
        reader = pyarrow.RecordBatchReader.from_stream(pager.to_arrow(fields=["id"]))
        while True:
            got += reader.read_next_batch().to_pylist()
    except (KeyboardInterrupt, OSError, pyarrow.ArrowException) as error:
        try:
            time.sleep(0)
        except KeyboardInterrupt:
            pass
        interrupts += 1
    except StopIteration:
        break
say(got=[one["id"] for one in got], interrupts=interrupts)
"""
    assert read_three_pages(code)["interrupts"] >= 1


def test_an_interrupted_collect_leaves_the_list_to_who_reads_on() -> None:
    """Another thread that reads the list is refused until the interrupted collect() ends, then reads the rest."""
    code = """
import threading
pager = client.subscriptions.orders("s")
tried, got = threading.Event(), []
def other():
    while True:
        try:
            for one in pager:
                tried.set()
                got.append(one.id)
            return
        except InvalidArgumentError:
            tried.set()
            time.sleep(0.001)
def handler(number, frame):
    global thread
    thread = threading.Thread(target=other)
    thread.start()
    assert tried.wait(60)
    raise Alarm
signal.signal(signal.SIGINT, handler)
try:
    taken = [one.id for one in pager.collect()]
except Alarm:
    taken = []
thread.join()
say(got=got, taken=taken)
"""
    caller = Interrupter(code)
    asked: list[int] = []

    def script(request: Request) -> Reply:
        number = int(request.target.split("page=")[1])
        if number == 3 and not asked:
            asked.append(number)
            caller.signal(signal.SIGINT)
            time.sleep(0.05)
        return page([{**ORDER, "id": f"{number}{letter}"} for letter in "ab"], number, 30)

    (line,) = caller.run(script)
    whole = [f"{number}{letter}" for number in range(1, 31) for letter in "ab"]
    assert line["got"] == whole[-len(line["got"]) :] and len(line["got"]) >= 54
