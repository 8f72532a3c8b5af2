"""Reads those lists of an export again that failed, or that may lack a record.

The rows of a list are replaced only if the new reading is better, so that a worse reading loses no rows.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from .. import _ends
from .._client import Client
from ._files import Sink, pick
from ._folder import Folder

PASSES = 3
Reads = dict[str, dict[str, Any]]  # rows of `reads` by the id of the list


def read_again(folder: Folder, client: Client, tell: Callable[[str], None], **how: Any) -> None:
    """Read the doubtful lists of an export whose parts are all finished, in up to three passes.

    `how`: as for bulk.read(). Also writes the row of the list of subscriptions if the plan was extended.
    """
    settled: set[str] = set()  # lists that two readings ended at the same error
    for _ in range(PASSES):
        former = {id: each for id, each in doubtful(folder).items() if id not in settled}
        is_old = folder.finished[0]["planned"] != folder.plan["planned"]
        if not former and not is_old:
            return
        if former:
            tell(f"{len(former):,} {'list is' if len(former) == 1 else 'lists are'} not complete: reading again")
        with ExitStack() as stack:
            names = folder.scratch()
            sinks, _, reads = folder.write_lists(stack, names, [*former], is_old, client, lambda *_: None, how)
            for sink in sinks:
                sink.seal()
            found: Reads = {each["id"]: each for each in reads}
            settled |= {id for id in former if ended_alike(found[id], former[id])}
            better = {id for id in former if _ends.is_better(_ends.from_json(found[id]), _ends.from_json(former[id]))}
            for number, part in [*folder.finished.items()]:
                ids = better & {each["id"] for each in part["incomplete"]}
                if ids or (is_old and number == 0):
                    _replace(folder, number, {id: found[id] for id in ids}, [sink.temporary for sink in sinks])


def doubtful(folder: Folder) -> Reads:
    """The rows of the lists that another reading may improve."""
    return {each["id"]: each for each in folder.incomplete() if _ends.is_doubtful(_ends.from_json(each))}


def ended_alike(read: dict[str, Any], former: dict[str, Any]) -> bool:
    """Whether two readings ended at the same error. A list that has changed may change less the next time."""
    reasons = [_ends.without_request_id(each["reason"]) for each in (read, former)]
    return reasons[0] == reasons[1] and _ends.is_error(reasons[0])


def _replace(folder: Folder, number: int, found: Reads, again: list[Path]) -> None:
    """Write the files of a part anew. The rows of the lists `found` are taken from the files `again`."""
    part, is_orders = folder.finished[number], folder.plan["planned"] is not None
    with ExitStack() as stack:
        sinks, rows = [], []
        for column, path, new in zip(("subscription_id", "id"), folder.part_files(number), again, strict=True):
            ids = {*found}
            if column == "id" and is_orders and number == 0 and part["planned"] != folder.plan["planned"]:
                ids.add("")
            sink = stack.enter_context(Sink(path))
            sources = [(path, False), (new, True)] if is_orders else [(new, None)]
            rows.append(pick(sink, folder.line_format, column, ids, sources))
            sinks.append(sink)
        kept = [found.get(each["id"], each) for each in part["incomplete"]]
        folder.publish(number, sinks, rows, kept, part["verdicts"].get("complete"))
