#!/usr/bin/env python3
"""Counts what each operation and its limit cost a processor: run.py BUILD [--rust PROGRAM] [--write]

BUILD is an optimised build with the programs of this folder. PROGRAM is the program of the folder rust; without it
there are no rows for Rust. The limit of an operation is the cost of the same work done without billcore, with only
OpenSSL's SHA-256 functions or only libcurl and yyjson; it is counted in the same run. The counts are those of
Callgrind: instructions, misses of a cache of 32 KiB for instructions and of one for data (8 ways, lines of 64 bytes,
as in most processors), mispredicted branches, and calls of allocators. Before each call of a row named "cold", other
code and data, of 64 KiB each, run through these caches, so that the row counts each line that a call touches.
costs.json stores how much an operation needs beyond its limit. The run fails if a count of an operation has grown by
more than its tolerance; it then names the profile, for callgrind_annotate. --write stores the new counts. The message
of a commit that changes costs.json must explain the change.
"""

from __future__ import annotations

import argparse
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
    "cold loop get": "cold get",
    "for": "list",
    "async for": "list",
    "three columns": "list",
    "all columns": "list",
}
# What a row depends on besides the machine and the C++ compiler, by the first word of its name.
LANGUAGES = {"Python": ("python",), "Rust": ("rust",)}
PAGES = 20
# The share by which a count of an operation may grow. Misses also depend on where the linker puts code and where the
# allocator puts data, so their tolerances are wider. In Python they vary more; there, the run ignores counts below FEW.
# With warm caches, data misses vary most: lines that share a place in the cache replace each other.
TOLERANCES = {"instructions": 0.02, "I1 misses": 0.04, "D1 misses": 0.1, "mispredicted": 0.04}
COLD_TOLERANCES = {"D1 misses": 0.04}
PYTHON_TOLERANCE = 0.06
FEW = 100.0
# The number of misses and mispredictions by which an operation may always grow. The code of a signature check fits into
# the cache, so its few misses are of lines that share a place in the cache: a linker that moves a function adds or
# removes dozens. The cold rows count the lines themselves, but their branches share places in the predictor as well.
SLACK = 0.2
SLACK_OF_CHECKS = 50.0
SLACK_OF_COLD_CHECKS = {"mispredicted": 10.0}
CHECKS = ("verify", "unwrap")
# Callgrind's events that a count is the sum of.
EVENTS = {
    "instructions": ("Ir",),
    "I1 misses": ("I1mr",),
    "D1 misses": ("D1mr", "D1mw"),
    "mispredicted": ("Bcm", "Bim"),
}
CACHES = ["--cache-sim=yes", "--branch-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64"]
# Prevents glibc from copying with `rep movsb`, because Callgrind counts each byte that it copies as an instruction.
TUNABLES = ":".join(f"glibc.cpu.x86_rep_{kind}_threshold={1 << 40}" for kind in ("movsb", "stosb"))
ALLOCATORS = re.compile(r"malloc|calloc|realloc|memalign|aligned_alloc|posix_memalign|operator new.*")


@dataclass
class Cost:
    """The counts of one operation, by their names in EVENTS, and its calls of allocators."""

    counts: dict[str, float]
    allocations: float
    profile: Path


def read_profile(text: str, names: dict[str, str]) -> tuple[str, dict[str, int], int]:
    """Reads one of Callgrind's dumps: returns its name, the counts in it, and the allocations. names: maps Callgrind's
    function numbers to names. The caller passes the same dict for all dumps, because a dump names only functions that
    no earlier dump has named."""
    name = re.search(r"^desc: Trigger: Client Request: (.*)$", text, re.MULTILINE)
    events = re.search(r"^events: (.*)$", text, re.MULTILINE)
    assert name and events, "a profile without a name"

    def named(entry: str) -> str:
        number, _, given = entry.partition(" ")
        return names.setdefault(number, given.partition("(")[0])

    sums = [0] * len(events[1].split())
    allocations = 0
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
            if not inclusive:
                for place, value in enumerate(line.split()[1:]):  # Callgrind leaves out zeros at the end
                    sums[place] += int(value)
            inclusive = False
    by_event = dict(zip(events[1].split(), sums, strict=True))
    return name[1], {count: sum(by_event[event] for event in of) for count, of in EVENTS.items()}, allocations


