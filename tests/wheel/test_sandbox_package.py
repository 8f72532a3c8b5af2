"""The wheel of the sandbox: its page needs htmx, which the build takes from the package django-htmx."""

from __future__ import annotations

import hashlib
import importlib.metadata
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
STATIC = "billcore_sandbox/page/static"
SHA256 = "71ea67185bfa8c98c39d31717c6fce5d852370fcdfd129db4543774d3145c0de"


def test_the_installed_package_has_htmx_and_its_licence() -> None:
    package = importlib.metadata.distribution("billcore-sandbox")
    files = {str(each): each for each in package.files or []}
    assert hashlib.sha256(files[f"{STATIC}/htmx.min.js"].read_binary()).hexdigest() == SHA256
    licence = f"billcore_sandbox-{package.version}.dist-info/licenses/{STATIC}/htmx.LICENSE"
    assert "Copyright (c) 2020, Big Sky Software" in files[licence].read_text("utf-8")
    assert package.metadata["License-Expression"] == "MIT AND 0BSD"


@pytest.mark.parametrize("made", [False, True])
def test_it_builds_without_django_htmx(tmp_path: Path, made: bool) -> None:
    """Then the page says what is missing. made: the tree has the file, as a checkout has it for tests."""
    leave_out = shutil.ignore_patterns("__pycache__", "htmx.min.js")
    source = shutil.copytree(ROOT / "python/sandbox", tmp_path / "sandbox", ignore=leave_out)
    if made:
        (source / STATIC / "htmx.min.js").write_text("// another version")
    command = [sys.executable, "-m", "pip", "wheel", "-v", "--no-build-isolation", "--no-deps", "--no-index"]
    done = subprocess.run([*command, "-w", str(tmp_path), str(source)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "without htmx, because django-htmx is missing: the page will say so" in done.stdout + done.stderr
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = wheel.namelist()
    assert f"{STATIC}/page.js" in names and f"{STATIC}/htmx.min.js" not in names
