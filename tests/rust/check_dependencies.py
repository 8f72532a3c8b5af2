"""Checks the dependencies of the Rust crates: their number, source, licence and minimum Rust version.

The script does not look up known vulnerabilities, which needs a database that no package registry has.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent.parent
LICENCES = {"MIT", "Apache-2.0", "BSD-3-Clause", "ISC", "Unicode-3.0", "Zlib", "Unlicense"}
OLDEST = (1, 85)
# For each set of features of the crate billcore, how many crates a program may link. Proc macros and build dependencies
# do not count.
MOST = {
    "": 2,
    "client": 2,
    "client,static": 2,
    "vendored": 5,
    "client,vendored": 7,
    "client,vendored-openssl": 8,
    "secrecy": 4,
    "time": 7,
    "chrono": 5,
    "tracing": 6,
    "serde": 8,
    "tower": 11,
    "tokio": 8,
    "async-io": 18,
}


def metadata(*options: str) -> dict[str, Any]:
    command = ["cargo", "metadata", "--format-version=1", *options]
    found = subprocess.run(command, cwd=ROOT / "capi/rust", capture_output=True, text=True, check=True).stdout
    return dict(json.loads(found))


def version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2])


def allowed(licence: str | None) -> bool:
    """Whether a licence text is allowed: at least one of the licences joined by OR (or /), and all joined by AND."""
    words = (licence or "").replace("(", " ").replace(")", " ").replace("/", " OR ")
    return all(any(part.strip() in LICENCES for part in joined.split(" OR ")) for joined in words.split(" AND "))


def problems_of(package: dict[str, Any]) -> list[str]:
    name, found = f"{package['name']} {package['version']}", []
    if package["source"] is not None and not package["source"].startswith("registry+"):
        found.append(f"{name} comes from {package['source']}, not from the registry")
    if not allowed(package["license"]):
        found.append(f"{name} has the licence {package['license']}")
    if package["rust_version"] and version(package["rust_version"]) > OLDEST:
        found.append(f"{name} needs Rust {package['rust_version']}")
    return found


def linked(features: str) -> set[str]:
    """The crates that a program links if it uses billcore with `features`, including billcore itself.

    Asks `cargo tree`: `cargo metadata` also lists optional crates that a feature of the form "crate?/feature" names.
    """
    command = ["cargo", "tree", "--package=billcore", "--edges=normal,no-proc-macro", "--prefix=none", "--format={p}"]
    command += ["--no-default-features", f"--features={features}"]
    tree = subprocess.run(command, cwd=ROOT / "capi/rust", stdout=subprocess.PIPE, text=True, check=True).stdout
    return {line.removesuffix(" (*)") for line in tree.splitlines()}


def main() -> int:
    problems = [problem for package in metadata("--all-features")["packages"] for problem in problems_of(package)]
    counts = []
    for features, most in MOST.items():
        count = len(linked(features))
        counts.append(f"{features or 'none'} {count}")
        if count > most:
            problems.append(f"with the features {features or 'none'} a program links {count} crates, not {most}")
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"crates that a program links, by feature: {', '.join(counts)}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
