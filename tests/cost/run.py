#!/usr/bin/env python3
"""Counts the instructions and allocations of each operation and of its limit: run.py BUILD [--write]

BUILD is an optimised build with the programs of this folder. The limit of an operation is the cost of the same work
done without billcore, with only OpenSSL's SHA-256 functions or only libcurl and yyjson; it is counted in the same
run. For each operation, costs.json stores the instructions as a multiple of the limit's, and the number of
allocations beyond the limit's. The run fails if an operation's ratio of instructions has grown by over 2 %, or if an
operation makes more allocations than costs.json allows; it then names the profile, for callgrind_annotate. --write
stores the new counts. The message of a commit that changes costs.json must explain the change.
"""

from __future__ import annotations

import json
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))

from bench import bodies, pages_server, rest_server  # noqa: E402

COSTS = FOLDER / "costs.json"
LIMITS = {
    "await get": "get",
    "loop get": "get",
    "for": "list",
    "async for": "list",
    "three columns": "list",
    "all columns": "list",
}
PAGES = 20
TOLERANCE = 1.02
# Prevents glibc from copying with `rep movsb`, because Callgrind counts each byte that it copies as an instruction.
TUNABLES = ":".join(f"glibc.cpu.x86_rep_{kind}_threshold={1 << 40}" for kind in ("movsb", "stosb"))
ALLOCATORS = re.compile(r"malloc|calloc|realloc|memalign|aligned_alloc|posix_memalign|operator new.*")


@dataclass
class Cost:
    """The cost of one operation: its instructions, and its calls of allocators."""

    instructions: float
    allocations: float
    profile: Path


def read_profile(text: str, names: dict[str, str]) -> tuple[str, int, int]:
    """Reads one of Callgrind's dumps: returns its name, and the instructions and allocations in it. names: maps
    Callgrind's function numbers to names. The caller passes the same dict for all dumps, because a dump names only
    functions that no earlier dump has named."""
    name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)
    assert name, "a profile without a name"

    def named(entry: str) -> str:
        number, _, given = entry.partition(" ")
        return names.setdefault(number, given.partition("(")[0])

    instructions = allocations = 0
    function = called = ""
    inclusive = False  # whether the next line with a cost is that of a called function
    for line in text.splitlines():
        if line.startswith("fn="):
            function = named(line[3:])
        elif line.startswith("cfn="):
            called = named(line[4:])
        elif line.startswith("calls="):
            inclusive = True
            if ALLOCATORS.fullmatch(called) and not ALLOCATORS.fullmatch(function):
                allocations += int(line[6:].split()[0])
        elif line[:1].isdigit() or line[:1] in "+-*":
            _, _, executed = line.partition(" ")
            if not inclusive and executed:
                instructions += int(executed)
            inclusive = False
    return name[1], instructions, allocations


def counted(folder: Path, program: list[str], **environment: str) -> dict[str, Cost]:
    profile = f"{Path(program[0]).name}-profile"
    valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/{profile}"]
    done = subprocess.run(
        [*valgrind, *program, str(folder)],
        # Use the same environment on every machine: libcurl searches the whole environment in each call, so the number
        # of instructions depends on the environment.
        env={"GLIBC_TUNABLES": TUNABLES, "PYTHONHASHSEED": "0", **environment},
        capture_output=True,
        text=True,
    )
    if done.returncode != 0:
        raise SystemExit(f"{program[0]} failed with {done.returncode}:\n{done.stdout}{done.stderr}")
    operations = {name: int(count) for name, count in re.findall(r"^(.*) (\d+)$", done.stdout, re.MULTILINE)}
    costs: dict[str, Cost] = {}
    names: dict[str, str] = {}
    for dump in sorted(folder.glob(f"{profile}.*"), key=lambda path: int(path.suffix[1:])):
        name, instructions, allocations = read_profile(dump.read_text("utf-8"), names)
        if name in operations:
            costs[name] = Cost(instructions / operations[name], allocations / operations[name], dump)
    return costs


