"""The folder of `billcore export --since-last`.

    run-00007/              a finished run, which is never changed
      orders.parquet          orders that are new, changed or gone since the run before
      reads.parquet           how each list was read
      state.jsonl             what is known of each list (see _known.py); only the two newest runs have it
      manifest.json           rows, bytes and SHA-256 of these files
    .next/                  the run that is being made: a Folder with parts, which an interrupted run continues
    .lock                   locked while an export runs

The rename of .next/joined to run-N publishes rows and state together. Before it, a killed run leaves only .next, which
no reader of run-*/ sees.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from .. import _ends, bulk
from .._client import Client
from .._export import MANIFEST, PLAN, parsed, refuse_changed, refuse_edited, refuse_other
from ._again import PASSES, Reads, doubtful, ended_alike
from ._command import EXIT_FAILED, EXIT_USAGE, Failure
from ._files import Sink, join, sync_folder, writer
from ._folder import Folder, add, divided, quietly, write
from ._known import NEEDED, Index, Reading, Rows, Rule, line_of

_STATES = 2  # runs that keep state.jsonl: if the newest run is removed, the next one repeats it
_STATE = "state.jsonl"


class Run(Folder):
    """The run that is being made."""

    def __init__(self, path: Path, head: dict[str, Any]) -> None:
        super().__init__(path, head)
        self._relations = (head["resource"], "reads", "state")
        self.known = Index()
        self.is_continued = False

    def open(self, make: Callable[[], list[bulk.Partition]]) -> bool:
        found = super().open(make)
        for number in sorted(self.finished):
            self.known.add(self.part_files(number)[2])
        return found

    def _name(self, relation: str, number: int) -> str:
        return f"state-{number:05}.jsonl" if relation == "state" else super()._name(relation, number)

    def _own(self) -> set[str]:
        return super()._own() | {"joined"}

    def add_part(self, ids: list[str]) -> None:
        """Read lists once more, in a further part."""
        plan = {name: value for name, value in self.plan.items() if name != "sha256"}
        write(self.path / PLAN, plan | {"parts": [*plan["parts"], ids]})
        self.plan = parsed(self.path / PLAN)

    def incomplete(self) -> list[dict[str, Any]]:
        return [*self._last()[0].values()]

    def listed(self) -> frozenset[str]:
        """The subscriptions that the list of subscriptions has: the plan begins with them, see divided()."""
        ids = (id for part in self.plan["parts"] for id in part)
        return frozenset(islice(ids, self.plan["planned"]["total"]))

    def result(self) -> dict[str, Any]:
        """As Folder.result(). A subscription that was deleted, so that both lists lack it, leaves nothing to read."""
        found, listed = super().result(), self.listed()
        is_read = all(each["verdict"] == "not_found" and each["id"] not in listed for each in self.incomplete())
        return found | {"complete": is_read and self.plan["planned"]["verdict"] == "complete"}

    def verdicts(self) -> dict[str, dict[str, int]]:
        return {name: counts for name, counts in self._last()[1].items() if counts["lists"]}

    def _last(self) -> tuple[Reads, dict[str, dict[str, int]]]:
        """incomplete() and verdicts(), of the last reading of each list."""
        found: Reads = {}
        verdicts: dict[str, dict[str, int]] = {}
        for number in sorted(self.finished):
            for former in filter(None, (found.pop(id, None) for id in self.plan["parts"][number])):
                add(verdicts, {former["verdict"]: {"lists": -1, "total": -former["total"]}})
            add(verdicts, self.finished[number]["verdicts"])
            found |= {each["id"]: each for each in self.finished[number]["incomplete"]}
        return found, verdicts

    def read_part(self, number: int, rule: Rule, told: Callable[[int, int], None], at_once: int) -> None:
        """Read a part."""
        ids, plan = self.plan["parts"][number], self.plan
        partition = bulk.Partition(plan["base_url"], plan["resource"], tuple(ids), tuple(plan["fields"]))
        readings: dict[str, Reading] = {}

        def follow(begun: _ends.Begun, patiently: Any) -> Callable[[Any], bool]:
            readings[begun.id] = Reading(begun, patiently, self.known.of(begun.id), rule)
            return readings[begun.id].take

        with ExitStack() as stack:
            sinks = [stack.enter_context(Sink(path)) for path in self.part_files(number)]
            orders, reads, state = sinks
            write_orders, end_orders = rule.rows.writer(orders)
            write_reads, end_reads = writer(reads, self.line_format, bulk.rows_of([_ends.Read("", 0, 0, "", "")]))
            stack.callback(quietly, end_orders)
            stack.callback(quietly, end_reads)
            waiting = [_ends.from_json(plan["planned"])] if not number and plan["planned"] else []
            rows, found = [0, len(waiting), 0], []
            for read in bulk.read_followed(partition, client=rule.client, follow=follow, lists_at_once=at_once):
                reading = readings.pop(read.id)
                known = reading.end(read)
                for chunk in reading.chunks:
                    write_orders(chunk)
                if known is not None:
                    state.write(line_of(read.id, known))
                waiting.append(read)
                found.append(_ends.to_json(read))
                if len(waiting) >= bulk.ROWS:
                    write_reads(bulk.rows_of(waiting))
                    waiting.clear()
                rows = [rows[0] + reading.count, rows[1] + 1, rows[2] + (known is not None)]
                told(1, reading.count)
            if waiting:
                write_reads(bulk.rows_of(waiting))
            end_orders()
            end_reads()
            self.publish(number, sinks, rows, found)
        self.known.add(self.part_files(number)[2])

    def publish_run(self, target: Path) -> dict[str, Any]:
        """Join the parts, and give the run its name. Returns the content of its manifest."""
        joined = self.path / "joined"
        if joined.exists():
            shutil.rmtree(joined)
        joined.mkdir()
        files = {}
        for column, relation in enumerate(self._relations):
            name = _STATE if relation == "state" else f"{relation}.{self.plan['file_format']}"
            parts = [self.part_files(number)[column] for number in sorted(self.finished)]
            with Sink(joined / name) as sink:
                join(sink, "jsonl" if relation == "state" else self.plan["file_format"], parts)
                files[name] = {"rows": self._rows(relation), **sink.seal()}
                sink.publish()
        found = {**self._head, **self.result(), "files": files}
        write(joined / MANIFEST, found)
        os.rename(joined, target)
        sync_folder(target.parent)
        sync_folder(self.path)
        return found


class _Runs(Folder):
    """The folder of the runs, which may be a copy without .lock."""

    def _own(self) -> set[str]:
        return super()._own() | {each.name for each in self.path.glob("run-*")}


class Lake:
    """The folder, while it is locked."""

    def __init__(self, path: Path, head: dict[str, Any]) -> None:
        self.path, self._head = path, head
        self._next, self._old = path / ".next", path / ".old"
        self.number = 0  # of the newest run
        self.run: Run

    @contextmanager
    def opened(
        self, is_full: bool, since: datetime | None, make: Callable[[], bulk.Partition], size: int
    ) -> Iterator[Run]:
        """Lock the folder, check its newest run, and begin the next one, or continue it.

        `is_full`: read all lists to their ends. `since`: read each at least to the first order that is older. An
        interrupted run that reads as much is continued as it was begun. `make` lists the subscriptions.
        """
        if (self.path / PLAN).exists():
            raise Failure(EXIT_USAGE, f"{self.path} has an export without --since-last: export into another folder")
        with _Runs(self.path, self._head).locked():
            self._retire(self._old)
            known = self._check()
            begun = {}
            if (plan := self._next / PLAN).exists():
                begun = parsed(plan)
                refuse_edited(plan, begun, f"remove {self._next}")
            wanted = {"run": self.number + 1, "is_full": is_full, "refreshed": since and _ends.time_text(since)}
            if begun and (begun["run"] != wanted["run"] or _reads_less(begun, wanted)):
                self._retire(self._next)  # it was published, or reads less than is wanted
                begun = {}
            self._next.mkdir(exist_ok=True)
            sync_folder(self.path)
            self.run = Run(self._next, self._head | {name: (begun or wanted)[name] for name in wanted})
            self.run.known = known
            self.run.is_continued = self.run.open(lambda: divided(make(), size, known.ids()))
            yield self.run

    def publish(self) -> dict[str, Any]:
        found = self.run.publish_run(self._run(self.number + 1))
        self._retire(self._next)
        for number in range(self.number + 1 - _STATES, 0, -1):
            if not (state := self._run(number) / _STATE).exists():
                break
            state.unlink()
        return found

    def _check(self) -> Index:
        """What the newest run knows. Refuses a folder of another account, and a state that was changed."""
        known = Index()
        self.number = max(
            (int(each.name[4:]) for each in self.path.glob("run-*") if each.name[4:].isdigit()), default=0
        )
        if self.number:
            run = self._run(self.number)
            again = "remove this run's folder to repeat it"
            if not (run / MANIFEST).exists():
                raise Failure(EXIT_FAILED, f"{run / MANIFEST} was removed: restore it, or {again}")
            manifest = parsed(run / MANIFEST)
            refuse_edited(run / MANIFEST, manifest, again)
            refuse_other(self.path, manifest, self._head)
            if not (run / _STATE).exists():  # as of an old run, if newer ones were removed
                raise Failure(
                    EXIT_FAILED,
                    f"{run / _STATE} is absent: restore it, or the newer runs, or export into another folder",
                )
            refuse_changed(run / _STATE, manifest["files"][_STATE], again)
            known.add(run / _STATE)
        return known

    def _run(self, number: int) -> Path:
        return self.path / f"run-{number:05}"

    def _retire(self, folder: Path) -> None:
        """Remove a folder. A kill leaves no folder that looks as if it could be continued."""
        if folder.exists():
            if folder != self._old:
                os.rename(folder, self._old)
            shutil.rmtree(self._old)


def _reads_less(begun: dict[str, Any], wanted: dict[str, Any]) -> bool:
    """Whether a run that was begun reads less than is wanted."""
    if begun["is_full"] or wanted["is_full"]:
        return not begun["is_full"]
    since = wanted["refreshed"]
    return since is not None and (begun["refreshed"] is None or begun["refreshed"] > since)


def read_all(run: Run, rule: Rule, told: Callable[[int, int], None], tell: Callable[[str], None], at_once: int) -> None:
    """Read the parts that are not finished, then the doubtful lists again, in up to three passes."""
    for number in run.unfinished():
        run.read_part(number, rule, told, at_once)
    settled: set[str] = set()  # lists that ended in the same way twice, at an error
    for _ in range(PASSES):
        former = {id: each for id, each in doubtful(run).items() if id not in settled}
        if not former:
            return
        tell(f"{len(former):,} {'list is' if len(former) == 1 else 'lists are'} not complete: reading again")
        run.add_part([*former])
        run.read_part(len(run.plan["parts"]) - 1, rule, told, at_once)
        found = doubtful(run)
        settled |= {id for id in former if id in found and ended_alike(found[id], former[id])}


def refreshed(days: int | None) -> datetime | None:
    return None if days is None else datetime.now(UTC) - timedelta(days=days)


def refuse_fields(fields: list[str]) -> None:
    for name in NEEDED:
        if name not in fields:
            raise Failure(EXIT_USAGE, f"--fields lacks {name}, which --since-last needs: add it")


def rule_of(run: Run, client: Client) -> Rule:
    fields, since = run.plan["fields"], run.plan["refreshed"]
    client = client.with_options(concurrency=1)  # no page is requested before it is known to be needed
    rows = Rows(run.plan["file_format"], bulk.columns_of(client, "orders", fields)["orders"])
    return Rule(client, fields, rows, run.plan["is_full"], run.listed(), since and datetime.fromisoformat(since))
