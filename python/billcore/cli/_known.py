"""What `billcore export --since-last` knows of each list of orders, and what another reading of the list changes."""

from __future__ import annotations

import hashlib
import io
import json
from binascii import b2a_base64
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, get_args

from .. import _client, _types
from .._client import ArrowBatch, Client
from .._ends import Begun, Read, time_text
from ._files import Sink, _csv_records, _Parquet

PAGE = 200  # known orders in a row, after which the rest of a list is known
ADDED = ("observed_at", "change")
NEEDED = ("id", "created_at", "state")
# No webhook tells of a refund, so `paid` may change; but whoever waits for that asks for --refresh-since.
_SETTLED = ("paid", "payment_cancelled", "payment_refunded")
_OPEN: Any = [each for each in get_args(_types.OrderState) if each not in _SETTLED]
_DECODER, _ENCODER = json.JSONDecoder(), json.JSONEncoder(separators=(",", ":"))
_TRUSTED, _WATCHED = 1, 2  # bits of a mark
_TICK = timedelta(microseconds=1)


@dataclass
class Known:
    """The orders of a list that earlier runs have written."""

    at: datetime | None = None  # observed_at of the last reading
    marks: dict[str, str] = field(default_factory=dict)
    """A mark for each order: eight characters of the digest of its row, and a digit with these bits: 1, it may end the
    next reading (a reading that was not complete does not set it); 2, its state is open."""
    total: int = 0  # of the last reading that was complete


class Index:
    """Finds the state of a list in the state files, whose last line for a list is valid.

    Memory has only the position of each line.
    """

    def __init__(self) -> None:
        self._places: dict[str, tuple[Path, int, int]] = {}

    def add(self, path: Path) -> None:
        begin = 0
        with path.open("rb") as lines:
            for line in lines:
                id, _ = _DECODER.raw_decode(line.decode(), 1)
                self._places[id] = (path, begin, len(line))
                begin += len(line)

    def ids(self) -> list[str]:
        return [*self._places]

    def of(self, id: str) -> Known:
        if id not in self._places:
            return Known()
        path, begin, size = self._places[id]
        with path.open("rb", buffering=0) as file:  # a buffer would take longer than this one read
            file.seek(begin)
            _, at, marks, total = json.loads(file.read(size).decode())
        return Known(datetime.fromisoformat(at), marks, total)


def line_of(id: str, known: Known) -> bytes:
    assert known.at is not None
    return _ENCODER.encode([id, time_text(known.at), known.marks, known.total]).encode() + b"\n"


class Rows:
    """Rows of orders in one format, with the further columns ADDED."""

    def __init__(self, file_format: str, like: ArrowBatch) -> None:
        self._format = file_format
        self._columns = (*_client._columns(like), *ADDED)
        self._schema: Any = None
        if file_format == "parquet":
            import pyarrow

            more = [pyarrow.field(ADDED[0], pyarrow.timestamp("us", "UTC")), pyarrow.field(ADDED[1], pyarrow.string())]
            self._schema = pyarrow.schema([*pyarrow.schema(like), *more])

    def pick(self, batch: ArrowBatch, changes: dict[int, str], at: datetime) -> Any:
        """The rows of a batch with these numbers."""
        if self._format == "parquet":
            return batch, changes, at
        lines = _client._lines(batch, self._format)
        records = _csv_records(io.BytesIO(lines)) if self._format == "csv" else lines.splitlines(True)
        return b"".join(self._longer(each, at, changes[i]) for i, each in enumerate(records) if i in changes)

    def gone(self, subscription: str, ids: list[str], at: datetime) -> Any:
        """Rows of orders that no longer exist: null in each column but these."""
        known = {"subscription_id": subscription, ADDED[0]: at, ADDED[1]: "gone"}
        if self._format == "parquet":
            import pyarrow

            return pyarrow.Table.from_pylist([known | {"id": id} for id in ids], self._schema)
        rows: list[tuple[Any, ...]] = [tuple((known | {"id": id}).get(name) for name in self._columns) for id in ids]
        return _client._lines(_client._rows(self._columns, rows), self._format)

    def writer(self, sink: Sink) -> tuple[Callable[[Any], object], Callable[[], object]]:
        """As _files.writer(), for what pick() and gone() return."""
        if self._format == "parquet":
            picker = _Picker(_Parquet(sink, self._schema), self._schema)
            return picker.write, picker.close
        if self._format == "csv":
            sink.write(",".join(self._columns).encode() + b"\n")
        return sink.write, lambda: None

    def _longer(self, record: bytes, at: datetime, change: str) -> bytes:
        if self._format == "csv":
            return record[:-1] + f',{time_text(at)},"{change}"\n'.encode()
        return record[:-2] + f',"observed_at":"{time_text(at)}","change":"{change}"}}\n'.encode()


class _Picker:
    """Picks rows of many batches at once, because pyarrow takes a millisecond for each table, however small."""

    BATCHES = 128

    def __init__(self, file: _Parquet, schema: Any) -> None:
        self._file, self._schema = file, schema
        self._batches: list[ArrowBatch] = []
        self._picked: list[tuple[int, datetime, str]] = []
        self._size = 0  # rows of the batches

    def write(self, chunk: Any) -> None:
        if not isinstance(chunk, tuple):  # the table that Rows.gone() returned
            self._file.write(chunk)
            return
        batch, changes, at = chunk
        self._batches.append(batch)
        self._picked += [(self._size + row, at, change) for row, change in changes.items()]
        self._size += batch.num_rows
        if len(self._batches) == self.BATCHES:
            self._flush()

    def close(self) -> None:
        with closing(self._file):
            self._flush()

    def _flush(self) -> None:
        import pyarrow

        if self._batches:
            rows, *added = pyarrow.table(_client._rows(("row", *ADDED), self._picked)).columns
            found = pyarrow.table(_client._join(self._batches)).take(rows)
            self._file.write(pyarrow.table([*found.columns, *added], names=self._schema.names).cast(self._schema))
        self._batches, self._picked, self._size = [], [], 0


