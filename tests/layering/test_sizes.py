"""No hand-written source file is too long to read in one sitting."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
MOST = 400  # lines
CODE = ("*.cpp", "*.hpp", "*.c", "*.h", "*.py", "*.sh")  # no stubs (*.pyi): they repeat other text
APART = ("tests/bench/",)  # programs to be compared, each self-contained


def files_of_code() -> list[str]:
    """Source files that git tracks or would add."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *CODE]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [name for name in listed if not name.startswith(APART) and (ROOT / name).exists()]


def test_the_files_are_seen() -> None:
    seen = set(files_of_code())
    assert {name.partition("/")[0] for name in seen} >= {"core", "capi", "python", "examples", "tests"}
    assert {"tests/run.sh", "tests/layering/test_sizes.py"} <= seen and len(seen) > 400


def test_no_file_is_longer() -> None:
    lines = {name: len((ROOT / name).read_bytes().splitlines()) for name in files_of_code()}
    assert {name: count for name, count in lines.items() if count > MOST} == {}
