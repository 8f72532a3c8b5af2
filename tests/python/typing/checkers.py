"""Runs the type checkers over files and returns the lines that each checker refuses."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import billcore

PACKAGE = Path(os.path.abspath(billcore.__file__)).parent.parent


class Problem(NamedTuple):
    file: str
    line: int
    text: str


def run(command: list[str], folder: Path) -> str:
    """Returns the output of the command; raises if the command could not run."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(PACKAGE),
        "MYPY_CACHE_DIR": str(folder.parent / "mypy-cache"),  # of all tests of this run
        # pyright and its Node.js are both installed from wheels, so nothing is downloaded.
        "PYRIGHT_PYTHON_GLOBAL_NODE": "0",
        "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1",
    }
    environment.pop("LD_PRELOAD", None)  # the sanitizer's run-time only slows the checker down
    done = subprocess.run(
        [sys.executable, "-m", *command], capture_output=True, text=True, cwd=folder, env=environment, timeout=600
    )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return done.stdout


def _lines(output: str) -> list[Problem]:
    """Parses lines of the form FILE:LINE:COLUMN: error…"""
    found = re.findall(r"^(?:ERROR )?(\w+\.py):(\d+):[\d:-]* (?:error\b)?(.*)$", output, re.MULTILINE)
    return [Problem(file, int(line), text) for file, line, text in found if not text.startswith(" note")]


def _mypy(folder: Path) -> list[Problem]:
    options = ["--strict", "--no-error-summary", "--show-column-numbers", "--enable-error-code=exhaustive-match"]
    return _lines(run(["mypy", *options, "."], folder))


def _pyright(folder: Path) -> list[Problem]:
    settings = {"typeCheckingMode": "strict", "pythonVersion": "3.11", "extraPaths": [str(PACKAGE)]}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), "utf-8")
    found = json.loads(run(["pyright", "--outputjson"], folder))["generalDiagnostics"]
    assert all(one["severity"] == "error" for one in found), found
    return [Problem(Path(one["file"]).name, one["range"]["start"]["line"] + 1, one["message"]) for one in found]


def _pyrefly(folder: Path) -> list[Problem]:
    command = [
        "pyrefly",
        "check",
        "--preset=strict",
        "--output-format=min-text",
        # Not --search-path: with that option pyrefly would read the installed typing_extensions.py instead of its own
        # stub, and the installed Buffer accepts everything.
        f"--site-package-path={PACKAGE}",
        f"--site-package-path={folder}",  # a program may import one beside it
        "--python-version=3.11",
    ]
    return _lines(run([*command, "--summary=none", "*.py"], folder))


def _ty(folder: Path) -> list[Problem]:
    command = ["ty", "check", "--output-format=concise", f"--extra-search-path={PACKAGE}", "--python-version=3.11"]
    return _lines(run([*command, "--no-progress", "."], folder))


CHECKERS: dict[str, Callable[[Path], list[Problem]]] = {
    "mypy": _mypy,
    "pyright": _pyright,
    "pyrefly": _pyrefly,
    "ty": _ty,
}