@dataclass(frozen=True)
class Rule:
    """How the lists of a run are read."""

    client: Client
    fields: list[str]
    rows: Rows
    is_full: bool
    """Whether each list is read to its end, and orders that are no longer there are gone."""
    listed: frozenset[str]
    """Subscriptions that the list of subscriptions has."""
    refreshed: datetime | None
    """A list is read at least to the first order that is older."""


class Reading:
    """One reading of a list. take() gets each page, in the thread that reads the list; end() is called afterwards."""

    def __init__(
        self,
        begun: Begun,
        patiently: Callable[[Callable[[], Any]], Any],
        former: Known,
        rule: Rule,
    ) -> None:
        self._begun, self._patiently, self._former, self._rule = begun, patiently, former, rule
        self._reads_all = rule.is_full
        self._unchanged: set[str] | None = None
        self._ids = {mark[:8]: id for id, mark in former.marks.items()}
        self._marks: dict[str, str] = {}  # of the orders that were read
        self._in_row = 0  # orders that are trusted, after the last one that is not
        self._total = 0
        self._ended = False
        # A clock that was set back must not make the new rows older than those that they replace.
        self._at = max(begun.at, former.at + _TICK) if former.at else begun.at
        self.chunks: list[Any] = []
        self.count = 0

    def take(self, batch: ArrowBatch) -> bool:
        """Compare the orders of a page with those of earlier runs. Returns whether the rest of the list is known."""
        lines = _client._lines(batch, "jsonl").splitlines(True)
        changes: dict[int, str] = {}
        for number, line in enumerate(lines):
            id, mark = self._mark(line)
            known = self._marks.get(id) or self._former.marks.get(id)
            if known is None or known[:8] != mark[:8]:
                changes[number] = "changed" if known else "new"
            self._in_row = self._in_row + 1 if int(mark[8]) & _TRUSTED else 0
            self._marks[id] = mark
        if changes:
            self._at += _TICK  # an order that moves to a later page and changes has two rows: the last one is newer
            self._add(self._rule.rows.pick(batch, changes, self._at), len(changes))
        total = self._begun.pager.total
        # Where an order was deleted between two pages, one may have moved to a page that was read before.
        self._reads_all |= total is None or total < self._total
        self._total = total or 0
        self._ended = not self._reads_all and self._in_row >= PAGE and self._knows_rest(lines[-1] if lines else b"")
        return self._ended

    def end(self, read: Read) -> Known | None:
        """What is known after the reading; None if the list is gone."""
        marks, total, read_now = self._former.marks, self._former.total, self._marks
        if read.verdict == "complete":
            total = read.total
            read_now = {id: mark[:8] + str(int(mark[8]) | _TRUSTED) for id, mark in read_now.items()}
        is_gone = read.verdict == "not_found" and read.id not in self._rule.listed
        if self._rule.is_full and (is_gone or read.verdict == "complete"):
            if gone := [id for id in marks if id not in read_now]:
                self._add(self._rule.rows.gone(self._begun.id, gone, self._at), len(gone))
            marks = {}
            if is_gone:
                return None
        return Known(self._at, marks | read_now, total)

    def _add(self, chunk: Any, count: int) -> None:
        self.chunks.append(chunk)
        self.count += count

    def _mark(self, line: bytes) -> tuple[str, str]:
        """The id of an order, and its mark, which has the bit _TRUSTED of earlier runs."""
        digest = b2a_base64(hashlib.blake2b(line, digest_size=6).digest(), newline=False).decode()
        if (id := self._ids.get(digest)) is not None:
            return id, self._former.marks[id]
        order = json.loads(line)
        trusted = int(self._former.marks.get(order["id"], "0")[-1]) & _TRUSTED
        return order["id"], digest + str(trusted | (0 if order["state"] in _SETTLED else _WATCHED))

    def _knows_rest(self, last: bytes) -> bool:
        """After enough known orders in a row."""
        if self._total > self._former.total + len(self._marks.keys() - self._former.marks.keys()):
            return False  # an order is where no new one is expected
        if self._rule.refreshed is not None:
            created = json.loads(last)["created_at"] if last else None
            if created is None or datetime.fromisoformat(created) >= self._rule.refreshed:
                return False
        marks = self._former.marks
        unseen = {id for id in marks if int(marks[id][8]) & _WATCHED and id not in self._marks}
        if unseen and self._unchanged is None:
            self._unchanged = self._read_open()
        return unseen <= (self._unchanged or set())

    def _read_open(self) -> set[str]:
        """The known orders that are still in an open state and have not changed, from one list of only these."""
        pager = _subscriptions(self._rule.client).orders(self._begun.id, per_page=PAGE, state=_OPEN)
        batches = pager.to_batches(self._rule.fields, constants={"subscription_id": self._begun.id})
        found: set[str] = set()
        while (batch := self._patiently(partial(next, batches, None))) is not None:
            for line in _client._lines(batch, "jsonl").splitlines(True):
                id, mark = self._mark(line)
                if self._former.marks.get(id, "")[:8] == mark[:8]:
                    found.add(id)
        return found


def _subscriptions(client: Client) -> Any:
    return client.subscriptions