def write_inputs(folder: Path) -> None:
    bodies.write(folder / "900", 900)
    answers = folder / "answers"
    answers.mkdir()
    place = "+acct+subscription+sub_"
    (answers / f"GET {place}1001").write_bytes(rest_server.answer()[0])
    (answers / f"POST {place}1001+order").write_bytes(bodies.spelled({"data": next(pages_server.orders(1))}))
    for number, answer in enumerate(pages_server.answers(PAGES), 1):
        (answers / f"GET {place}{PAGES}+orders?page={number}").write_bytes(answer)


def count(build: Path) -> dict[str, Cost]:
    programs, folder = build / "tests" / "cost", build / "cost"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    write_inputs(folder)
    peer = {"LD_PRELOAD": str(programs / "libcost-peer.so"), "PYTHONPATH": str(build / "python")}
    return {
        **counted(folder, [str(programs / "cost-native")]),
        **counted(folder, [sys.executable, str(FOLDER / "python_rows.py")], **peer),
    }


def limit_of(row: str, costs: dict[str, Cost]) -> Cost:
    operation = row.partition(" ")[2]
    return costs[f"limit {LIMITS.get(operation, operation)}"]


def stored_row(cost: Cost, limit: Cost) -> dict[str, float]:
    return {
        "ratio": round(cost.instructions / limit.instructions, 4),
        "more": round(cost.allocations - limit.allocations, 2),
    }


def judge(row: str, cost: Cost, limit: Cost, stored: dict[str, float] | None) -> tuple[str, bool]:
    """Returns the row's text in the report, and whether the growth of the row's cost is within the tolerance."""
    now = stored_row(cost, limit)
    line = f"{row:20} {cost.instructions:12,.0f} {now['ratio']:8.3f} {cost.allocations:12.2f} {now['more']:+8.2f}"
    if stored is None:
        return f"{line}  is not in {COSTS.name}: store it with --write", False
    if now["ratio"] <= stored["ratio"] * TOLERANCE and now["more"] <= stored["more"] + 0.05:
        return line, True
    was = f"was {stored['ratio']:.3f} times the limit, and {stored['more']:+.2f} allocations"
    return f"{line}\n  {was}; callgrind_annotate {cost.profile}", False


def made_with(build: Path) -> dict[str, str]:
    """Returns the machine, compiler and Python version. The stored counts hold only for the same machine, compiler and
    Python version, because the executed instructions depend on all three."""
    cache = (build / "CMakeCache.txt").read_text("utf-8")
    compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.MULTILINE)
    assert compiler, "not a build folder"
    version = subprocess.run([compiler[1], "--version"], check=True, capture_output=True, text=True).stdout
    return {"machine": platform.machine(), "compiler": version.splitlines()[0], "python": platform.python_version()}


def main() -> int:
    build = Path(sys.argv[1]).resolve()
    costs = count(build)
    limits = {row: limit_of(row, costs) for row in costs if not row.startswith("limit ")}
    here = made_with(build)
    if "--write" in sys.argv:
        rows = {row: stored_row(costs[row], limit) for row, limit in limits.items()}
        COSTS.write_text(json.dumps({"made_with": here, "rows": rows}, indent=1) + "\n", "utf-8")
    stored = json.loads(COSTS.read_text("utf-8"))
    passed = failed = 0
    print(f"{'':20} {'instructions':>12} {'ratio':>8} {'allocations':>12} {'more':>8}")
    for row, cost in costs.items():
        if row not in limits:
            print(f"{row:20} {cost.instructions:12,.0f} {'':8} {cost.allocations:12.2f}")
            continue
        line, good = judge(row, cost, limits[row], stored["rows"].get(row))
        parts = list(here) if row.startswith("Python ") else ["machine", "compiler"]
        other = [part for part in parts if here[part] != stored["made_with"][part]]
        print(f"{line}  (not held: stored with another {' and '.join(other)})" if other else line)
        passed += good and not other
        failed += not good and not other
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
