"""Runs the commands of "Start" in examples/README.md, word for word and in order, in a copy of this tree.

Usage: check_first_page.py

Before the last command, which stops the sandbox, the script runs the commands of "Build and install" in capi/README.md
and the Python at the top of README.md.

A command that is followed by a comment must print the text of the comment. The check does not install packages (it
checks that the packages are installed), and it skips the commands that run all tests.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MARK = "check_first_page: block "
ELSEWHERE = ("apt-get", "tests/run.sh")  # blocks that contain one of these texts are skipped


@dataclass(frozen=True)
class Block:
    text: str
    expected: list[str]


def section(page: str, title: str) -> list[Block]:
    found = re.search(rf"^## {title}$(.*?)^## ", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    if found is None:
        sys.exit(f"{page} has no section {title}")
    texts = re.findall(r"^```sh\n(.*?)^```$", found[1], re.MULTILINE | re.DOTALL)
    return [Block(text, re.findall(r"\S +# (.*)$", text, re.MULTILINE)) for text in texts]


def blocks() -> list[Block]:
    *start, stop = section("examples/README.md", "Start")
    return [*start, *section("capi/README.md", "Build and install"), stop]


# Defines the names that the second Python block of README.md uses but does not define.
RECEIVER_SETUP = """
import types
from billcore import testing
body, signature = testing.event("order.paid")
secret, shipped = testing.SECRET, []
ship, request = shipped.append, types.SimpleNamespace(headers={"Service-Signature": signature})
"""


def first_screen() -> list[str]:
    """Returns shell commands that run the two Python blocks on README.md's first screen."""
    charging, receiving = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text("utf-8"), re.M | re.S)
    programs = (
        f"{charging}assert order.total_with_vat == 1875\n",
        f"{RECEIVER_SETUP}{receiving}assert len(shipped) == 1\n",
    )
    return [f"python -c {shlex.quote(program)}" for program in programs]


def missing_packages(text: str) -> list[str]:
    names = re.search(r"--no-install-recommends((?:[^\n]*\\\n)*[^\n]*)", text)
    assert names is not None
    query = ["dpkg-query", "-W", "-f=${db:Status-Status}"]
    packages = names[1].replace("\\\n", " ").split()
    return [name for name in packages if subprocess.run([*query, name], capture_output=True).stdout != b"installed"]


@contextlib.contextmanager
def fresh_folder(path: Path) -> Iterator[Path]:
    """Yields an empty folder, and removes it at the end. Waits while another run uses the same folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir()
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)


def copy_tree(to: Path) -> None:
    """Makes a separate repository with the content of this tree, including uncommitted changes."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (ROOT / name).exists():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    git = ["git", "-c", "user.name=check", "-c", "user.email=check@localhost", "-c", "init.defaultBranch=main"]
    for arguments in (["init"], ["add", "--all"], ["commit", "--message", "copy"]):
        subprocess.run([*git, *arguments], cwd=to, check=True, capture_output=True)


# Commands that test what the prose of these pages claims. The commands run before the last
# block, which stops the sandbox.
FURTHER_CHECKS = r"""
cc examples/c/find.c -o build/no-run-path $(pkg-config --cflags --libs billcore)
if build/no-run-path demo-active; then echo "it needs no run path?"; exit 1; fi
LD_LIBRARY_PATH="$prefix/lib" build/no-run-path demo-active
ldd build/find-shared | grep libbillcore
if ldd build/find-static build/installed/find build/installed/verify-c | grep libbillcore; then exit 1; fi
install="pip install --quiet --dry-run --no-deps"
$install "$PWD"
$install "billcore @ git+file://localhost$PWD" # the URL of a requirement must have a host
pip install --quiet --dry-run '.[otel]'
"""


def script(parts: list[Block]) -> str:
    """Returns one shell script with all blocks."""
    lines = ["set -euo pipefail", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"]
    for number, part in enumerate(parts):
        if number == len(parts) - 1:
            lines += [FURTHER_CHECKS, *first_screen()]
        lines += [f"echo '{MARK}{number}'", part.text]
    return "\n".join(lines)


def main() -> int:
    found = blocks()
    for block in found:
        if "apt-get install" in block.text and shutil.which("dpkg-query") and missing_packages(block.text):
            sys.exit(f"these packages are missing: {' '.join(missing_packages(block.text))}")
    parts = [block for block in found if not any(word in block.text for word in ELSEWHERE)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("BILLCORE_", "PYTHON"))}
    cache = environment.setdefault("XDG_CACHE_HOME", str(Path.home() / ".cache"))
    # Use the same folder for every clone, so that ccache can reuse earlier compilations.
    with fresh_folder(Path(cache, "billcore", "first-page")) as folder:
        checkout, home = folder / "checkout", folder / "home"
        checkout.mkdir()
        home.mkdir()
        copy_tree(checkout)
        environment["HOME"] = str(home)
        # Use the build folder of tests/run.sh, so that ccache can reuse its compilations.
        environment["SKBUILD_BUILD_DIR"] = "build/wheel"
        done = subprocess.run(
            ["bash", "-c", script(parts)],
            cwd=checkout,
            env=environment | {"CCACHE_BASEDIR": str(checkout)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=3600,
        )
    outputs = done.stdout.split(MARK)[1:]
    problems = [] if done.returncode == 0 else [f"a command ended with {done.returncode}, in block {len(outputs)}"]
    for part, output in zip(parts, outputs, strict=False):
        lines = iter(output.splitlines())
        problems += [f"this was not printed: {line!r}" for line in part.expected if line not in lines]
    if sum(len(part.expected) for part in parts) < 8:
        problems.append("the section expects too little: its comments should say what is printed")
    if problems:
        print(done.stdout[-6000:], *problems, sep="\n", file=sys.stderr)
        return 1
    print(f"{len(parts)} passed: the commands of examples/README.md and capi/README.md work as described")
    return 0


if __name__ == "__main__":
    sys.exit(main())
