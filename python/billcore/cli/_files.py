"""Files that are complete or absent, and the three formats."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _client
from .._client import ArrowBatch
from ._command import EXIT_FAILED, Failure

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class Sink(io.BufferedWriter):
    """A file that is written as NAME.tmp. After seal() its bytes are on the disk, and publish() renames it.

    The end of `with` removes NAME.tmp, for example because the disk is full. Replaces a NAME.tmp that a killed process
    has left, but does not follow a link: it may name a file of the user.
    """

    def __init__(self, path: Path, folder: Path | None = None) -> None:
        """`folder` is where NAME.tmp is written, by default next to NAME."""
        self.path = path
        self.temporary = (folder or path.parent) / f"{path.name}.tmp"
        self._hash = hashlib.sha256()
        self.temporary.unlink(missing_ok=True)
        super().__init__(io.FileIO(self.temporary, "x"))

    def write(self, data: ReadableBuffer) -> int:
        self._hash.update(data)
        with self._named():
            return super().write(data)

    def seal(self) -> dict[str, Any]:
        """Make the bytes durable; returns their number and SHA-256."""
        with self._named():
            self.flush()
            os.fsync(self.fileno())
            size = self.tell()
            self.close()
        return {"bytes": size, "sha256": self._hash.hexdigest()}

    def publish(self) -> None:
        os.replace(self.temporary, self.path)
        sync_folder(self.path.parent)

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self.close()
        self.temporary.unlink(missing_ok=True)

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Let the error of a full disk name the file."""
        try:
            yield
        except OSError as error:
            raise Failure(EXIT_FAILED, f"{self.temporary}: {error.strerror}") from error


def sync_folder(folder: Path) -> None:
    """Make the names of a folder's files durable."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_whole(path: Path, data: bytes) -> None:
    """Write a small file."""
    with Sink(path) as sink:
        sink.write(data)
        sink.seal()
        sink.publish()


def writer(
    sink: Sink, file_format: str, like: ArrowBatch
) -> tuple[Callable[[ArrowBatch], object], Callable[[], object]]:
    """Functions that write a batch, and that end the file. The batches have the columns of `like`.

    `file_format` is one of _export.FORMATS, or "spreadsheet": csv with a byte order mark, and quotes before formulas.
    """
    if file_format == "parquet":
        import pyarrow

        file = _Parquet(sink, pyarrow.schema(like))
        return lambda batch: file.write(pyarrow.table(batch)), file.close
    if file_format != "jsonl":
        if file_format == "spreadsheet":
            sink.write(BOM_UTF8)
        sink.write(",".join(_client._columns(like)).encode() + b"\n")
    return lambda batch: sink.write(_client._lines(batch, file_format)), lambda: None


class _Parquet:
    """Writes row groups of ROWS rows, or of fewer if these would take more than MOST_BYTES; the last one has the rest.

    A reader spends its time on the headers of small row groups.
    """

    ROWS = 100_000
    MOST_BYTES = 128 << 20

    def __init__(self, sink: Sink, schema: Any) -> None:
        from pyarrow import parquet

        self._file = parquet.ParquetWriter(sink, schema)
        self._waiting: list[Any] = []
        self._rows = self._bytes = 0

    def write(self, table: Any) -> None:
        while table.num_rows:
            taken = table.slice(0, self.ROWS - self._rows)
            table = table.slice(taken.num_rows)
            self._waiting.append(taken)
            self._rows += taken.num_rows
            self._bytes += taken.nbytes
            if self._rows == self.ROWS or self._bytes >= self.MOST_BYTES:
                self._flush()

    def close(self) -> None:
        with closing(self._file):
            self._flush()

    def _flush(self) -> None:
        from pyarrow import concat_tables

        if self._waiting:
            self._file.write_table(concat_tables(self._waiting), row_group_size=self.ROWS)
        self._waiting.clear()
        self._rows = self._bytes = 0


def join(sink: Sink, file_format: str, parts: Iterable[Path]) -> None:
    """Write the rows of all files, which have the same columns, into one."""
    if file_format == "parquet":
        _pick_parquet(sink, "", (), ((part, None) for part in parts))
        return
    for number, part in enumerate(parts):
        with part.open("rb") as lines:
            if number and file_format == "csv":
                lines.readline()  # the header
            shutil.copyfileobj(lines, sink, 1 << 20)


def pick(
    sink: Sink, file_format: str, column: str, ids: Collection[str], sources: Iterable[tuple[Path, bool | None]]
) -> int:
    """Write rows of files that have the same columns: of each file those with one of the ids (True), all others
    (False), or all (None). `column` is `id` if it is the first column, or `subscription_id`, which is the last one.
    Returns the number of rows. `file_format` is as for writer().
    """
    if file_format == "parquet":
        return _pick_parquet(sink, column, ids, sources)
    written = tuple(_client._lines(_client._rows((column,), [(id,)]), file_format)[:-1] for id in ids)  # no line end
    is_first, is_json = column == "id", file_format == "jsonl"
    if is_first:
        marks = tuple((each[:-1] if is_json else each) + b"," for each in written)
    else:
        marks = tuple(b"," + (each[1:] if is_json else each) + b"\n" for each in written)
    count = 0
    for number, (path, wanted) in enumerate(sources):
        with path.open("rb") as lines:
            header = b"" if is_json else lines.readline()
            sink.write(b"" if number else header)
            for record in lines if is_json else _csv_records(lines):
                if wanted is None or wanted == (record.startswith(marks) if is_first else record.endswith(marks)):
                    sink.write(record)
                    count += 1
    return count


def _pick_parquet(sink: Sink, column: str, ids: Collection[str], sources: Iterable[tuple[Path, bool | None]]) -> int:
    """As pick()."""
    from pyarrow import array, compute, parquet, string

    count = 0
    with ExitStack() as stack:
        picked = None
        for path, wanted in sources:
            with parquet.ParquetFile(path) as file:
                if picked is None:
                    picked = _Parquet(sink, file.schema_arrow)
                    stack.callback(picked.close)
                for group in range(file.num_row_groups):
                    rows = file.read_row_group(group)
                    if wanted is not None:
                        named = compute.is_in(rows[column], value_set=array([*ids], string()))
                        rows = rows.filter(named if wanted else compute.invert(named))
                    picked.write(rows)
                    count += rows.num_rows
    return count


def _csv_records(lines: Iterable[bytes]) -> Iterator[bytes]:
    """The records of a csv file; a quoted value may have line ends."""
    record, is_quoted = [], False
    for line in lines:
        record.append(line)
        is_quoted ^= line.count(b'"') % 2 == 1
        if not is_quoted:
            yield b"".join(record)
            record.clear()
