"""All orders of all subscriptions as Arrow batches, in one process or on the workers of an engine.

    for partition in plan(client, 8):
        for relation, batch in read(partition):
            ...

plan() lists the subscriptions. read() reads the orders of a partition's subscriptions, several lists at once, and then
says of each list whether an order may have been missed. python/docs/bulk.md and bulk_engines.md have recipes for
DuckDB, polars, dlt and others. Service interface: Endpoints, Subscriptions; Pagination.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, TypeVar

from . import _client, _ends, _process
from ._client import ArrowBatch, Client, Pager
from ._ends import Begun, Read
from ._errors import (
    ApiError,
    BillcoreError,
    ConfigError,
    DecodeError,
    InvalidArgumentError,
    PaginationError,
    TransportError,
)
from ._patience import Patience, pause_after
from ._verify import verify

__all__ = ["Partition", "Read", "plan", "read", "verify"]

Resource = Literal["orders", "subscriptions", "products"]
Relation = Literal["orders", "subscriptions", "products", "reads"]
T = TypeVar("T")
Patiently = Callable[[Callable[[], Any]], Any]  # calls a function again after errors that may pass
# Called in a thread at the start of each list. Returns what is called with each page's records: True ends the list.
Follow = Callable[[Begun, Patiently], Callable[[ArrowBatch], bool]]
ROWS = 8192  # a batch of records has at least this many, and less than a page more
_RESULTS = 4  # so many batches and rows of `reads` wait for the caller
_SMALL = 128  # so many batches are joined to one: a batch of one row takes as much memory as one of 50
_READINGS = 3  # of the list of subscriptions, until no id may have been missed
_ODD = 1000  # subscriptions whose id cannot be read, in one reading
_FORMAT = 2  # of a pickled Partition


@dataclass(frozen=True)
class Partition:
    """Lists to read. Has no key, and can be pickled, for example for another machine."""

    base_url: str
    resource: Resource
    ids: tuple[str, ...] = field(repr=False)
    """The subscriptions whose orders are read; one empty id for the list of subscriptions or of products."""
    fields: tuple[str, ...] | None = None
    planned: Read | None = None
    """How plan() read the list of subscriptions; set in the first partition. Its total is at least the number of ids in
    all partitions."""
    format: int = _FORMAT


def plan(
    client: Client,
    partitions: int,
    *,
    resource: Resource = "orders",
    fields: Sequence[str] | None = None,
    patience: float = 600.0,
) -> list[Partition]:
    """Divide the lists of an account into partitions. A list is never divided, so that it gets one verdict.

    For orders, plan() reads the list of subscriptions. If an id may have been missed, plan() reads the list again, at
    most three times in all. The partitions then contain the ids of all readings; if none of these was complete, the
    first row of `reads` says so, with the reason. A reading also ends, incomplete, at a later page that the service
    refuses or that cannot be read. A subscription whose id cannot be read is left out, and the reason names it.

    Args:
        client: The client that reads the list of subscriptions. Threads: any.
        partitions: Maximum number of partitions. For subscriptions and products there is one.
        resource: Whether to read the orders of all subscriptions, or the list of subscriptions or of products.
        fields: Names of the columns, in order. None: all fields but signed portal URLs, and `more`, which has unknown
            fields as JSON text.
        patience: As for read().

    Raises:
        InvalidArgumentError: `partitions` is less than 1, or a field or the resource does not exist.
        ApiError: The service refused a request, for example because the key is wrong.
        ConnectionError, TimeoutError: The service was not reached for longer than `patience`, or for ten seconds if it
            has not answered a request before, as with a wrong URL.

    Service interface: Endpoints, Subscriptions; Pagination.
    """
    if partitions < 1:
        raise InvalidArgumentError(f"partitions is {partitions}: pass 1 or more")
    chosen = None if fields is None or isinstance(fields, str) else tuple(fields)
    _batches(client, resource, "", fields if chosen is None else chosen)  # refuses wrong names
    if resource != "orders":
        return [Partition(client.base_url, resource, ("",), chosen)]
    ids: dict[str, None] = {}
    patiently = partial(Patience(patience, reached=False), time.sleep)
    for _ in range(_READINGS):
        planned = _read_ids(client, ids, patiently)
        if planned.verdict == "complete":
            break
    found = list(ids)
    planned = planned._replace(total=max(planned.total, len(found)))  # for verify()
    count = max(1, min(partitions, len(found)))
    return [
        Partition(client.base_url, resource, tuple(found[i::count]), chosen, None if i else planned)
        for i in range(count)
    ]


def read(
    partition: Partition,
    *,
    client: Client | None = None,
    lists_at_once: int = 32,
    patience: float = 600.0,
    fail_fast: bool = False,
) -> Generator[tuple[Relation, ArrowBatch], None, None]:
    """Read the lists of a partition, several at once, in threads.

    Yields ('orders', batch) with the further column subscription_id, and ('reads', batch) with the rows of Read. A
    list's row in `reads` follows all of its records: a list without a row was not read to its end. Each reading of a
    partition requests everything again. All readings of a process together read as many lists at once as the largest
    `lists_at_once` of them. A list has at most the client's `concurrency` (8) requests in flight.

    If the service refuses a later page of a list (400, 404, 405, 410, 416, 422), or answers with an empty or another
    page, because it gives no more pages or because the list has become shorter, then the list ends there, with the
    verdict 'possibly_missed'. A list of orders with a record that cannot be read, or that the service alone refuses,
    ends with the verdict 'failed', and the other lists are read; after 401 none is.

    After an error, and when the generator is closed, each thread ends as soon as its request has ended. Threads: one at
    a time per generator. A generator that was started before a fork works only in the parent process.

    Args:
        partition: One of the partitions that plan() returned, here or in another process.
        client: The client to use, which stays open. None: one with the key in BILLCORE_API_KEY, whose connections all
            readings of this process share.
        lists_at_once: Number of threads, each of which reads one list after the other.
        patience: For how long a page is requested again after 429, 5xx and failed connections (seconds), each time
            after some seconds and the pause that the service asks for. Then the list is 'failed' if the service
            answers with another list; otherwise the error is raised.
        fail_fast: Whether to raise the error of a list instead of giving the verdict 'failed'.

    Raises:
        ConfigError: There is no key, or the partition belongs to another account or to another version of billcore.
        InvalidArgumentError: `lists_at_once` is less than 1.
        ApiError: The service refused a request, for example because the key was revoked.
        ConnectionError, TimeoutError: The service was not reached for longer than `patience`.
        DecodeError: The list of subscriptions or of products cannot be read.

    Service interface: Endpoints, Subscriptions; Pagination.
    """
    return _Reading(partition, client, lists_at_once, patience, fail_fast).run(rows_of)


def read_unpacked(
    partition: Partition, *, client: Client, lists_at_once: int, patience: float = 600.0, fail_fast: bool = False
) -> Generator[tuple[Relation, ArrowBatch | list[Read]], None, None]:
    """As read(), for programs that look at the rows of `reads`: each batch of these is a list of Read."""
    return _Reading(partition, client, lists_at_once, patience, fail_fast).run(list[Read])


def read_followed(
    partition: Partition, *, client: Client, follow: Follow, lists_at_once: int, patience: float = 600.0
) -> Generator[Read, None, None]:
    """As read(), but the records go to `follow`, which may end a list early, and each row of `reads` comes at once.

    A list that `follow` has ended is 'complete': it knows the other records.
    """
    reading = _Reading(partition, client, lists_at_once, patience, False)
    reading.follow = follow
    for _, reads in reading.run(list[Read], lists_at_once):
        if isinstance(reads, list):
            yield from reads


def columns_of(client: Client, resource: Resource, fields: Sequence[str] | None = None) -> dict[Relation, ArrowBatch]:
    """A batch with the columns of each relation; its rows mean nothing. Sends no request, and refuses wrong names."""
    _, batches = _batches(client, resource, "", fields)
    return {resource: _client._empty(batches), "reads": rows_of([Read("", 0, 0, "", "")])}


def rows_of(reads: list[Read]) -> ArrowBatch:
    """A batch of the relation `reads`; `reads` must not be empty."""
    return _client._rows(Read._fields, reads)


def _batches(client: Client, resource: Resource, id: str, fields: Sequence[str] | None) -> tuple[Pager[Any], Any]:
    pager: Pager[Any]
    constants = None
    if resource == "orders":
        pager = client.subscriptions.orders(id or "-", per_page=200)
        constants = {"subscription_id": id}
    elif resource in ("subscriptions", "products"):
        pager = getattr(client, resource).list()
    else:
        raise InvalidArgumentError(f"resource is {resource!r}: pass orders, subscriptions or products")
    return pager, pager.to_batches(fields, constants=constants)


def _read_ids(client: Client, ids: dict[str, None], patiently: Callable[[Callable[[], Any]], Any]) -> Read:
    """Read the list of subscriptions, and add its ids to those of earlier readings."""
    reading = Begun("", client.subscriptions.list())
    items, odd = iter(reading.pager), list[str]()
    request = partial(patiently, partial(next, items, None))
    while True:
        try:
            if (subscription := request()) is None:
                break
            ids[str(subscription.id)] = None
        except (ApiError, PaginationError, DecodeError) as error:
            text = _ends.without_request_id(str(error))
            if isinstance(error, DecodeError) and reading.pager.fetched_pages and text not in odd and len(odd) < _ODD:
                odd.append(text)  # the next item follows; if the page cannot be read, the same error follows
                continue
            if _ends.meaning(error, reading) != "possibly_missed":
                raise
            patiently(client.subscriptions.list().first)  # see _Reading._judge()
            return _ends.read_of(reading, "possibly_missed", str(error))
    read = _ends.read_of(reading)
    if odd:
        return read._replace(verdict="possibly_missed", reason=odd[0], as_of=None)
    if len(ids) < read.total and read.verdict == "complete":
        return read._replace(verdict="possibly_missed", reason="total_differs", as_of=None)
    return read


class _Reading:
    """Threads that read the lists of a partition, and the queue of their batches.

    _stop() does not wait for the threads, and takes no lock: the garbage collector may close the generator in any
    thread, at the exit of the interpreter, and in a forked process, where the threads no longer run.
    """

    def __init__(
        self, partition: Partition, client: Client | None, at_once: int, patience: float, fail_fast: bool
    ) -> None:
        if partition.format != _FORMAT:
            raise ConfigError(
                f"the partition has format {partition.format}, not {_FORMAT}: plan with this version of billcore"
            )
        if at_once < 1:
            raise InvalidArgumentError(f"lists_at_once is {at_once}: pass 1 or more")
        if client is None:
            client = _process.client(os.environ.get("BILLCORE_BASE_URL") or partition.base_url)
        if client.base_url != partition.base_url:
            raise ConfigError(
                f"the partition is of {partition.base_url}, the client of {client.base_url}: use one account"
            )
        self._owner = client  # has the connections of `_client`, until the reading is deleted
        self._client = client.with_options()  # can be closed, and leaves those connections open
        self._partition = partition
        self._patience = Patience(patience, reached=partition.resource == "orders")  # plan() has reached it
        self._fail_fast = fail_fast
        self.follow: Follow | None = None
        self._threads = min(at_once, len(partition.ids))
        self._turns = _process.Turns(at_once)  # a thread has one while it reads a list, but not while it waits
        self._answered = ""  # a list that was read to its end, by any thread
        self._process = os.getpid()
        self._ids = iter(partition.ids)
        self._lock = threading.Lock()  # of _ids
        self._results: queue.SimpleQueue[ArrowBatch | Read | BaseException | None] = queue.SimpleQueue()
        self._room: queue.SimpleQueue[None] = queue.SimpleQueue()  # an item for each result that a thread may add
        self._stopped = False
        self._active = threading.Lock()  # locked until the reading stops
        self._active.acquire()

    def run(
        self, pack: Callable[[list[Read]], T], most_reads: int = 0
    ) -> Generator[tuple[Relation, ArrowBatch | T], None, None]:
        """`pack` makes what is given as a batch of `reads`, which has at most `most_reads` rows (0: ROWS)."""
        running = 0
        batches: list[ArrowBatch] = []
        small: list[ArrowBatch] = []
        reads = [self._partition.planned] if self._partition.planned else []
        rows = 0
        with self._client:
            try:
                for _ in range(_RESULTS):
                    self._room.put(None)
                for _ in range(self._threads):
                    threading.Thread(target=self._work, name="billcore-bulk", daemon=True).start()
                    running += 1
                while running or rows or reads:
                    if rows >= ROWS or len(reads) >= (most_reads or ROWS) or not running:
                        batches += small
                        small.clear()
                        if batches:
                            yield self._partition.resource, _joined(batches)
                        if reads:
                            yield "reads", pack(reads)
                            reads.clear()
                        rows = 0
                        continue
                    result = self._next()
                    if result is None:
                        running -= 1
                    elif isinstance(result, Read):
                        reads.append(result)
                    else:
                        small.append(result)
                        rows += result.num_rows
                        if len(small) == _SMALL:
                            batches.append(_joined(small))
            finally:
                self._stop()

    def _next(self) -> ArrowBatch | Read | None:
        if os.getpid() != self._process:
            raise ConfigError("the process was forked while it read the partition: call read() in the child process")
        result = self._results.get()
        if result is not None:
            self._room.put(None)
        if isinstance(result, BaseException):
            try:
                raise result
            finally:
                del result  # or the error and its traceback would refer to each other
        return result

    def _stop(self) -> None:
        self._stopped = True
        self._active.release()
        self._turns.stop(self._threads)
        for _ in range(self._threads):
            self._room.put(None)

    def _put(self, result: ArrowBatch | Read) -> None:
        if self._stopped:
            return
        try:
            self._room.get_nowait()
        except queue.Empty:
            with self._turns.given():
                self._room.get()
                self._results.put(result)
        else:
            self._results.put(result)

    def _pause(self, seconds: float) -> None:
        with self._turns.given():
            if self._active.acquire(timeout=seconds):
                self._active.release()

    def _work(self) -> None:
        try:
            with self._turns.joined():
                while not self._stopped:
                    with self._lock:
                        id = next(self._ids, None)
                    if id is None:
                        break
                    with self._turns.taken():
                        self._put(self._read(id))
        except BaseException as error:
            self._results.put(error)
        finally:
            self._results.put(None)

    def _read(self, id: str) -> Read:
        pager, batches = _batches(self._client, self._partition.resource, id, self._partition.fields)
        reading = Begun(id, pager)
        take = self.follow and self.follow(reading, self._patiently)
        try:
            while not self._stopped and (batch := self._patiently(partial(next, batches, None))) is not None:
                if take is None:
                    self._put(batch)
                elif take(batch):
                    self._answered = id
                    return _ends.read_of(reading, "complete")._replace(as_of=reading.at)
        except (ApiError, TransportError, PaginationError, DecodeError) as error:
            return self._judge(error, reading)
        self._answered = id
        return _ends.read_of(reading)

    def _judge(self, error: BillcoreError, reading: Begun) -> Read:
        """Returns the row of `reads` for a list whose reading an error has ended.

        Raises the error if it stops the whole reading, for example because the service answers with no list.
        """
        meaning = _ends.meaning(error, reading)
        if meaning == "stop" or self._stopped or (self._fail_fast and meaning in ("failed", "unavailable")):
            raise error
        if meaning == "unavailable":
            if not self._answers(reading.id):
                raise error
            meaning = "failed"
        elif meaning != "failed":
            group = self._client.products if self._partition.resource == "products" else self._client.subscriptions
            self._patiently(group.list().first)  # raises, if the key belongs to another account
        return _ends.read_of(reading, meaning, str(error))

    def _answers(self, id: str) -> bool:
        """Whether the service still answers requests for lists: asks for a list other than `id`."""
        other = self._answered or next((each for each in self._partition.ids if each != id), "")
        if not other:
            return False
        try:
            _batches(self._client, self._partition.resource, other, ["id"])[0].first()
        except (ApiError, TransportError) as error:
            return pause_after(error) is None
        except (PaginationError, DecodeError):
            pass
        return True

    def _patiently(self, request: Callable[[], T]) -> T:
        return self._patience(self._pause, request, lambda: self._stopped)


def _joined(batches: list[ArrowBatch]) -> ArrowBatch:
    """One batch; `batches` is empty afterwards, so that its memory is free while the caller handles the result."""
    joined = _client._join(batches)
    batches.clear()
    return joined
