"""The files of an export, and whether they are as they were written.

    plan.json               what is exported, and the ids of each part; written first
    orders-00000.jsonl      the rows of a part
    reads-00000.jsonl       how each list of the part was read
    part-00000.json         rows, bytes and SHA-256 of the two files; written last: its part is finished
    manifest.json           the same of all files, and the verdicts; written after all parts, removed before any is read
    again-orders.jsonl.tmp  the rows of lists that are read again, until they are in the files of their parts
    .lock                   locked while an export runs

cli/_folder.py writes them.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ._columns import COLUMNS
from ._errors import BillcoreError, InvalidArgumentError

FORMATS = ("parquet", "jsonl", "csv")
PLAN, LOCK, JOINED, MANIFEST = "plan.json", ".lock", "joined.json", "manifest.json"
SEAL = ("bytes", "sha256")
# Files that other programs create in a folder, and that an export ignores: names with these beginnings (macOS, Spark,
# Hadoop), and these names (Windows; the root folder of an ext4 disk).
_HIDDEN, _LEFT = (".", "_"), ("Thumbs.db", "desktop.ini", "lost+found")


class Export:
    """An export in a folder.

    Attributes:
        plan: The content of plan.json, after check().
        finished: The content of part-N.json for each finished part.
    """

    def __init__(self, path: Path, head: dict[str, Any], targets: Sequence[Path] = ()) -> None:
        """`head` is the beginning of plan.json: check() refuses a folder whose plan.json begins with other values.

        `targets` are the files into which the parts are joined: one for each relation, then the manifest.
        """
        self.path = path
        self.plan: dict[str, Any] = {"parts": []}
        self.finished: dict[int, dict[str, Any]] = {}
        self._head = head
        self._targets = targets
        self._relations: tuple[str, ...] = (head["resource"], "reads")

    def check(self) -> None:
        """Read the plan and check all files."""
        self.plan = parsed(self.path / PLAN)
        refuse_other(self.path, self.plan, self._head)
        refuse_edited(self.path / PLAN, self.plan, "export into another folder")
        self._refuse_foreign(os.listdir(self.path))
        for number in range(len(self.plan["parts"])):
            if (self.path / part_name(number)).exists():
                self.finished[number] = self._checked(number)

    def unfinished(self) -> list[int]:
        """The numbers of the parts that are not finished."""
        return [number for number in range(len(self.plan["parts"])) if number not in self.finished]

    def progress(self) -> str:
        return f"{len(self.finished)} of {len(self.plan['parts'])} parts are finished"

    def scratch(self) -> list[str]:
        """Names of files for lists that are read again."""
        return [f"again-{relation}.{self._head['file_format']}" for relation in self._relations]

    def part_files(self, number: int) -> list[Path]:
        return [self.path / self._name(relation, number) for relation in self._relations]

    def files(self) -> list[list[Path]]:
        """Two lists: the files with records, and the files with reads. Both are in the order of the parts."""
        numbers = range(len(self.plan["parts"]))
        return [[*files] for files in zip(*map(self.part_files, numbers), strict=True)]

    def _name(self, relation: str, number: int) -> str:
        return f"{relation}-{number:05}.{self._head['file_format']}"

    def _identity(self, number: int) -> str:
        """What a part belongs to: the export and the part's subscriptions, but not parts that were added later."""
        plan = {name: value for name, value in self.plan.items() if name not in ("parts", "planned", "sha256")}
        return _sum({**plan, "ids": self.plan["parts"][number]})

    def _own(self) -> set[str]:
        """The names of the files in the folder, without .tmp."""
        own = {PLAN, LOCK, JOINED, MANIFEST, *self.scratch(), *(target.name for target in self._targets)}
        for number in range(len(self.plan["parts"])):
            own |= {part_name(number), *(path.name for path in self.part_files(number))}
        return own

    def _refuse_foreign(self, names: list[str]) -> None:
        own = self._own()
        for name in sorted(names):
            if name.removesuffix(".tmp") not in own and not name.startswith(_HIDDEN) and name not in _LEFT:
                raise InvalidArgumentError(
                    f"{self.path / name} is not part of an export: move it away, or export into another folder"
                )

    def _checked(self, number: int) -> dict[str, Any]:
        manifest = self.path / part_name(number)
        part = parsed(manifest)
        refuse_edited(manifest, part, "remove it to read this part again")
        again = f"remove {manifest} to read this part again"
        if part["plan"] != self._identity(number):
            raise BillcoreError(f"{manifest} belongs to another plan.json: {again}")
        for path in self.part_files(number):
            refuse_changed(path, part["files"][path.name], again)
        return part


