"""All orders of all subscriptions as Arrow batches, in one process or on the workers of an engine.

    for partition in plan(client, 8):
        for relation, batch in read(partition):
            ...

plan() lists the subscriptions. read() reads the orders of a partition's subscriptions, several lists at once, and then
says of each list whether an order may have been missed. python/docs/bulk.md has recipes for DuckDB, polars, Spark and
others. Service interface: Endpoints, Subscriptions; Pagination.
"""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from . import _client
from ._client import ArrowBatch, Client, Pager
from ._errors import ApiError, ConfigError, ConnectionError, InvalidArgumentError, NotFoundError, TimeoutError

__all__ = ["Partition", "Read", "plan", "read"]

Resource = Literal["orders", "subscriptions", "products"]
Relation = Literal["orders", "subscriptions", "products", "reads"]
ROWS = 8192  # a batch of records has at least this many, except the last
_FORMAT = 1  # of a pickled Partition


class Read(NamedTuple):
    """How a list was read: a row of the relation `reads`."""

    id: str
    """The subscription whose orders were listed; empty for the list of subscriptions or of products."""
    pages: int
    total: int
    """Number of records in the list, according to the service."""
    verdict: str
    """'complete', 'possibly_missed', or 'not_found' (the subscription was deleted after the plan was made)."""
    reason: str
    """Why a record may have been missed; empty if the verdict is 'complete'."""


@dataclass(frozen=True)
class Partition:
    """Lists to read. Has no key, and can be pickled, for example for another machine."""

    base_url: str
    resource: Resource
    ids: tuple[str, ...] = field(repr=False)
    """The subscriptions whose orders are read; one empty id for the list of subscriptions or of products."""
    fields: tuple[str, ...] | None = None
    planned: Read | None = None
    """How plan() read the list of subscriptions; set in the first partition."""
    format: int = _FORMAT


def plan(
    client: Client, partitions: int, *, resource: Resource = "orders", fields: Sequence[str] | None = None
) -> list[Partition]:
    """Divide the lists of an account into partitions. A list is never divided, so that it gets one verdict.

    For orders, the list of subscriptions is read now; if an id may have been missed it is read again, at most three
    times. The partitions then contain the ids of all readings; if none of these was complete, the first row of `reads`
    says so.

    Args:
        partitions: Maximum number of partitions. For subscriptions and products there is one.
        fields: Names of the columns, in order. None: all fields.

    Raises:
        InvalidArgumentError: `partitions` is less than 1, or a field or the resource does not exist.
    """
    if partitions < 1:
        raise InvalidArgumentError(f"partitions is {partitions}: pass 1 or more")
    chosen = None if fields is None else tuple(fields)
    _batches(client, resource, "", chosen)  # refuses wrong names
    if resource != "orders":
        return [Partition(client.base_url, resource, ("",), chosen)]
    ids: dict[str, None] = {}
    for _ in range(3):
        pager = client.subscriptions.list()
        ids.update((str(subscription.id), None) for subscription in pager)
        planned = _read_of("", pager)
        if planned.verdict == "complete":
            break
    found = list(ids)
    count = max(1, min(partitions, len(found)))
    return [
        Partition(client.base_url, resource, tuple(found[i::count]), chosen, None if i else planned)
        for i in range(count)
    ]


def read(
    partition: Partition, *, client: Client | None = None, lists_at_once: int = 32, patience: float = 600.0
) -> Iterator[tuple[Relation, ArrowBatch]]:
    """Read the lists of a partition, several at once, in threads.

    Yields ('orders', batch) with the further column subscription_id, and ('reads', batch) with the rows of Read. A
    list's row in `reads` follows all of its records: a list without a row was not read to its end. Each reading of a
    partition requests everything again. At most `lists_at_once` times the client's `concurrency` connections are open.

    Args:
        client: The client to use. None: one with the key in BILLCORE_API_KEY.
        patience: For how long a list is requested again after 429, 5xx and failed connections (seconds), each time
            after the pause that the service asks for; then the error is raised.

    Raises:
        ConfigError: There is no key, or the partition belongs to another account or to another version of billcore.
        ApiError: The service refused a request, for example because the key was revoked.
    """
    if partition.format != _FORMAT:
        raise ConfigError(
            f"the partition has format {partition.format}, not {_FORMAT}: plan with this version of billcore"
        )
    if client is not None and client.base_url != partition.base_url:
        raise ConfigError(f"the partition is of {partition.base_url}, the client of {client.base_url}: use one account")
    with Client(base_url=partition.base_url) if client is None else client.with_options() as used:
        yield from _Reading(used, partition, patience).run(lists_at_once)


