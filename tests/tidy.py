#!/usr/bin/env python3
"""Runs clang-tidy on the sources that no earlier run found clean: tests/tidy.py BUILD STAMPS JOBS FILE…

clang-tidy takes seconds per file. A clean file is checked again when its text changes, or when a header that it
includes changes other than in comments. BUILD is a build folder with compile commands. When BUILD was compiled, ninja
recorded which headers each file includes. A file that was not compiled there is checked again when any header changes.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# PARTS matches string literals and comments. without_comments() removes comments, except those that clang-tidy reads
# (READ).
PARTS = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.DOTALL)
READ = re.compile(r"NOLINT|=\s*\*/")


def without_comments(text: str) -> str:
    kept = PARTS.sub(lambda part: " " if part[0].startswith("/") and not READ.search(part[0]) else part[0], text)
    return " ".join(kept.split())


def includes(build: Path) -> dict[Path, set[Path]]:
    """Returns, for each compiled source, the files of this tree that it includes."""
    done = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True)
    found: dict[Path, set[Path]] = {}
    for block in done.stdout.split("\n\n"):
        paths = [(build / line.strip()).resolve() for line in block.splitlines()[1:]]
        if paths:
            own = {path for path in paths[1:] if ROOT in path.parents and build not in path.parents}
            found[paths[0]] = found.get(paths[0], set()) | own
    return found


def main() -> int:
    build, stamps, jobs = Path(sys.argv[1]).resolve(), Path(sys.argv[2]), int(sys.argv[3])
    stamps.mkdir(parents=True, exist_ok=True)
    compiled = {entry["file"] for entry in json.loads((build / "compile_commands.json").read_text("utf-8"))}
    sources = [path for path in (ROOT / name for name in sys.argv[4:]) if str(path) in compiled]
    version = subprocess.run(["clang-tidy", "--version"], check=True, capture_output=True, text=True).stdout
    found = (path for folder in ("core", "capi", "python") for path in (ROOT / folder).rglob("*.h*"))
    headers = {path: without_comments(path.read_text("utf-8")) for path in found if path.suffix in (".h", ".hpp")}
    known = includes(build)

    def stamp(source: Path) -> Path:
        key = hashlib.sha256(version.encode())
        for settings in (folder / ".clang-tidy" for folder in source.parents if ROOT in (folder, *folder.parents)):
            key.update(settings.read_bytes() if settings.exists() else b"")
        for header in sorted(known.get(source, headers)):
            key.update(f"{header.relative_to(ROOT)}\0{headers.get(header, '')}\0".encode())
        key.update(source.read_bytes())
        return stamps / key.hexdigest()[:24]

    def check(source: Path) -> bool:
        mark = stamp(source)
        if mark.exists():
            return True
        done = subprocess.run(["clang-tidy", "--quiet", "-p", build, source], capture_output=True, text=True)
        print(done.stdout, end="", flush=True)
        if done.returncode == 0:
            mark.touch()
        return done.returncode == 0

    with ThreadPoolExecutor(jobs) as pool:
        return 0 if all(list(pool.map(check, sources))) else 1


if __name__ == "__main__":
    sys.exit(main())