def open_folder(path: Path) -> Export:
    """The export in a folder, if it is finished and unchanged."""
    try:
        plan = json.loads((path / PLAN).read_bytes())
        head = {name: plan[name] for name in ("resource", "file_format")}
        if head["resource"] not in COLUMNS or head["file_format"] not in FORMATS:  # they are parts of paths
            raise ValueError(head)
    except (OSError, ValueError, KeyError, TypeError):
        raise InvalidArgumentError(f"{path} has no readable plan.json: pass a folder of `billcore export`") from None
    export = Export(path, head)
    export.check()
    if export.unfinished():
        raise InvalidArgumentError(f"{path}: {export.progress()}: run the same `billcore export` again")
    return export


def open_joined(files: Sequence[Path]) -> dict[str, Any]:
    """The manifest of the two files into which an export was joined, if the files are unchanged.

    The user may have renamed the files, so only their bytes are compared with the manifest.
    """
    manifest = manifest_of(files[0])
    if not manifest.exists():
        raise InvalidArgumentError(
            f"{manifest} is absent: pass a folder or FILE of `billcore export`, with all its files"
        )
    found = parsed(manifest)
    refuse_edited(manifest, found, "export again")
    for file, wanted in zip(files, found["files"].values(), strict=True):
        refuse_changed(file, wanted, "export again")
    return found


def manifest_of(file: Path) -> Path:
    """The manifest of a FILE into which an export was joined."""
    return file.with_name(f"{file.name}.manifest.json")


def part_name(number: int) -> str:
    return f"part-{number:05}.json"


def signed(content: dict[str, Any]) -> bytes:
    return json.dumps(content | {"sha256": _sum(content)}).encode()


def parsed(path: Path) -> dict[str, Any]:
    with suppress(ValueError):
        found = json.loads(path.read_bytes())
        if isinstance(found, dict):
            return found
    raise _changed(path, "remove it")


def digest(path: Path) -> dict[str, Any] | None:
    """The bytes and SHA-256 of a file; None if there is no such file."""
    with suppress(FileNotFoundError), path.open("rb") as file:
        return {"bytes": os.fstat(file.fileno()).st_size, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}
    return None


def refuse_other(path: Path, found: dict[str, Any], head: dict[str, Any]) -> None:
    """Refuse what an export of something else has written."""
    for name, wanted in head.items():
        if (planned := found.get(name, False)) != wanted:
            raise InvalidArgumentError(
                f"{path} has an export whose {name} is {_shown(planned)}, not {_shown(wanted)}: "
                "export into another folder, or remove this one"
            )


def refuse_edited(path: Path, content: dict[str, Any], otherwise: str) -> None:
    if content.get("sha256") != _sum(content):
        raise _changed(path, otherwise)


def refuse_changed(path: Path, wanted: dict[str, Any], otherwise: str) -> None:
    if digest(path) != {key: wanted[key] for key in SEAL}:
        raise _changed(path, otherwise)


def _changed(path: Path, otherwise: str) -> BillcoreError:
    return BillcoreError(f"{path} was changed after it was written: restore it, or {otherwise}")


def _sum(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps({**content, "sha256": None}).encode()).hexdigest()


def _shown(value: Any) -> str:
    return ",".join(value) if isinstance(value, list) else str(value)
