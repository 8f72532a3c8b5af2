"""What all readings of a process share: how many lists they read at once, and the connections to a service.

An engine may run all partitions at once in one process, each with a reading of its own.
"""

from __future__ import annotations

import os
import queue
import threading
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakValueDictionary

from ._client import Client


class _Process:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.taken = 0
        self.waiting: deque[Turns] = deque()  # a reading once for each of its waiting threads
        self.limits: Counter[int] = Counter()  # the number of threads of the readings with this limit
        self.clients: WeakValueDictionary[tuple[str, str], Client] = WeakValueDictionary()

    def grant(self) -> None:
        while self.waiting and self.taken < max(self.limits, default=0):
            self.taken += 1
            self.waiting.popleft()._woken.put(True)


_process = _Process()


def _forget() -> None:
    global _process
    _process = _Process()


os.register_at_fork(after_in_child=_forget)  # the threads that have a turn do not run in the child


class Turns:
    """The turns of one reading. All readings have at most as many turns as the largest `at_once` of them.

    Turns are granted in the order of the requests for them.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._woken: queue.SimpleQueue[bool] = queue.SimpleQueue()

    @contextmanager
    def joined(self) -> Iterator[None]:
        """While a thread of the reading runs."""
        process = _process
        with process.lock:
            process.limits[self._at_once] += 1
            process.grant()
        try:
            yield
        finally:
            with process.lock:
                process.limits[self._at_once] -= 1
                process.limits += Counter()  # removes those that are 0

    @contextmanager
    def taken(self) -> Iterator[None]:
        """While the thread reads a list."""
        self._take()
        try:
            yield
        finally:
            self._give()

    @contextmanager
    def given(self) -> Iterator[None]:
        """While the thread, which has a turn, waits for its caller, or until it requests a page again."""
        self._give()
        try:
            yield
        finally:
            self._take()

    def _take(self) -> None:
        """Wait for a turn. After stop(), the thread has one at once."""
        process = _process
        with process.lock:
            process.waiting.append(self)
            process.grant()
        if not self._woken.get():
            with process.lock:
                if self in process.waiting:  # otherwise a turn was granted at the same time
                    process.waiting.remove(self)
                    process.taken += 1

    def _give(self) -> None:
        process = _process
        with process.lock:
            process.taken -= 1
            process.grant()

    def stop(self, threads: int) -> None:
        """Let the waiting threads, at most so many, continue. Takes no lock."""
        for _ in range(threads):
            self._woken.put(False)


def client(base_url: str) -> Client:
    """A client with the key of the environment, the same for all that use it at the same time. Do not close it."""
    process = _process
    name = (base_url, os.environ.get("BILLCORE_API_KEY", ""))
    with process.lock:
        found = process.clients.get(name)
        if found is None:
            found = process.clients[name] = Client(base_url=base_url)
        return found
