#!/usr/bin/env python3
"""Breaks the code in one place at a time, and tells which test notices it: see README.md."""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SETS = ("rooms", "history")
LONGEST = 900.0  # seconds of a step, with its build
BROKEN, LATE = 70, -1  # step.sh could not run the tests; the step took longer than LONGEST
KILLED = (128 + signal.SIGKILL, 128 + signal.SIGTERM)  # the tests were killed from outside, for example out of memory
# How test runners name the first test that failed.
NAMES = (
    r"^(?:FAILED|ERROR) (\S+)",  # pytest
    r"^\[  FAILED  \] ([^ ,]+)",  # GoogleTest
    r"Test +#\d+: (\S+) .*\*\*\*",  # CTest
    r"--- FAIL: (\S+)",  # go test
    r"^---- (\S+) stdout ----",  # cargo test
)


class Problem(Exception):
    """Ends the command: the data, the build or a step is wrong."""


@dataclass(frozen=True)
class Fault:
    """A change of the code that a test must notice. `old` is in `file` once; `new` takes its place."""

    id: str
    room: str
    file: str
    breaks: str
    old: str
    new: str
    commit: str = ""

    def problem(self, tree: Path) -> str:
        """Why the fault does not fit the code; empty if it does."""
        path = tree / self.file
        if not path.is_file():
            return f"{self.id}: {self.file} is missing"
        count = path.read_text("utf-8").count(self.old)
        if count != 1 or self.old == self.new:
            return f"{self.id}: the old text is {count} times in {self.file}, not once: correct the fault"
        return ""


@dataclass(frozen=True)
class Result:
    """Result of a fault: found by a test, survived all steps of its room, or a step was late or broken."""

    id: str
    room: str
    outcome: str
    area: str
    test: str
    seconds: float


def read_faults(name: str) -> list[Fault]:
    return [Fault(**each) for each in tomllib.loads((HERE / f"{name}.toml").read_text("utf-8"))["fault"]]


def read_steps(room: str) -> list[list[str]]:
    """The steps of a room: area, command and arguments of each. Leaves out what an earlier step has run."""
    rooms = tomllib.loads((HERE / "steps.toml").read_text("utf-8"))
    found: dict[str, None] = {}
    while room:
        if room not in rooms:
            raise Problem(f"steps.toml has no room {room!r}")
        found |= dict.fromkeys(rooms[room]["steps"])
        room = rooms[room].get("then", "")
    return [shlex.split(step) for step in found]


def check(faults: list[Fault], tree: Path) -> None:
    problems = [text for fault in faults if (text := fault.problem(tree))]
    problems += [
        f"{id}: two faults have this id" for id, count in Counter(each.id for each in faults).items() if count > 1
    ]
    for room in {fault.room for fault in faults}:
        read_steps(room)
    if problems:
        raise Problem("\n".join(problems))


