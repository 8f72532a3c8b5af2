"""Several readings in one process, as in an engine that runs all partitions at once: they share their connections."""

from __future__ import annotations

import gc
import os
import socket
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from urllib.parse import urlsplit

import pytest

import billcore
from billcore import bulk

from .support import Scene, found_in, no_pauses, one_row_at_a_time


class Busy:
    """Counts requests, and those that are in flight at once."""

    def __init__(self) -> None:
        self.all = self.most = self.now = 0
        self._lock = threading.Lock()

    def on_request(self, attempt: billcore.Attempt) -> None:
        with self._lock:
            self.all += 1
            self.now += 1
            self.most = max(self.most, self.now)

    def on_response(self, attempt: billcore.Attempt) -> None:
        with self._lock:
            self.now -= 1


def test_readings_together_have_the_largest_lists_at_once(scene: Scene) -> None:
    scene.control.fault("rows", operation="subscriptions.list", insert=60)
    scene.service.get("/subscriptions")
    partitions, stored = bulk.plan(scene.client, 6), scene.stored()
    scene.control.fault("delay", operation="orders", delay=0.02, times=1000, optional=True)
    busy = Busy()
    with scene.client_with(concurrency=1, hooks=busy) as client, ThreadPoolExecutor(6) as pool:

        def read(number: int) -> list[tuple[str, object]]:
            return list(bulk.read(partitions[number], client=client, lists_at_once=1 if number % 2 else 3))

        found = found_in(pool.map(read, range(6)))
    assert found.orders == stored and len(found.reads) == 67
    assert 1 < busy.most <= 3


def test_a_reading_does_not_wait_for_the_caller_of_another(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """The caller reads the first to its end only after the second, as a join of two tables may do."""
    one_row_at_a_time(monkeypatch)
    scene.grow(scene.many, 20)
    partition, stored = scene.plan(), scene.stored()
    first, second = (bulk.read(partition, client=scene.client, lists_at_once=1) for _ in range(2))
    begun = next(first)
    assert found_in([second]).orders == stored
    assert found_in([[begun], first]).orders == stored


def connections(scene: Scene) -> int:
    """How many connections to the sandbox this process has. /proc/net/tcp may leave some out while others end."""
    port, found = urlsplit(scene.account.base_url).port, 0
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # the descriptor of listdir() itself is closed, and not each socket is connected
            if stat.S_ISSOCK(os.stat(f"/proc/self/fd/{name}").st_mode):
                with socket.socket(fileno=os.dup(int(name))) as own:
                    found += own.family == socket.AF_INET and own.getpeername()[1] == port
    return found


def test_readings_without_a_client_share_its_connections(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    one_row_at_a_time(monkeypatch)
    gc.collect()  # the clients of earlier tests
    monkeypatch.setenv("BILLCORE_API_KEY", scene.account.api_key)
    monkeypatch.setenv("BILLCORE_BASE_URL", scene.account.base_url)
    partition, before = scene.plan(), connections(scene)
    readings = [bulk.read(partition, lists_at_once=1) for _ in range(4)]
    most = max(connections(scene) for steps in zip(*readings, strict=True) if steps)
    assert before < most <= before + 1


def test_a_url_where_nothing_answers(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    """The plan ends after ten seconds, not after its patience; each reading of the clock is a second later."""
    no_pauses(monkeypatch)
    seconds = iter(range(10**6))
    monkeypatch.setattr("billcore._clock.now", lambda: next(seconds))
    busy = Busy()
    closed = "http://127.0.0.1:1/v1/11111111-2222-4333-8444-555555555555"
    with scene.client_with(base_url=closed, hooks=busy) as client, pytest.raises(billcore.ConnectionError):
        bulk.plan(client, 1, patience=100)
    assert 2 < busy.all < 15


def test_a_service_that_has_answered_once_is_waited_for(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    no_pauses(monkeypatch)
    seconds = iter(range(10**6))
    monkeypatch.setattr("billcore._clock.now", lambda: next(seconds))
    scene.control.fault("status", operation="subscriptions.list", status=503)
    scene.control.fault("reset_before", operation="subscriptions.list", times=40)
    assert len(scene.plan().ids) == 6