def _batches(client: Client, resource: Resource, id: str, fields: tuple[str, ...] | None) -> tuple[Pager[Any], Any]:
    pager: Pager[Any]
    constants = None
    if resource == "orders":
        pager = client.subscriptions.orders(id or "-", per_page=200)
        constants = {"subscription_id": id}
    elif resource in ("subscriptions", "products"):
        pager = getattr(client, resource).list()
    else:
        raise InvalidArgumentError(f"resource is {resource!r}: pass orders, subscriptions or products")
    return pager, pager.to_batches(fields, constants=constants, rows=ROWS)


def _read_of(id: str, pager: Pager[Any], verdict: str | None = None, reason: str = "") -> Read:
    if verdict is None:
        verdict, reason = str(pager.verdict), (pager.verdict and pager.verdict.reason) or ""
    return Read(id, pager.fetched_pages, pager.total or 0, verdict, reason)


class _Reading:
    """Threads that read the lists of a partition, and the queue of their batches."""

    def __init__(self, client: Client, partition: Partition, patience: float) -> None:
        self._client = client
        self._partition = partition
        self._patience = patience
        self._ids = iter(partition.ids)
        self._lock = threading.Lock()
        self._results: queue.Queue[ArrowBatch | Read | BaseException | None] = queue.Queue(4)
        self._stopped = threading.Event()

    def run(self, at_once: int) -> Iterator[tuple[Relation, ArrowBatch]]:
        running = min(at_once, len(self._partition.ids))
        for _ in range(running):
            threading.Thread(target=self._work, daemon=True).start()
        batches: list[ArrowBatch] = []
        reads: list[ArrowBatch] = []
        rows = 0
        if self._partition.planned:
            reads.append(_row(self._partition.planned))
        try:
            while running:
                result = self._results.get()
                if result is None:
                    running -= 1
                elif isinstance(result, BaseException):
                    raise result
                elif isinstance(result, Read):
                    reads.append(_row(result))
                else:
                    batches.append(result)
                    rows += result.num_rows
                if rows >= ROWS or len(reads) >= ROWS or not running:
                    if batches:
                        yield self._partition.resource, _client._join(batches)
                    if reads:
                        yield "reads", _client._join(reads)
                    batches, reads, rows = [], [], 0
        finally:
            self._stopped.set()
            while running:
                running -= self._results.get() is None

    def _work(self) -> None:
        try:
            while not self._stopped.is_set():
                with self._lock:
                    id = next(self._ids, None)
                if id is None:
                    break
                self._results.put(self._read(id))
        except BaseException as error:
            self._results.put(error)
        finally:
            self._results.put(None)

    def _read(self, id: str) -> Read:
        pager, batches = _batches(self._client, self._partition.resource, id, self._partition.fields)
        until = None
        while not self._stopped.is_set():
            try:
                self._results.put(next(batches))
                until = None
            except StopIteration:
                break
            except NotFoundError as error:
                if not id:
                    raise
                self._client.subscriptions.list().first()  # raises, if the key belongs to another account
                return _read_of(id, pager, "not_found", str(error))
            except (ApiError, ConnectionError, TimeoutError) as error:
                until = until or time.monotonic() + self._patience
                pause = _pause(error)
                if pause is None or time.monotonic() + pause > until:
                    raise
                self._stopped.wait(pause)
        return _read_of(id, pager)


def _row(read: Read) -> ArrowBatch:
    return _client._row(read._asdict())


def _pause(error: ApiError | ConnectionError | TimeoutError) -> float | None:
    """Seconds until the next request; None if another request would get the same answer."""
    pause = random.uniform(1, 5)  # so that the threads do not continue at the same time
    if not isinstance(error, ApiError):
        return pause
    if error.status not in (408, 429) and error.status < 500:
        return None
    return pause + (error.retry_after or 0)
