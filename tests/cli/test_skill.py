"""The blocks of python/docs/skill.md and llms.txt run, in order, in one folder; their links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from billcore.testing import Sandbox

from .support import environment

DOCS = Path(__file__).resolve().parents[2] / "python/docs"
BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def run_blocks(page: str, folder: Path, variables: dict[str, str]) -> str:
    """What the blocks print that are not tests."""
    out = ""
    for kind, text in BLOCK.findall((DOCS / page).read_text("utf-8")):
        command = ["sh", "-ec", text] if kind == "sh" else [sys.executable, "-Werror", "-c", text]
        is_test = "def test_" in text
        if is_test:
            (folder / "test_block.py").write_text(text, "utf-8")
            command = [sys.executable, "-m", "pytest", "-q", "-p", "billcore._pytest_plugin", "test_block.py"]
        done = subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True)
        assert done.returncode == 0, (text, done)
        out += "" if is_test else done.stdout
    return out


@pytest.mark.parametrize("page", ["skill.md", "llms.txt"])
def test_the_blocks(page: str, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/billcore").write_text(f'#!/bin/sh\nexec {sys.executable} -m billcore "$@"\n', "utf-8")
    (tmp_path / "bin/billcore").chmod(0o755)
    with Sandbox() as sandbox:
        (tmp_path / "key.txt").write_text(sandbox.api_key, "utf-8")
        variables = environment(sandbox, HOME=str(tmp_path), XDG_CONFIG_HOME="")
        variables["PATH"] = f"{tmp_path}/bin{os.pathsep}{variables['PATH']}"
        variables["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))  # also where the sandbox is
        out = run_blocks(page, tmp_path, variables)
        assert "480001\tactive" in out
        if page == "skill.md":  # the command and the program have the same key
            [charge] = sandbox.control.ledger("charge")
            assert charge["amount"] == 1500 and f"order {charge['order_id']} is paid" in out


def test_the_links() -> None:
    for page in ("skill.md", "llms.txt"):
        links = re.findall(r"\]\(([^)#:]+)\)", (DOCS / page).read_text("utf-8"))
        assert links and [link for link in links if not (DOCS / link).exists()] == []
