"""Delivery of events: real HTTP POSTs, at least once, retried until a 2xx or until the schedule is used up.

One task per endpoint, so that a slow or broken receiver does not delay the others. Attempts for one endpoint are made
one at a time over a connection that is kept open, first attempts in the order of the events. A retry is a job on the
account's clock and does not hold up later events.
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
# Any client may meet this with a kept connection, so it does not use up the schedule of retries.
_LOST = "the receiver closed the kept connection without an answer, so the event is sent again at once"


class Dispatcher:
    """Starts and records deliveries. The store's rows are authoritative; the queues only hold attempts that are due."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._queues: dict[int, _Queue] = {}
        self._due: Counter[int] = Counter()  # attempts that are due, by account
        self._ended: Counter[int] = Counter()  # attempts that ended before their time-out, by account
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

    def done(self, account: int, *, timed_out: bool) -> None:
        """Count an attempt that has ended."""
        self._due[account] -= 1
        self._ended[account] += int(not timed_out)
        self._progress.set()

    def resume(self) -> None:
        """Attempt what a former process left pending in the database file, except retries, which are jobs."""
        waiting = "SELECT subject FROM jobs WHERE kind = 'delivery'"
        sql = f"SELECT seq FROM deliveries WHERE state = 'pending' AND seq NOT IN ({waiting}) ORDER BY seq"
        self.start([row["seq"] for row in self._world.store.all(sql)])

    async def settle(self, account: Account) -> int:
        """Wait until no attempt of the account is due, but not longer than one time-out without an answer.

        Returns how many deliveries are pending. The limit is for a receiver in the caller's thread, which cannot answer
        before the caller goes on.
        """
        number, ended, deadline = account.number, -1, 0.0
        while self._due[number] > 0:
            if self._ended[number] != ended:
                ended = self._ended[number]
                deadline = asyncio.get_running_loop().time() + self._world.options.delivery_timeout
            self._progress.clear()
            try:
                async with asyncio.timeout_at(deadline):
                    await self._progress.wait()
            except TimeoutError:
                break
        sql = "SELECT id FROM endpoints WHERE account = ?"
        sql = f"SELECT count(*) AS n FROM deliveries WHERE state = 'pending' AND endpoint_id IN ({sql})"
        row = self._world.store.one(sql, number)
        return 0 if row is None else int(row["n"])

    def forget(self, account: int, endpoints: list[int]) -> None:
        """Drop the attempts, and close the connections, of an account that is deleted."""
        for endpoint in endpoints:
            if (queue := self._queues.pop(endpoint, None)) is not None:
                queue.stop()
        self._due.pop(account, None)
        self._progress.set()

    def drop(self) -> None:
        """Drop all attempts, and record nothing about them."""
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
        self._late = f"no answer within {world.options.delivery_timeout:g} s"
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
                timed_out = await self._attempt(seq)
                self._dispatcher.done(account, timed_out=timed_out)
        finally:
            self._connection.close()

    async def _attempt(self, seq: int) -> bool:
        """Make an attempt, unless the delivery is gone or has ended; returns whether it timed out."""
        store, options = self._world.store, self._world.options
        row = store.one("SELECT * FROM deliveries WHERE seq = ?", seq)
        account = None if row is None else store.find_number(row["account"])
        if row is None or account is None or row["state"] != "pending":
            return False
        headers = (
            ("User-Agent", events.USER_AGENT),
            ("Content-Type", "application/json"),
            (options.signature_header, row["signature"]),
        )
        attempts = json.loads(row["attempts"])
        attempts.append(attempt := await self._post(account, row["url"], headers, row["body"]))
        if attempt["error"] == _LOST:
            attempts.append(attempt := await self._post(account, row["url"], headers, row["body"]))
        timed_out: bool = attempt["error"] == self._late
        retries = sum(each["error"] != _LOST for each in attempts) - 1
        state = "pending"
        if attempt["status"] is not None and 200 <= attempt["status"] < 300:
            state = "delivered"
        elif retries == len(options.retry_schedule):
            state = "failed"
        if store.find_number(account.number) is None:
            return timed_out  # the account was deleted meanwhile
        with self._world.effect(account) as work:
            if state == "pending":
                wait = timedelta(seconds=options.retry_schedule[retries])
                work.schedule("delivery", seq, "deliver", work.now + wait)
            work.db.execute(
                "UPDATE deliveries SET state = ?, attempts = ? WHERE seq = ? AND state = 'pending'",
                (state, json.dumps(attempts), seq),
            )
        return timed_out

    async def _post(
        self, account: Account, url: str, headers: tuple[tuple[str, str], ...], body: bytes
    ) -> dict[str, Any]:
        """POST once; returns the record of it."""
        attempt: dict[str, Any] = {"at": clock.iso_precise(account.clock.now()), "status": None, "error": None}
        try:
            async with asyncio.timeout(self._world.options.delivery_timeout):
                attempt["status"] = await self._connection.post(url, headers, body)
        except TimeoutError:
            attempt["error"] = self._late
        except Exception as error:  # whatever a receiver does, the other deliveries go on
            attempt["error"] = str(error) or type(error).__name__
        if attempt["error"] is not None:
            self._connection.close()
        return attempt


class Connection:
    """A connection to a receiver that stays open between POSTs if the receiver allows it."""

    def __init__(self) -> None:
        self._origin: tuple[str, str] = ("", "")
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._http = h11.Connection(h11.CLIENT)
        self._received = 0  # bytes of the latest answer

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def post(self, url: str, headers: tuple[tuple[str, str], ...], body: bytes) -> int:
        """POST to `url`; returns the status of the answer. Raises OSError, EOFError or h11.ProtocolError."""
        parts = urlsplit(url)
        kept = self._origin == (parts.scheme, parts.netloc) and await self._is_usable()
        if not kept:
            await self._open(parts)
        try:
            return await self._exchange(parts, headers, body)
        except (EOFError, ConnectionError) as error:
            if kept and self._received == 0:
                raise EOFError(_LOST) from error
            raise

    async def _is_usable(self) -> bool:
        """Whether the connection is open and silent: bytes that come before a request are not its answer."""
        if self._streams is None:
            return False
        try:
            async with asyncio.timeout(0):
                await self._streams[0].read(1)
        except TimeoutError:
            return not self._streams[0].at_eof()
        except OSError:
            pass
        return False

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
        self._received = 0
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
                self._received += len(data)
                self._http.receive_data(data)
            elif isinstance(event, h11.Response):
                status = event.status_code
            elif isinstance(event, h11.Data):
                size += len(event.data)
            if isinstance(event, h11.EndOfMessage) or size > _MAX_ANSWER:
                break
        # Keep the connection only if the whole answer has been read.
        done = self._http.our_state is h11.DONE and self._http.their_state is h11.DONE
        if done and self._http.trailing_data == (b"", False):
            self._http.start_next_cycle()
        else:
            self.close()
        return status