def counted(folder: Path, program: list[str], **environment: str) -> dict[str, Cost]:
    profile = f"{Path(program[0]).name}-profile"
    valgrind = ["valgrind", "--tool=callgrind", "--instr-atstart=no", *CACHES, f"--callgrind-out-file={profile}"]
    done = subprocess.run(
        [*valgrind, *program, "."],
        cwd=folder,
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
        name, counts, allocations = read_profile(dump.read_text("utf-8"), names)
        if times := operations.get(name):
            costs[name] = Cost({key: count / times for key, count in counts.items()}, allocations / times, dump)
    return costs


def write_inputs(folder: Path) -> None:
    bodies.write(folder / "900", 900)
    answers = folder / "answers"
    answers.mkdir()
    place = "+acct+subscription+sub_"
    (answers / f"GET {place}1001").write_bytes(rest_server.answer()[0])
    (answers / f"POST {place}1001+order").write_bytes(bodies.spelled({"data": next(pages_server.orders(1))}))
    for pages in (1, PAGES):
        for number, answer in enumerate(pages_server.answers(pages), 1):
            (answers / f"GET {place}{pages}+orders?page={number}").write_bytes(answer)


def count(build: Path, rust: Path | None) -> dict[str, Cost]:
    programs, folder = build / "tests" / "cost", build / "cost"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    write_inputs(folder)
    peer = {"LD_PRELOAD": str(programs / "libcost-peer.so"), "PYTHONPATH": str(build / "python")}
    # The programs have relative paths, because the length of a path moves the stack and the heap, and so changes the
    # misses.
    (folder / "cost-native").symlink_to(programs / "cost-native")
    costs = {
        **counted(folder, ["./cost-native"]),
        **counted(folder, [sys.executable, str(FOLDER / "python_rows.py")], **peer),
    }
    if rust is not None:
        (folder / "cost-rust").symlink_to(rust)
        libraries = {"LD_LIBRARY_PATH": f"{build / 'capi'}:{programs}"}
        costs |= counted(folder, ["./cost-rust"], LD_PRELOAD=peer["LD_PRELOAD"], **libraries)
    return costs


def limit_of(row: str, costs: dict[str, Cost]) -> Cost:
    operation = row.partition(" ")[2]
    return costs[f"limit {LIMITS.get(operation, operation)}"]


def stored_row(cost: Cost, limit: Cost) -> dict[str, float]:
    """What an operation needs beyond its limit: a share of the limit's instructions, and numbers of the others."""
    row = {"ratio": round(cost.counts["instructions"] / limit.counts["instructions"], 4)}
    row |= {name: round(cost.counts[name] - limit.counts[name], 2) for name in EVENTS if name != "instructions"}
    return row | {"allocations": round(cost.allocations - limit.allocations, 2)}


def slack(row: str, name: str) -> float:
    if not row.endswith(CHECKS):
        return SLACK
    return SLACK_OF_COLD_CHECKS.get(name, SLACK) if " cold " in row else SLACK_OF_CHECKS


def grown(row: str, cost: Cost, limit: Cost, stored: dict[str, float]) -> list[str]:
    """The counts that have grown by more than their tolerance."""
    found = []
    in_python, is_cold = row.startswith("Python "), " cold " in row
    for name, share in (TOLERANCES | (COLD_TOLERANCES if is_cold else {})).items():
        if name == "instructions":
            before = limit.counts[name] * stored["ratio"]
            most = before * (1 + share)
        else:
            before = limit.counts[name] + stored[name]
            if in_python and before < FEW:
                continue
            most = before * (1 + max(share, PYTHON_TOLERANCE if in_python else 0)) + slack(row, name)
        if cost.counts[name] > most:
            found.append(f"{name}: {before:,.1f} before")
    if cost.allocations - limit.allocations > stored["allocations"] + 0.1:
        found.append(f"allocations: {limit.allocations + stored['allocations']:.2f} before")
    return found


def line_of(row: str, cost: Cost, limit: Cost | None) -> str:
    numbers = "".join(f"{cost.counts[name]:14,.1f}" for name in EVENTS)
    ratio = f"{cost.counts['instructions'] / limit.counts['instructions']:8.3f}" if limit else " " * 8
    return f"{row:20}{numbers}{ratio}{cost.allocations:13.2f}"


def made_with(build: Path, with_rust: bool) -> dict[str, str]:
    """Returns the machine and the versions of the compilers and of Python. The stored counts of a row hold only for
    those that the row depends on; see LANGUAGES."""

    def version(program: str) -> str:
        return subprocess.run([program, "--version"], check=True, capture_output=True, text=True).stdout.splitlines()[0]

    cache = (build / "CMakeCache.txt").read_text("utf-8")
    compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.MULTILINE)
    assert compiler, "not a build folder"
    here = {"machine": platform.machine(), "compiler": version(compiler[1]), "python": platform.python_version()}
    return here | ({"rust": version("rustc")} if with_rust else {})


def main() -> int:
    parser = argparse.ArgumentParser(description="Counts what each operation and its limit cost a processor.")
    parser.add_argument("build", type=Path, metavar="BUILD")
    parser.add_argument("--rust", type=Path, metavar="PROGRAM")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    build, rust = given.build.resolve(), given.rust and given.rust.resolve()
    if given.write and rust is None:
        parser.error("--write needs --rust: it stores all rows")
    costs = count(build, rust)
    limits = {row: limit_of(row, costs) for row in costs if not row.startswith("limit ")}
    here = made_with(build, rust is not None)
    if given.write:
        rows = {row: stored_row(costs[row], limit) for row, limit in limits.items()}
        COSTS.write_text(json.dumps({"made_with": here, "rows": rows}, indent=1) + "\n", "utf-8")
    stored = json.loads(COSTS.read_text("utf-8"))
    passed = failed = 0
    print(f"{'':20}{''.join(f'{name:>14}' for name in EVENTS)}{'ratio':>8}{'allocations':>13}")
    for row, cost in costs.items():
        print(line_of(row, cost, limits.get(row)), end="")
        if row not in limits:
            print()
            continue
        parts = ["machine", "compiler", *LANGUAGES.get(row.partition(" ")[0], ())]
        if other := [part for part in parts if here[part] != stored["made_with"].get(part)]:
            print(f"  (not held: stored with another {' and '.join(other)})")
            continue
        wrong = [f"{COSTS.name} does not have it: store it with --write"]
        if row in stored["rows"]:
            wrong = grown(row, cost, limits[row], stored["rows"][row])
        print("".join(f"\n  {each}" for each in [*wrong, f"callgrind_annotate {cost.profile}"] if wrong))
        passed += not wrong
        failed += bool(wrong)
    print(f"{passed} passed, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
