"""Copies the source tree, so that a test can change the data in core/interface."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PARTS = (
    "CMakeLists.txt",
    "CMakePresets.json",
    "LICENSE",
    ".clang-format",
    ".gitattributes",
    "pyproject.toml",
    ".rustfmt.toml",
    "core",
    "capi",
    "python",
    "tests/rust",
    "tests/go",
    "tests/core/support",
    "tests/capi/support",
    "tests/fixtures/errors.json",
)


def copy_of_the_tree(folder: Path) -> Path:
    """Copies the files in PARTS that git does not ignore. Returns the root of the copy."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--", *PARTS]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    tree = folder / "tree"
    for name in listed:
        if (ROOT / name).exists():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, tree / name)
    return tree


def generate(tree: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(tree / "core/interface/generate.py"), *options]
    return subprocess.run(command, capture_output=True, text=True)
