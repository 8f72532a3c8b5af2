"""The folder of an export, and how an interrupted export continues.

    plan.json               what is exported, and the ids of each part; written first
    orders-00000.jsonl      the rows of a part
    reads-00000.jsonl       how each list of the part was read
    part-00000.json         rows, bytes and SHA-256 of the two files; written last: its part is finished
    manifest.json           the same of all files, and the verdicts; written after all parts, removed before any is read
    again-orders.jsonl.tmp  the rows of lists that are read again, until they are in the files of their parts
    .lock                   locked while an export runs

Each file is written as NAME.tmp in the folder and then renamed. A part contains whole lists, and a part without its
part-N.json is read again, so a killed export leaves neither a duplicate nor a gap.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from .. import _ends, bulk
from .._client import Client
from ._command import EXIT_FAILED, EXIT_USAGE, Failure
from ._files import Sink, digest, join, sync_folder, write_whole, writer

_PLAN, _LOCK, _JOINED, _WHOLE, _AGAIN = "plan.json", ".lock", "joined.json", "manifest.json", "again"
_MOST_SHOWN = 10  # lists that are not complete
_SEAL = ("bytes", "sha256")
# Files that other programs create in a folder, and that an export ignores: names with these beginnings (macOS, Spark,
# Hadoop), and these names (Windows; the root folder of an ext4 disk).
_HIDDEN, _LEFT = (".", "_"), ("Thumbs.db", "desktop.ini", "lost+found")


class Folder:
    """An export into a folder.

    Attributes:
        plan: The content of plan.json, after open().
        finished: The content of part-N.json for each finished part.
    """

    def __init__(self, path: Path, head: dict[str, Any], targets: Sequence[Path] = ()) -> None:
        """`head` is the beginning of plan.json: open() refuses a folder whose plan.json begins with other values.

        `targets` are the files that join() writes: one for each relation, then the manifest.
        """
        self.path = path
        self.plan: dict[str, Any] = {"parts": []}
        self.finished: dict[int, dict[str, Any]] = {}
        self._head = head
        self._targets = targets
        self._relations: tuple[str, ...] = (head["resource"], "reads")

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Make the folder if necessary, and lock it for the block. Raises Failure if another export has the lock."""
        if not self.path.exists():
            self.path.mkdir(parents=True)
            sync_folder(self.path.parent)
        elif not {_PLAN, _LOCK} & {*(names := os.listdir(self.path))}:
            self._refuse_foreign(names)  # before .lock is written into somebody's folder
        descriptor = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o666)
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
        plan = self.path / _PLAN
        found = plan.exists()
        if not found:
            if (self.path / _manifest(0)).exists():
                raise Failure(EXIT_FAILED, f"{plan} was removed: restore it, or export into another folder")
            self._refuse_foreign(os.listdir(self.path))
            partitions = make()
            first = partitions[0].planned
            more = {
                "planned_at": f"{datetime.now(UTC).replace(tzinfo=None).isoformat(timespec='microseconds')}Z",
                "planned": first and _ends.to_json(first),
                "parts": [each.ids for each in partitions],
            }
            write(plan, self._head | more)
        self.plan = parsed(plan)
        refuse_other(self.path, self.plan, self._head)
        refuse_edited(plan, self.plan, "export into another folder")
        self._refuse_foreign(os.listdir(self.path))
        for number in range(len(self.plan["parts"])):
            if (self.path / _manifest(number)).exists():
                self.finished[number] = self._checked(number)
        return found

    def unfinished(self) -> list[int]:
        """The numbers of the parts that are not finished."""
        return [number for number in range(len(self.plan["parts"])) if number not in self.finished]

    def progress(self) -> str:
        return f"{len(self.finished)} of {len(self.plan['parts'])} parts are finished"

    def counts(self) -> tuple[int, int, int]:
        """The number of lists in the plan, and those of lists and rows in the finished parts."""
        parts = self.plan["parts"]
        return sum(map(len, parts)), sum(len(parts[number]) for number in self.finished), self._rows(self._relations[0])

    def extend(self, ids: Sequence[str], planned: bulk.Read | None, size: int) -> None:
        """Add the subscriptions of a newer plan that this plan does not have yet, as parts of at most `size` lists."""
        known = {id for part in self.plan["parts"] for id in part}
        new = [id for id in ids if id not in known]
        (self.path / _WHOLE).unlink(missing_ok=True)
        parts = [*self.plan["parts"], *(new[begin : begin + size] for begin in range(0, len(new), size))]
        write(self.path / _PLAN, self.plan | {"planned": planned and _ends.to_json(planned), "parts": parts})
        self.plan = parsed(self.path / _PLAN)

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
        (self.path / _WHOLE).unlink(missing_ok=True)
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
        with Sink(self.path / _manifest(number)) as manifest:
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

    def scratch(self) -> list[str]:
        """Names of files for lists that are read again."""
        return [f"{_AGAIN}-{relation}.{self._head['file_format']}" for relation in self._relations]

    def part_files(self, number: int) -> list[Path]:
        return [self.path / self._name(relation, number) for relation in self._relations]

    def files(self) -> list[list[Path]]:
        """Two lists: the files with records, and the files with reads. Both are in the order of the parts."""
        numbers = range(len(self.plan["parts"]))
        return [[*files] for files in zip(*map(self.part_files, numbers), strict=True)]

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
        write(self.path / _WHOLE, {**self._head, **self.result(), "files": files})

    def joined(self) -> dict[str, Any]:
        """What join() has recorded; {} if it has not, or if it has joined another export."""
        found = parsed(self.path / _JOINED) if (self.path / _JOINED).exists() else {}
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
            seals = {name: {key: file[key] for key in _SEAL} for name, file in files.items()}
            seals[manifest.path.name] = manifest.seal()
            write(self.path / _JOINED, {"head": self._head, "files": seals, "result": result})
            for sink in (*sinks, manifest):
                sink.publish()

    def remove(self) -> None:
        """Remove the files of the export, whose parts were joined, and the folder."""
        if not self.plan["parts"] and (self.path / _PLAN).exists():
            self.plan = parsed(self.path / _PLAN)
        last = [_PLAN, _LOCK, _JOINED]  # without joined.json, the next export would refuse to replace the joined files
        own = self._own() - {*last}
        for name in [*(each for each in os.listdir(self.path) if each.removesuffix(".tmp") in own), *last]:
            (self.path / name).unlink(missing_ok=True)
        with suppress(OSError):  # another export uses the folder already, or it has a file of the user
            self.path.rmdir()

    def _rows(self, relation: str) -> int:
        return sum(part["files"][self._name(relation, number)]["rows"] for number, part in self.finished.items())

    def _name(self, relation: str, number: int) -> str:
        return f"{relation}-{number:05}.{self._head['file_format']}"

    def _identity(self, number: int) -> str:
        """What a part belongs to: the export and the part's subscriptions, but not parts that were added later."""
        plan = {name: value for name, value in self.plan.items() if name not in ("parts", "planned", "sha256")}
        return _sum({**plan, "ids": self.plan["parts"][number]})

    def _own(self) -> set[str]:
        """The names of the files in the folder, without .tmp."""
        own = {_PLAN, _LOCK, _JOINED, _WHOLE, *self.scratch(), *(target.name for target in self._targets)}
        for number in range(len(self.plan["parts"])):
            own |= {_manifest(number), *(path.name for path in self.part_files(number))}
        return own

    def _refuse_foreign(self, names: list[str]) -> None:
        own = self._own()
        for name in sorted(names):
            if name.removesuffix(".tmp") not in own and not name.startswith(_HIDDEN) and name not in _LEFT:
                raise Failure(
                    EXIT_USAGE,
                    f"{self.path / name} is not part of an export: move it away, or export into another folder",
                )

    def _checked(self, number: int) -> dict[str, Any]:
        manifest = self.path / _manifest(number)
        part = parsed(manifest)
        refuse_edited(manifest, part, "remove it to read this part again")
        again = f"remove {manifest} to read this part again"
        if part["plan"] != self._identity(number):
            raise Failure(EXIT_FAILED, f"{manifest} belongs to another plan.json: {again}")
        for path in self.part_files(number):
            refuse_changed(path, part["files"][path.name], again)
        return part


