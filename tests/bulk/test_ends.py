"""How a reading ends: its threads end, and nothing waits for a request in flight."""

from __future__ import annotations

import os
import select
import signal
import subprocess

import pytest

from billcore import bulk
from support.waiting import GENEROUS, LATE, until

from .support import LONGER, Scene, child, one_row_at_a_time, threads

BEGIN = """
import os, signal, sys
import billcore
from billcore import bulk
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores SIGINT
bulk.ROWS = 1
partition, = bulk.plan(billcore.Client(), 1)
reader = bulk.read(partition)
assert next(reader)[0] == "reads"
print("begun", flush=True)
"""


def started(scene: Scene, code: str) -> subprocess.Popen[str]:
    """A process that has begun a reading, and runs the code."""
    account = scene.account
    process = child(BEGIN + code, BILLCORE_BASE_URL=account.base_url, BILLCORE_API_KEY=account.api_key)
    expect_line(process, "begun")
    return process


def expect_line(process: subprocess.Popen[str], line: str) -> None:
    """Waits for a line of the process, and reads no byte after it: communicate() would not return it."""
    assert process.stdout is not None
    found, pipe = b"", process.stdout.fileno()
    while not found.endswith(b"\n"):
        assert select.select([pipe], [], [], GENEROUS)[0], f"{line} is not printed"
        if not (byte := os.read(pipe, 1)):
            break
        found += byte
    assert found.decode() == f"{line}\n", process.communicate()


def outcome(process: subprocess.Popen[str], timeout: float = LATE) -> tuple[int, str, str]:
    """The exit status, stdout and stderr of a process that must not wait for a request in flight."""
    try:
        out, err = process.communicate(timeout=timeout)
    finally:
        process.kill()
    return process.returncode, out, err


def test_a_reader_that_is_dropped(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    one_row_at_a_time(monkeypatch)
    partition = scene.plan()
    unused = bulk.read(partition, client=scene.client)
    assert threads() == [], "a reading starts with its first batch"
    reader = bulk.read(partition, client=scene.client)
    next(reader)
    until(lambda: scene.asked() == len(partition.ids))
    assert threads() != [], "more results than wait for the caller"
    del reader
    until(lambda: not threads())
    unused.close()
    assert list(unused) == []
    assert scene.client.products.list().first() is not None


def test_a_slow_caller_stops_the_requests(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    one_row_at_a_time(monkeypatch)
    scene.grow(scene.many, 40)
    partition = scene.plan()
    before = scene.asked()
    with scene.client_with(concurrency=1) as client:
        reader, closed = (bulk.read(partition, client=client, lists_at_once=1) for _ in range(2))
        next(reader)
        assert max(scene.asked() - before for _ in range(50)) <= 8, "of 26 pages"
        next(closed)
        assert max(scene.asked() - before for _ in range(50)) <= 16
        closed.close()
        until(lambda: len(threads()) == 1)
        assert scene.asked() - before <= 16, "no request follows"
        assert sum(batch.num_rows for relation, batch in reader if relation == "orders") == 4065


def test_a_pause_ends_with_the_reading(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    one_row_at_a_time(monkeypatch)
    scene.control.fault("status", operation="orders", status=429, retry_after=1000, times=100)
    partition = scene.plan()
    reader = bulk.read(partition, client=scene.client, patience=10_000)
    next(reader)
    until(lambda: scene.asked() == len(partition.ids))
    reader.close()
    until(lambda: not threads())
    assert scene.asked() == len(partition.ids), "no request follows"


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("", 0),
        ("sys.exit(3)", 3),
        ("for step in reader: sys.exit(3)", 3),
        ("class Held: pass\nheld = Held()\nheld.held = held, reader", 0),
        ("reader.close()", 0),
    ],
)
def test_an_interpreter_that_exits(scene: Scene, code: str, status: int) -> None:
    scene.control.fault("delay", operation="orders", delay=LONGER, nth=3, times=100, optional=True)
    assert outcome(started(scene, code)) == (status, "", "")


def test_ctrl_c(scene: Scene) -> None:
    scene.control.fault("delay", operation="orders", delay=LONGER, times=100)
    code = """
try:
    print("reading", flush=True)
    list(reader)
except KeyboardInterrupt:
    print("interrupted")
"""
    process = started(scene, code)
    expect_line(process, "reading")
    until(lambda: scene.asked() >= 6)
    process.send_signal(signal.SIGINT)
    assert outcome(process) == (0, "interrupted\n", "")


def test_a_reader_is_refused_in_a_forked_child(scene: Scene) -> None:
    code = """
child = os.fork()
if child == 0:
    signal.alarm(60)
    try:
        next(reader)
    except billcore.ConfigError as error:
        print(error)
    del reader
    print(sum(batch.num_rows for relation, batch in bulk.read(partition) if relation == "orders"))
    sys.exit(5)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(sum(batch.num_rows for relation, batch in reader if relation == "orders"))
"""
    count = sum(map(len, scene.stored().values()))
    status, out, err = outcome(started(scene, code), timeout=2 * LONGER)
    assert (status, err) == (0, "")
    message = "the process was forked while it read the partition: call read() in the child process"
    assert out.splitlines() == [message, str(count), "5", str(count)]
