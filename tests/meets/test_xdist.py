"""pytest-xdist: each worker has a sandbox of its own, and each test an account of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path


def test_two_workers(tmp_path: Path) -> None:
    shutil.copy(Path(__file__).with_name("xdist_suite.py"), tmp_path / "test_shop.py")
    (tmp_path / "seen").mkdir()
    options = ["-q", "-n", "2", "-p", "no:ddtrace", "-p", "no:schemathesis"]
    command = [sys.executable, "-m", "pytest", *options, "test_shop.py"]
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_XDIST")}
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env={**own, "SEEN": str(tmp_path / "seen")}
    )
    assert done.returncode == 0 and "8 passed" in done.stdout, done.stdout
    seen = [file.read_text().split() for file in (tmp_path / "seen").iterdir()]
    assert len({url for _, url in seen}) == 8
    assert len({worker for worker, _ in seen}) == len({url.rpartition("/")[0] for _, url in seen}) == 2