def git(*arguments: str, at: Path = ROOT) -> str:
    done = subprocess.run(["git", "-C", str(at), *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        raise Problem(f"git {arguments[0]}: {done.stderr.strip()}")
    return done.stdout.strip()


def make_tree(tree: Path) -> str:
    """Makes or cleans the worktree, with the commit of this checkout; returns the commit."""
    commit = git("rev-parse", "HEAD")
    if tree.exists():
        git("checkout", "--quiet", "--force", "--detach", commit, at=tree)
    else:
        git("worktree", "prune")
        git("worktree", "add", "--quiet", "--detach", str(tree), commit)
    return commit


@dataclass(frozen=True)
class Ended:
    status: int  # 0: all tests passed
    test: str
    output: str


def run_step(tree: Path, step: list[str]) -> Ended:
    """Runs a step in the worktree. Kills its processes if they run longer than LONGEST seconds."""
    command = ["nice", "-n", "10", "bash", str(HERE / "step.sh"), *step[1:]]
    log = tree.parent / "step.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=tree, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
        try:
            status = process.wait(LONGEST)
        except subprocess.TimeoutExpired:
            status = LATE
        finally:
            with suppress(ProcessLookupError):  # kills the processes that the step left running
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    text = log.read_text("utf-8", "replace")
    test = next((found[1] for pattern in NAMES if (found := re.search(pattern, text, re.MULTILINE))), "")
    return Ended(status, test or "a process that ended", text)


def outcome_of(step: list[str], ended: Ended) -> str:
    if ended.status == LATE:
        return "late"
    # pytest exits with 2 if it cannot collect the tests, and after -x with several processes; with 4 if a path or an
    # option is wrong, and with 5 if it finds no test.
    is_broken = (
        ended.status < 0
        or ended.status in (BROKEN, *KILLED)
        or (step[1] in ("pytest", "meets", "spark") and ended.status in (2, 4, 5) and "\nFAILED " not in ended.output)
    )
    return "broken" if is_broken else "found"


def try_fault(tree: Path, fault: Fault, steps: list[list[str]]) -> Result:
    path = tree / fault.file
    text = path.read_text("utf-8")
    began = time.monotonic()
    path.write_text(text.replace(fault.old, fault.new), "utf-8")
    outcome, area, test = "survived", "", ""
    try:
        for step in steps:
            ended = run_step(tree, step)
            if ended.status != 0:
                (tree.parent / f"{fault.id}.log").write_text(ended.output, "utf-8")
                outcome, area = outcome_of(step, ended), step[0]
                test = ended.test if outcome == "found" else shlex.join(step)
                break
    finally:
        path.write_text(text, "utf-8")
    return Result(fault.id, fault.room, outcome, area, test, round(time.monotonic() - began, 1))


def chosen(faults: list[Fault], options: argparse.Namespace) -> list[Fault]:
    if options.only:
        unknown = {*options.only} - {fault.id for fault in faults}
        if unknown:
            raise Problem(f"there is no fault {', '.join(sorted(unknown))}")
        return [fault for fault in faults if fault.id in options.only]
    if options.quarter is None:
        return faults
    quarter = random.Random(options.seed).sample(faults, len(faults))[options.quarter - 1 :: 4]
    return [fault for fault in faults if fault in quarter]


def stored(file: Path) -> Iterator[Result]:
    """The results of an earlier run, without late and broken steps."""
    for line in file.read_text("utf-8").splitlines() if file.exists() else ():
        if (result := Result(**json.loads(line))).outcome in ("found", "survived"):
            yield result


def table(results: list[Result]) -> Iterator[str]:
    """Found and survived in each room, and by which area; then what was not found."""
    yield f"{'room':<10}  found  survived  seconds  found by"
    for room in [*sorted({each.room for each in results}), "all"]:
        of = [each for each in results if room in (each.room, "all")]
        areas = Counter(each.area for each in of if each.outcome == "found")
        survived, seconds = sum(each.outcome == "survived" for each in of), sum(each.seconds for each in of)
        by = ", ".join(f"{area} {count}" for area, count in areas.most_common())
        yield f"{room:<10}  {areas.total():5}  {survived:8}  {seconds:7.0f}  {by}"
    yield from (f"{each.outcome}: {each.id} {each.test}" for each in results if each.outcome != "found")


def clean(tree: Path, faults: list[Fault]) -> None:
    """Runs the steps on the unchanged code: a test that fails here would count as finding each fault."""
    failed = []
    steps = dict.fromkeys(shlex.join(step) for fault in faults for step in read_steps(fault.room))
    for step in map(shlex.split, steps):
        ended = run_step(tree, step)
        print(f"{'ok' if ended.status == 0 else 'FAILED: ' + ended.test}: {shlex.join(step)}", flush=True)
        if ended.status != 0:
            failed.append(step)
            (tree.parent / f"clean-{len(failed)}.log").write_text(ended.output, "utf-8")
    if failed:
        raise Problem(f"{len(failed)} steps fail without a fault: see {tree.parent}/clean-*.log")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", choices=SETS, action="append", help="which faults (default: both sets)")
    parser.add_argument("--only", metavar="ID", nargs="+", help="these faults, also if they have a result")
    parser.add_argument("--seed", type=int, default=1, help="of the order from which a quarter is taken (1)")
    parser.add_argument(
        "--quarter", type=int, choices=range(1, 5), nargs="?", const=1, help="a quarter of the faults (the first)"
    )
    parser.add_argument("--check", action="store_true", help="only check that each fault fits the code")
    parser.add_argument("--clean", action="store_true", help="run the steps of the chosen faults without a fault")
    parser.add_argument(
        "--folder", type=Path, default=ROOT / "build/mutants", help="of the worktree, logs and results (build/mutants)"
    )
    options = parser.parse_args()
    faults = [fault for name in options.set or SETS for fault in read_faults(name)]
    if options.check:
        check(faults, ROOT)
        return 0
    faults = chosen(faults, options)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # ends the step, and restores the file
    tree: Path = options.folder.absolute() / "tree"
    tree.parent.mkdir(parents=True, exist_ok=True)
    commit = make_tree(tree)
    check(faults, tree)
    if options.clean:
        clean(tree, faults)
        return 0
    file = tree.parent / f"results-{commit[:12]}.jsonl"
    done = {} if options.only else {each.id: each for each in stored(file)}
    results = [done[fault.id] for fault in faults if fault.id in done]
    for fault in faults:
        if fault.id in done:
            continue
        result = try_fault(tree, fault, read_steps(fault.room))
        results.append(result)
        with file.open("a", encoding="utf-8") as opened:
            opened.write(json.dumps(asdict(result)) + "\n")
        print(f"{result.outcome} in {result.seconds:.0f} s: {fault.id} {result.area} {result.test}", flush=True)
    print("\n".join(table(results)))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Problem as problem:
        sys.exit(f"tests/mutants/run.py: {problem}")