def manifest_of(file: Path) -> Path:
    """The manifest of a FILE that join() has written."""
    return file.with_name(f"{file.name}.manifest.json")


def open_joined(files: Sequence[Path]) -> dict[str, Any]:
    """The manifest of the two files that join() has written. They may have other names since, so it checks their
    bytes alone."""
    manifest = manifest_of(files[0])
    if not manifest.exists():
        raise Failure(
            EXIT_USAGE, f"{manifest} is absent: pass a folder or FILE of `billcore export`, with all its files"
        )
    found = parsed(manifest)
    refuse_edited(manifest, found, "export again")
    for file, wanted in zip(files, found["files"].values(), strict=True):
        refuse_changed(file, wanted, "export again")
    return found


def _manifest(number: int) -> str:
    return f"part-{number:05}.json"


def write(path: Path, content: dict[str, Any]) -> None:
    write_whole(path, signed(content))


def signed(content: dict[str, Any]) -> bytes:
    return json.dumps(content | {"sha256": _sum(content)}).encode()


def parsed(path: Path) -> dict[str, Any]:
    with suppress(ValueError):
        found = json.loads(path.read_bytes())
        if isinstance(found, dict):
            return found
    raise _changed(path, "remove it")


def refuse_other(path: Path, found: dict[str, Any], head: dict[str, Any]) -> None:
    """Refuse what an export of something else has written."""
    for name, wanted in head.items():
        if (planned := found.get(name, False)) != wanted:
            raise Failure(
                EXIT_USAGE,
                f"{path} has an export whose {name} is {_shown(planned)}, not {_shown(wanted)}: "
                "export into another folder, or remove this one",
            )


def refuse_edited(path: Path, content: dict[str, Any], otherwise: str) -> None:
    if content.get("sha256") != _sum(content):
        raise _changed(path, otherwise)


def refuse_changed(path: Path, wanted: dict[str, Any], otherwise: str) -> None:
    if digest(path) != {key: wanted[key] for key in _SEAL}:
        raise _changed(path, otherwise)


def _changed(path: Path, otherwise: str) -> Failure:
    return Failure(EXIT_FAILED, f"{path} was changed after it was written: restore it, or {otherwise}")


def _sum(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps({**content, "sha256": None}).encode()).hexdigest()


def add(verdicts: dict[str, dict[str, int]], more: dict[str, dict[str, int]]) -> None:
    for verdict, counts in more.items():
        sums = verdicts.setdefault(verdict, dict.fromkeys(counts, 0))
        for name, count in counts.items():
            sums[name] += count


def quietly(end: Callable[[], object]) -> None:
    with suppress(Exception):
        end()


def _shown(value: Any) -> str:
    return ",".join(value) if isinstance(value, list) else str(value)
