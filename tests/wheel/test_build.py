"""Tests that the build of the wheel refuses wrong inputs, each with an error that says in one sentence what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def test_a_crate_with_another_hash_is_not_unpacked(tmp_path: Path) -> None:
    registry = tmp_path / "cargo/registry/cache/index"
    registry.mkdir(parents=True)
    (registry / "some-1.0.0.crate").write_bytes(b"not what was pinned")
    script = f". tests/setup.sh; bc_crate some 1.0.0 {'0' * 64}"
    done = subprocess.run(
        ["bash", "-ec", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "CARGO_HOME": str(tmp_path / "cargo"), "XDG_CACHE_HOME": str(tmp_path / "cache")},
    )
    assert done.returncode != 0
    assert "does not have the pinned hash: delete it and try again, or correct the pin" in done.stderr
    assert not list((tmp_path / "cache").glob("**/complete"))


def finish(wheel: Path, output: Path, platform: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "python/wheel/finish.py"), str(wheel), "--platform", platform]
    return subprocess.run([*command, "--output", str(output)], capture_output=True, text=True)


def test_a_wheel_that_needs_a_newer_glibc_is_refused(tmp_path: Path) -> None:
    """finish.py refuses a wheel that needs a newer glibc than its tag allows; the test passes a tag that is too
    old."""
    made = finish(Path(os.environ["BILLCORE_WHEEL"]), tmp_path, "manylinux_2_5_x86_64")
    assert made.returncode != 0 and not list(tmp_path.glob("*.whl"))
    assert "newer than its tag says: build for an older glibc" in made.stderr
