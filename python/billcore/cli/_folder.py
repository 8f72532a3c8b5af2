"""How an export writes its folder, and how an interrupted export continues. ../_export.py lists the files.

Each file is written as NAME.tmp in the folder and then renamed. A part contains whole lists, and a part without its
part-N.json is read again, so a killed export leaves neither a duplicate nor a gap.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .. import _ends, bulk
from .._client import Client
from .._export import JOINED, LOCK, MANIFEST, PLAN, SEAL, Export, parsed, part_name, signed
from ._command import EXIT_FAILED, Failure
from ._files import Sink, join, sync_folder, write_whole, writer

_MOST_SHOWN = 10  # lists that are not complete


class Folder(Export):
    """An export that is being written into a folder."""

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder if necessary, and lock it for the block. Raises Failure if another export has the lock."""
        if not self.path.exists():
            self.path.mkdir(parents=True)
            sync_folder(self.path.parent)
        elif not {PLAN, LOCK} & {*(names := os.listdir(self.path))}:
            self._refuse_foreign(names)  # before .lock is written into somebody's folder
        descriptor = os.open(self.path / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                is_free = os.fstat(descriptor).st_nlink > 0  # 0: the other export has just removed the folder
            except BlockingIOError:
                is_free = False
            if not is_free:
                raise Failure(EXIT_FAILED, f"{self.path}: another export is writing here: wait until it has ended")
            yield
        finally:
            os.close(descriptor)

    def open(self, make: Callable[[], list[bulk.Partition]]) -> bool:
        """Read the plan and check all files. Without a plan, make one. Returns whether there was a plan."""
        plan = self.path / PLAN
        found = plan.exists()
        if not found:
            if (self.path / part_name(0)).exists():
                raise Failure(EXIT_FAILED, f"{plan} was removed: restore it, or export into another folder")
            self._refuse_foreign(os.listdir(self.path))
            partitions = make()
            first = partitions[0].planned
            more = {
                "planned_at": _ends.time_text(datetime.now(UTC)),
                "planned": first and _ends.to_json(first),
                "parts": [each.ids for each in partitions],
            }
            write(plan, self._head | more)
        self.check()
        return found

    def counts(self) -> tuple[int, int, int]:
        """The number of lists in the plan, and those of lists and rows in the finished parts."""
        parts = self.plan["parts"]
        return sum(map(len, parts)), sum(len(parts[number]) for number in self.finished), self._rows(self._relations[0])

    def extend(self, ids: Sequence[str], planned: bulk.Read | None, size: int) -> None:
        """Add the subscriptions of a newer plan that this plan does not have yet, as parts of at most `size` lists."""
        known = {id for part in self.plan["parts"] for id in part}
        new = [id for id in ids if id not in known]
        (self.path / MANIFEST).unlink(missing_ok=True)
        parts = [*self.plan["parts"], *(new[begin : begin + size] for begin in range(0, len(new), size))]
        write(self.path / PLAN, self.plan | {"planned": planned and _ends.to_json(planned), "parts": parts})
        self.plan = parsed(self.path / PLAN)

    def read(self, number: int, client: Client, told: Callable[[int, int], None], **how: Any) -> None:
        """Read a part. Calls `told` with the number of further lists and of further rows. `how`: as for bulk.read()."""
        names, ids = [path.name for path in self.part_files(number)], self.plan["parts"][number]
        with ExitStack() as stack:
            sinks, rows, reads = self.write_lists(stack, names, ids, not number, client, told, how)
            self.publish(number, sinks, rows, reads)

    def write_lists(
        self,
        stack: ExitStack,
        names: Sequence[str],
        ids: Sequence[str],
        with_plan: bool,
        client: Client,
        told: Callable[[int, int], None],
        how: dict[str, Any],
    ) -> tuple[list[Sink], list[int], list[dict[str, Any]]]:
        """Remove manifest.json, then read lists into files with these names.

        `with_plan`: whether `reads` gets the row of the list of subscriptions. Returns the files, which `stack` removes
        if they are not published; their numbers of rows; and the rows of `reads`, without that row.
        """
        plan = self.plan
        planned = _ends.from_json(plan["planned"]) if with_plan and plan["planned"] else None
        fields = tuple(plan["fields"])
        partition = bulk.Partition(plan["base_url"], plan["resource"], tuple(ids), fields, planned)
        likes = bulk.columns_of(client, plan["resource"], fields)
        (self.path / MANIFEST).unlink(missing_ok=True)
        rows = dict.fromkeys(likes, 0)
        reads: list[dict[str, Any]] = []
        sinks = {each: stack.enter_context(Sink(self.path / name)) for each, name in zip(likes, names, strict=True)}
        writers = {each: writer(sink, self.line_format, likes[each]) for each, sink in sinks.items()}
        for _, end in writers.values():
            stack.callback(quietly, end)  # before the file is closed: otherwise pyarrow prints errors at its exit
        for relation, found in bulk.read_unpacked(partition, client=client, **how):
            batch = bulk.rows_of(found) if isinstance(found, list) else found
            writers[relation][0](batch)
            rows[relation] += batch.num_rows
            if not isinstance(found, list):
                told(0, batch.num_rows)
                continue
            lists = [_ends.to_json(each) for each in found if each.id or plan["planned"] is None]
            reads += lists
            told(len(lists), 0)
        for _, end in writers.values():
            end()
        return [*sinks.values()], [*rows.values()], reads

    def publish(
        self,
        number: int,
        sinks: Sequence[Sink],
        rows: Sequence[int],
        reads: Sequence[dict[str, Any]],
        complete: dict[str, int] | None = None,
    ) -> None:
        """Give the files of a part their names: the part is then finished.

        `reads` are its rows of `reads`, without the row of the list of subscriptions. `complete` counts complete lists
        of the part that are not in `reads`.
        """
        files = {sink.path.name: {"rows": count, **sink.seal()} for sink, count in zip(sinks, rows, strict=True)}
        verdicts: dict[str, dict[str, int]] = {"complete": {**complete}} if complete else {}
        for each in reads:
            add(verdicts, {each["verdict"]: {"lists": 1, "total": each["total"]}})
        part: dict[str, Any] = {"plan": self._identity(number), "files": files, "verdicts": verdicts}
        part["incomplete"] = [each for each in reads if each["verdict"] != "complete"]
        if not number:
            part["planned"] = self.plan["planned"]
        with Sink(self.path / part_name(number)) as manifest:
            manifest.write(signed(part))
            manifest.seal()  # all bytes are on the disk: a full disk leaves the former part as it is
            if number in self.finished:  # a process that is killed from here on leaves an unfinished part
                del self.finished[number]
                manifest.path.unlink()
                sync_folder(self.path)
            for sink in (*sinks, manifest):
                sink.publish()
        self.finished[number] = part

    @property
    def line_format(self) -> str:
        """The format for writer()."""
        return "spreadsheet" if self.plan.get("for_spreadsheet") else str(self.plan["file_format"])

    def incomplete(self) -> list[dict[str, Any]]:
        """The rows of `reads` that are not complete, in the finished parts."""
        return [each for part in self.finished.values() for each in part["incomplete"]]

    def verdicts(self) -> dict[str, dict[str, int]]:
        """The number of lists, and the sum of their totals, by verdict."""
        verdicts: dict[str, dict[str, int]] = {}
        for part in self.finished.values():
            add(verdicts, part["verdicts"])
        return verdicts

    def result(self) -> dict[str, Any]:
        """What the finished parts contain."""
        verdicts, planned = self.verdicts(), self.plan["planned"]
        return {
            **{name: self.plan[name] for name in ("resource", "file_format", "planned_at", "planned")},
            "complete": {*verdicts} <= {"complete"} and (planned is None or planned["verdict"] == "complete"),
            "rows": self.counts()[2],
            "lists": sum(each["lists"] for each in verdicts.values()),
            "verdicts": verdicts,
            "incomplete": self.incomplete()[:_MOST_SHOWN],
        }

    def describe(self) -> None:
        """Write manifest.json, after all parts, so that whoever copies the folder needs to read only this file."""
        parts = [self.finished[number]["files"] for number in sorted(self.finished)]
        files = {name: file for part in parts for name, file in part.items()}
        for name in {f"{each}.tmp" for each in self._own()} & {*os.listdir(self.path)}:  # left by a killed process
            (self.path / name).unlink()
        write(self.path / MANIFEST, {**self._head, **self.result(), "files": files})

    def joined(self) -> dict[str, Any]:
        """What join() has recorded; {} if it has not, or if it has joined another export."""
        found = parsed(self.path / JOINED) if (self.path / JOINED).exists() else {}
        return found if found.get("head") == self._head else {}

    def join(self, result: dict[str, Any]) -> None:
        """Write the rows of all parts into two files, and their manifest, which gets its name last.

        After a kill, joined.json tells these files from the user's.
        """
        with ExitStack() as stack:
            *sinks, manifest = [stack.enter_context(Sink(target, self.path)) for target in self._targets]
            files = {}
            for relation, sink, parts in zip(self._relations, sinks, self.files(), strict=True):
                join(sink, self.plan["file_format"], parts)
                files[sink.path.name] = {"rows": self._rows(relation), **sink.seal()}
            manifest.write(signed({**self._head, **self.result(), "files": files}))
            seals = {name: {key: file[key] for key in SEAL} for name, file in files.items()}
            seals[manifest.path.name] = manifest.seal()
            write(self.path / JOINED, {"head": self._head, "files": seals, "result": result})
            for sink in (*sinks, manifest):
                sink.publish()

    def remove(self) -> None:
        """Remove the files of the export, whose parts were joined, and the folder."""
        if not self.plan["parts"] and (self.path / PLAN).exists():
            self.plan = parsed(self.path / PLAN)
        last = [PLAN, LOCK, JOINED]  # without joined.json, the next export would refuse to replace the joined files
        own = self._own() - {*last}
        for name in [*(each for each in os.listdir(self.path) if each.removesuffix(".tmp") in own), *last]:
            (self.path / name).unlink(missing_ok=True)
        with suppress(OSError):  # another export uses the folder already, or it has a file of the user
            self.path.rmdir()

    def _rows(self, relation: str) -> int:
        return sum(part["files"][self._name(relation, number)]["rows"] for number, part in self.finished.items())


def divided(whole: bulk.Partition, size: int, known: Sequence[str] = ()) -> list[bulk.Partition]:
    """Parts of the subscriptions of the plan, and of `known` ones that it lacks."""
    ids = [*dict.fromkeys((*whole.ids, *known))]
    begins = range(0, max(len(ids), 1), size)
    return [replace(whole, ids=tuple(ids[at : at + size]), planned=None if at else whole.planned) for at in begins]


def write(path: Path, content: dict[str, Any]) -> None:
    write_whole(path, signed(content))


def add(verdicts: dict[str, dict[str, int]], more: dict[str, dict[str, int]]) -> None:
    for verdict, counts in more.items():
        sums = verdicts.setdefault(verdict, dict.fromkeys(counts, 0))
        for name, count in counts.items():
            sums[name] += count


def quietly(end: Callable[[], object]) -> None:
    with suppress(Exception):
        end()
