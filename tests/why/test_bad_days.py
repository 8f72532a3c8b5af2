"""Runs examples/why/bad_days.py, and compares what it prints with the table in examples/why/README.md."""

from __future__ import annotations

import subprocess
import sys
from itertools import dropwhile, takewhile
from pathlib import Path

from support.children import child_environment
from support.waiting import LONG

FOLDER = Path(__file__).resolve().parents[2] / "examples" / "why"


def table_of_days(text: str) -> list[str]:
    lines = dropwhile(lambda line: not line.startswith("|  | the day |"), text.splitlines())
    return list(takewhile(lambda line: line.startswith("|"), lines))


def test_the_table_is_what_happens() -> None:
    command = [sys.executable, str(FOLDER / "bad_days.py"), "--markdown"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONG, env=child_environment())
    assert done.returncode == 0, done.stderr
    table = table_of_days(done.stdout)
    assert len(table) == 2 + 14
    assert table == table_of_days((FOLDER / "README.md").read_text(encoding="utf-8"))
