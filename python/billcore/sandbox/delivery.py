"""Delivery of events: real HTTP POSTs, at least once, retried until a 2xx or until the schedule is used up.

One task per endpoint, so that a slow or broken receiver delays nobody else. An endpoint's deliveries are attempted one
at a time, first attempts in the order of the events; a retry waits aside and lets the others pass.
"""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import json
import ssl
from typing import Any
from urllib.parse import urlsplit

from billcore.sandbox import clock, events
from billcore.sandbox.options import Options, is_loopback
from billcore.sandbox.store import Store

_MAX_ANSWER = 64 << 10


class Dispatcher:
    """Starts, retries and records deliveries; the store's rows are the truth, the queues only say when."""

    def __init__(self, options: Options, store: Store) -> None:
        self._options = options
        self._store = store
        self._queues: dict[int, _Queue] = {}

    def may_reach(self, url: str) -> bool:
        """False for a URL whose deliveries are held back: not loopback, and nobody allowed more."""
        return self._options.deliver_anywhere or is_loopback(urlsplit(url).hostname or "")

    def start(self, seqs: list[int]) -> None:
        """Queue deliveries that have been committed."""
        for seq in seqs:
            row = self._store.one("SELECT endpoint_id FROM deliveries WHERE seq = ?", seq)
            if row is not None:
                queue = self._queues.get(row["endpoint_id"])
                if queue is None:
                    queue = self._queues[row["endpoint_id"]] = _Queue(self._options, self._store)
                queue.put(0.0, seq)

    def resume(self) -> None:
        """Queue what a former process left pending in the database file."""
        self.start([row["seq"] for row in self._store.all("SELECT seq FROM deliveries WHERE state = 'pending'")])

    def drop(self) -> None:
        """Forget everything under way; nothing is written about it any more."""
        for queue in self._queues.values():
            queue.stop()
        self._queues.clear()


class _Queue:
    """The deliveries of one endpoint, ordered by when they are due."""

    def __init__(self, options: Options, store: Store) -> None:
        self._options = options
        self._store = store
        self._due: list[tuple[float, int]] = []
        self._changed = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._task = self._loop.create_task(self._run())

    def put(self, wait: float, seq: int) -> None:
        heapq.heappush(self._due, (self._loop.time() + wait, seq))
        self._changed.set()

    def stop(self) -> None:
        self._task.cancel()

    async def _run(self) -> None:
        while True:
            self._changed.clear()
            wait = self._due[0][0] - self._loop.time() if self._due else None
            if wait is None or wait > 0:
                try:
                    await asyncio.wait_for(self._changed.wait(), wait)
                except TimeoutError:
                    continue
                continue
            await self._attempt(heapq.heappop(self._due)[1])

    async def _attempt(self, seq: int) -> None:
        row = self._store.one("SELECT * FROM deliveries WHERE seq = ?", seq)
        if row is None or row["state"] != "pending":
            return
        attempt: dict[str, Any] = {"at": clock.iso_precise(clock.now()), "status": None, "error": None}
        try:
            async with asyncio.timeout(self._options.delivery_timeout):
                attempt["status"] = await post(row["url"], row["body"], row["signature"])
        except TimeoutError:
            attempt["error"] = f"no answer within {self._options.delivery_timeout:g} s"
        except Exception as error:  # whatever a receiver does, the other deliveries go on
            attempt["error"] = str(error) or type(error).__name__
        attempts = [*json.loads(row["attempts"]), attempt]
        state = "pending"
        if attempt["status"] is not None and 200 <= attempt["status"] < 300:
            state = "delivered"
        elif len(attempts) > len(self._options.retry_schedule):
            state = "failed"
        else:
            self.put(self._options.retry_schedule[len(attempts) - 1], seq)
        self._store.db.execute(
            "UPDATE deliveries SET state = ?, attempts = ? WHERE seq = ?", (state, json.dumps(attempts), seq)
        )


async def post(url: str, body: bytes, signature: str) -> int:
    """POST one event; returns the status of the answer. Raises OSError, EOFError, ValueError, LimitOverrunError."""
    parts = urlsplit(url)
    secure = parts.scheme == "https"
    port = parts.port or (443 if secure else 80)
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    reader, writer = await asyncio.open_connection(
        parts.hostname, port, ssl=ssl.create_default_context() if secure else None, limit=_MAX_ANSWER
    )
    try:
        head = (
            f"POST {target} HTTP/1.1\r\n"
            f"Host: {parts.netloc.rpartition('@')[2]}\r\n"
            f"User-Agent: {events.USER_AGENT}\r\n"
            "Content-Type: application/json\r\n"
            f"{events.SIGNATURE_HEADER}: {signature}\r\n"
            f"Content-Length: {len(body)}\r\n"
            "Connection: close\r\n\r\n"
        )
        writer.write(head.encode("ascii") + body)
        await writer.drain()
        return await _read_status(reader)
    finally:
        writer.close()


async def _read_status(reader: asyncio.StreamReader) -> int:
    while True:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        version, _, rest = head[0].partition(" ")
        if not version.startswith("HTTP/1.") or not rest[:3].isdigit():
            raise ValueError("the answer is not HTTP/1")
        status = int(rest[:3])
        if status >= 200:
            break
    # The body is read so that closing does not reset a receiver that is still writing.
    for line in head[1:]:
        name, _, value = line.partition(":")
        if name.strip().lower() == "content-length" and value.strip().isdigit():
            with contextlib.suppress(asyncio.IncompleteReadError):
                await reader.readexactly(min(int(value), _MAX_ANSWER))
    return status
