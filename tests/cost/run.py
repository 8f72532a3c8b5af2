#!/usr/bin/env python3
"""Counts the instructions and allocations of each operation and of its limit: run.py BUILD [--write]

BUILD is an optimised build with the programs of this folder. The limit of an operation is the cost of the same work
done without billcore, with only OpenSSL's SHA-256 functions or only libcurl and yyjson; it is counted in the same
run. For each operation, costs.json stores the instructions as a multiple of the limit's, and the number of
allocations beyond the limit's. The run fails if an operation's ratio of instructions has grown by over 2 %, or if an
operation makes more allocations than costs.json allows; it then prints the functions whose cost has grown. --write
stores the new counts. The message of a commit that changes costs.json must explain the change.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import astuple, dataclass, field
from pathlib import Path
from typing import Any

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
KEPT = 0.01  # costs.json omits functions with a smaller share of an operation's instructions
# Prevents glibc from copying with `rep movsb`, because Callgrind counts each byte that it copies as an instruction.
TUNABLES = ":".join(f"glibc.cpu.x86_rep_{kind}_threshold={1 << 40}" for kind in ("movsb", "stosb"))
ALLOCATORS = re.compile(r"malloc|calloc|realloc|memalign|aligned_alloc|posix_memalign|operator new.*")


@dataclass
class Cost:
    """The cost of one operation, by function: the instructions of the function itself, without its callees, and the
    allocator calls that it makes."""

    instructions: dict[str, float] = field(default_factory=dict)
    allocations: dict[str, float] = field(default_factory=dict)

    @property
    def total(self) -> float:
        return sum(self.instructions.values())

    @property
    def allocated(self) -> float:
        return sum(self.allocations.values())


def read_profile(text: str, names: dict[str, str]) -> tuple[str, Cost]:
    """Reads one of Callgrind's dumps: returns its name, and the total cost of all operations in it. names: maps
    Callgrind's function numbers to names. The caller passes the same dict for all dumps, because a dump names only
    functions that no earlier dump has named."""
    name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)
    assert name, "a profile without a name"

    def named(entry: str) -> str:
        number, _, given = entry.partition(" ")
        return names.setdefault(number, given.replace("(anonymous namespace)::", "").partition("(")[0])

    instructions, allocations = Counter[str](), Counter[str]()
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
                allocations[function] += int(line[6:].split()[0])
        elif line[:1].isdigit() or line[:1] in "+-*":
            _, _, executed = line.partition(" ")
            if not inclusive and executed:
                instructions[function] += int(executed)
            inclusive = False
    return name[1], Cost(dict(instructions), dict(allocations))


def counted(folder: Path, program: list[str], **environment: str) -> dict[str, Cost]:
    valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", f"--callgrind-out-file={folder}/profile"]
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
    for dump in sorted(folder.glob("profile.*"), key=lambda path: int(path.suffix[1:])):
        name, cost = read_profile(dump.read_text("utf-8"), names)
        dump.unlink()
        if name in operations:
            each = operations[name]
            costs[name] = Cost(*({where: n / each for where, n in part.items()} for part in astuple(cost)))
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
    programs = build / "tests" / "cost"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder)
        peer = {"LD_PRELOAD": str(programs / "libcost-peer.so"), "PYTHONPATH": str(build / "python")}
        return {
            **counted(folder, [str(programs / "cost-native")]),
            **counted(folder, [sys.executable, str(FOLDER / "python_rows.py")], **peer),
        }


def limit_of(row: str, costs: dict[str, Cost]) -> Cost:
    operation = row.partition(" ")[2]
    return costs[f"limit {LIMITS.get(operation, operation)}"]


def grown(now: dict[str, float], before: dict[str, float], others: float) -> list[str]:
    """Returns the functions whose cost grew most. others: the cost to assume for a function that costs.json omits."""
    growth = {name: each - before.get(name, others) for name, each in now.items()}
    worst = sorted(growth, key=lambda name: -growth[name])[:5]
    return [f"    {growth[name]:+10,.1f}  {name}" for name in worst if growth[name] > 0.05]


def judge(row: str, cost: Cost, limit: Cost, stored: dict[str, Any] | None) -> tuple[str, bool]:
    """Returns the row's text in the report, and whether the growth of the row's cost is within the tolerance."""
    ratio, more = cost.total / limit.total, cost.allocated - limit.allocated
    lines = [f"{row:20} {cost.total:12,.0f} {ratio:8.3f} {cost.allocated:12.2f} {more:+8.2f}"]
    if stored is None:
        return f"{lines[0]}  is not in {COSTS.name}: store it with --write", False
    slower = ratio > stored["ratio"] * TOLERANCE
    if slower:
        lines.append(f"  was {stored['ratio']:.3f} times the limit; instructions of the functions that grew:")
        lines += grown(cost.instructions, stored["instructions"], KEPT * cost.total)
    larger = more > stored["more"] + 0.05
    if larger:
        lines.append(f"  was {stored['more']:+.2f} allocations; those of the functions that grew:")
        lines += grown(cost.allocations, stored["allocations"], 0)
    return "\n".join(lines), not slower and not larger


def stored_row(cost: Cost, limit: Cost) -> dict[str, Any]:
    return {
        "ratio": round(cost.total / limit.total, 4),
        "more": round(cost.allocated - limit.allocated, 2),
        "instructions": {
            n: round(each, 1) for n, each in sorted(cost.instructions.items()) if each >= KEPT * cost.total
        },
        "allocations": {n: round(each, 2) for n, each in sorted(cost.allocations.items()) if each >= 0.05},
    }


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
            print(f"{row:20} {cost.total:12,.0f} {'':8} {cost.allocated:12.2f}")
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
