"""Delivery of events: real HTTP POSTs, at least once, retried until a 2xx or until the schedule is used up.

One task per endpoint, so that a slow or broken receiver delays nobody else. An endpoint's attempts are made one at a
time over one kept connection, first attempts in the order of the events. A retry is a job on the account's clock and
does not hold up later events.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import ssl
from collections import Counter, deque
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

import h11

from billcore_sandbox import clock, events
from billcore_sandbox.options import is_loopback

if TYPE_CHECKING:
    from billcore_sandbox.store import Account
    from billcore_sandbox.world import World

_log = logging.getLogger("billcore_sandbox")
_MAX_ANSWER = 64 << 10


class Dispatcher:
    """Starts, retries and records deliveries; the store's rows are the truth, the queues only hold what is due."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._queues: dict[int, _Queue] = {}
        self._due: Counter[int] = Counter()  # attempts that are due, by account
        self._progress = asyncio.Event()
        self._told: set[str] = set()

    def may_reach(self, url: str) -> bool:
        """False for a URL whose deliveries are held back: not loopback, and not allowed by an option."""
        options, host = self._world.options, urlsplit(url).hostname or ""
        reaches = options.deliver_anywhere or is_loopback(host) or any(_fits(host, each) for each in options.deliver_to)
        if not reaches and host not in self._told:
            self._told.add(host)
            _log.warning("deliveries to %s are held back: allow them with --deliver-to %s", host, host)
        return reaches

    def start(self, seqs: list[int]) -> None:
        """Attempt deliveries that have been committed."""
        for seq in seqs:
            row = self._world.store.one("SELECT endpoint_id, account FROM deliveries WHERE seq = ?", seq)
            if row is None:
                continue
            queue = self._queues.get(row["endpoint_id"])
            if queue is None:
                queue = self._queues[row["endpoint_id"]] = _Queue(self, self._world)
            self._due[row["account"]] += 1
            queue.put(row["account"], seq)

    def done(self, account: int) -> None:
        """An attempt has ended."""
        self._due[account] -= 1
        self._progress.set()

    def resume(self) -> None:
        """Attempt what a former process left pending in the database file, except retries, which are jobs."""
        waiting = "SELECT subject FROM jobs WHERE kind = 'delivery'"
        sql = f"SELECT seq FROM deliveries WHERE state = 'pending' AND seq NOT IN ({waiting}) ORDER BY seq"
        self.start([row["seq"] for row in self._world.store.all(sql)])

    async def settle(self, account: Account) -> int:
        """Wait until no attempt of the account is due, but not longer than a time-out without any progress.

        Returns how many are still due: a receiver that cannot answer, because its own thread is the caller's, must not
        hold up the caller.
        """
        while self._due[account.number] > 0:
            self._progress.clear()
            try:
                await asyncio.wait_for(self._progress.wait(), self._world.options.delivery_timeout)
            except TimeoutError:
                break
        return self._due[account.number]

    def drop(self) -> None:
        """Forget all attempts; nothing is written about them any more."""
        for queue in self._queues.values():
            queue.stop()
        self._queues.clear()
        self._due.clear()
        self._progress.set()


def _fits(host: str, allowed: str) -> bool:
    if host.lower() == allowed.lower():
        return True
    try:
        return ipaddress.ip_address(host) in ipaddress.ip_network(allowed, strict=False)
    except ValueError:
        return False


