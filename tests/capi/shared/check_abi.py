"""Compares the public headers, and the ABI of the shared libraries (by libabigail), with the copies in capi/abi.

Usage: check_abi.py CAPI_FOLDER [LIBRARY…] [--write]
--write first stores the headers and the ABI of the libraries, which must have debug information and no sanitizer.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from stored_header import differences, joined, version

# With these options, abidw omits parameter names and private types, because C programs do not depend on them, and
# source locations, because they depend on the machine.
DUMP = [
    "--drop-private-types",
    "--exported-interfaces-only",
    "--no-architecture",
    "--no-comp-dir-path",
    "--no-corpus-path",
    "--no-elf-needed",
    "--no-parameter-names",
    "--no-show-locs",
    "--no-write-default-sizes",
    "--type-id-style",
    "hash",
]
PRIVATE = "billcore_private_"  # functions with a symbol version that differs in each build; no header declares them


def dump(capi: Path, library: Path) -> str:
    command: list[str | Path] = ["abidw", *DUMP, "--headers-dir", capi / "include", library]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    text = re.sub(r"path='[^']*/capi/", "path='capi/", text)
    text = "".join(line for line in text.splitlines(keepends=True) if PRIVATE not in line)
    symbols = set(re.findall(r"<elf-symbol name='(\w+)'", text))
    described = set(re.findall(r" elf-symbol-id='(\w+)@@", text))
    assert symbols and symbols == described, (
        f"{library}: built without debug information: {sorted(symbols - described)}"
    )
    return text


def stored(capi: Path, library: Path) -> Path:
    return capi / "abi" / (library.name.partition(".")[0] + ".abi")


def difference(before: Path, after: Path, *options: str) -> str:
    """Returns the output of abidiff; empty if it found no difference."""
    done = subprocess.run(["abidiff", *options, before, after], capture_output=True, text=True)
    assert done.returncode & 3 == 0, done.stderr
    return done.stdout if done.returncode != 0 else ""


def check(capi: Path, library: Path, renew: str) -> str:
    """Returns how a library's ABI differs from the stored ABI; empty if it does not differ."""
    baseline = stored(capi, library)
    if not baseline.exists():
        return f"{baseline} does not exist. To store it:\n{renew}"
    with tempfile.TemporaryDirectory() as folder:
        now = Path(folder) / baseline.name
        now.write_text(dump(capi, library))
        if broken := difference(baseline, now, "--no-added-syms"):
            return f"{library.name} breaks the ABI that {baseline.name} stores:\n{broken}"
        if added := difference(baseline, now):
            return f"{library.name} has more than {baseline.name} stores. To store it:\n{renew}\n{added}"
    return ""


def check_headers(capi: Path, renew: str) -> list[str]:
    now = joined(capi / "include")
    newest = capi / "abi" / f"billcore-{version(now)}.h"
    if not newest.exists():
        return [f"{newest} does not exist. To store it:\n{renew}"]
    problems = []
    for path in sorted((capi / "abi").glob("billcore-*.h")):
        missing, more = differences(path.read_text("utf-8"), now)
        problems += [f"the headers break a promise of {path.name}: {text}" for text in missing]
        if path == newest and more:
            problems.append("\n  ".join([f"the headers have more than {path.name}. To store it:\n{renew}", *more]))
    return problems


def main() -> None:
    words = [word for word in sys.argv[1:] if word != "--write"]
    capi, libraries = Path(words[0]), [Path(word) for word in words[1:]]
    if "--write" in sys.argv:
        text = joined(capi / "include")
        (capi / "abi" / f"billcore-{version(text)}.h").write_text(text, "utf-8")
        for library in libraries:
            stored(capi, library).write_text(dump(capi, library))
    renew = " ".join(["python3", sys.argv[0], *words, "--write"])
    problems = check_headers(capi, renew)
    problems += [problem for library in libraries if (problem := check(capi, library, renew))]
    print("\n".join(problems) or "the same ABI: " + ", ".join(["headers", *(library.name for library in libraries)]))
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