class _Queue:
    """The attempts of one endpoint that are due, in order."""

    def __init__(self, dispatcher: Dispatcher, world: World) -> None:
        self._dispatcher = dispatcher
        self._world = world
        self._due: deque[tuple[int, int]] = deque()
        self._changed = asyncio.Event()
        self._connection = Connection()
        self._task = asyncio.get_running_loop().create_task(self._run())

    def put(self, account: int, seq: int) -> None:
        self._due.append((account, seq))
        self._changed.set()

    def stop(self) -> None:
        self._task.cancel()

    async def _run(self) -> None:
        try:
            while True:
                self._changed.clear()
                if not self._due:
                    await self._changed.wait()
                    continue
                account, seq = self._due.popleft()
                await self._attempt(seq)
                self._dispatcher.done(account)
        finally:
            self._connection.close()

    async def _attempt(self, seq: int) -> None:
        store, options = self._world.store, self._world.options
        row = store.one("SELECT * FROM deliveries WHERE seq = ?", seq)
        account = None if row is None else store.find_number(row["account"])
        if row is None or account is None or row["state"] != "pending":
            return
        attempt: dict[str, Any] = {"at": clock.iso_precise(account.clock.now()), "status": None, "error": None}
        headers = (
            ("User-Agent", events.USER_AGENT),
            ("Content-Type", "application/json"),
            (options.signature_header, row["signature"]),
        )
        try:
            async with asyncio.timeout(options.delivery_timeout):
                attempt["status"] = await self._connection.post(row["url"], headers, row["body"])
        except TimeoutError:
            attempt["error"] = f"no answer within {options.delivery_timeout:g} s"
        except Exception as error:  # whatever a receiver does, the other deliveries go on
            attempt["error"] = str(error) or type(error).__name__
        if attempt["error"] is not None:
            self._connection.close()
        attempts = [*json.loads(row["attempts"]), attempt]
        state = "pending"
        if attempt["status"] is not None and 200 <= attempt["status"] < 300:
            state = "delivered"
        elif len(attempts) > len(options.retry_schedule):
            state = "failed"
        if store.find_number(account.number) is None:
            return  # disposed meanwhile
        with self._world.effect(account) as work:
            if state == "pending":
                wait = timedelta(seconds=options.retry_schedule[len(attempts) - 1])
                work.schedule("delivery", seq, "deliver", work.now + wait)
            work.db.execute(
                "UPDATE deliveries SET state = ?, attempts = ? WHERE seq = ? AND state = 'pending'",
                (state, json.dumps(attempts), seq),
            )


class Connection:
    """A connection to a receiver that stays open between POSTs, as far as the receiver allows."""

    def __init__(self) -> None:
        self._origin: tuple[str, str] = ("", "")
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._http = h11.Connection(h11.CLIENT)

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def post(self, url: str, headers: tuple[tuple[str, str], ...], body: bytes) -> int:
        """POST to `url`; returns the status of the answer. Raises OSError, EOFError or h11.ProtocolError."""
        parts = urlsplit(url)
        same = self._origin == (parts.scheme, parts.netloc)
        if self._streams is None or not same or self._streams[0].at_eof():
            await self._open(parts)
        return await self._exchange(parts, headers, body)

    async def _open(self, parts: SplitResult) -> None:
        self.close()
        secure = parts.scheme == "https"
        port = parts.port or (443 if secure else 80)
        context = ssl.create_default_context() if secure else None
        self._streams = await asyncio.open_connection(parts.hostname, port, ssl=context)
        self._origin = (parts.scheme, parts.netloc)
        self._http = h11.Connection(h11.CLIENT)

    async def _exchange(self, parts: SplitResult, headers: tuple[tuple[str, str], ...], body: bytes) -> int:
        assert self._streams is not None
        reader, writer = self._streams
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        fields = [("Host", parts.netloc.rpartition("@")[2]), *headers, ("Content-Length", str(len(body)))]
        request = self._http.send(h11.Request(method="POST", target=target, headers=fields)) or b""
        sent = self._http.send(h11.Data(data=body)) or b""
        writer.write(request + sent + (self._http.send(h11.EndOfMessage()) or b""))
        await writer.drain()
        status, size = 0, 0
        while True:
            event = self._http.next_event()
            if event is h11.NEED_DATA:
                data = await reader.read(_MAX_ANSWER)
                if not data and status == 0:
                    raise EOFError("the receiver closed the connection without an answer")
                self._http.receive_data(data)
            elif isinstance(event, h11.Response):
                status = event.status_code
            elif isinstance(event, h11.Data):
                size += len(event.data)
            if isinstance(event, h11.EndOfMessage) or size > _MAX_ANSWER:
                break
        # The status is known. A connection is kept only if nothing is left on it.
        if self._http.our_state is h11.DONE and self._http.their_state is h11.DONE:
            self._http.start_next_cycle()
        else:
            self.close()
        return status
