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


def refusal(output: Path, platform: str, build_folder: str) -> str:
    """Runs finish.py, which must refuse the wheel under test, and returns its error text."""
    wheel = os.environ["BILLCORE_WHEEL"]
    command = [sys.executable, str(ROOT / "python/wheel/finish.py"), wheel, "--platform", platform]
    command += ["--output", str(output), "--build-folders", build_folder]
    made = subprocess.run(command, capture_output=True, text=True)
    assert made.returncode == 1 and not list(output.iterdir())
    return made.stderr


def test_a_wheel_that_needs_a_newer_glibc_is_refused(tmp_path: Path) -> None:
    error = refusal(tmp_path, "manylinux_2_5_x86_64", "/not/built/here")  # a tag that is too old
    assert "newer than its tag says: build for an older glibc" in error
    assert "/not/built/here" not in error


def test_a_wheel_with_a_path_of_the_building_machine_is_refused(tmp_path: Path) -> None:
    """Each wheel contains the path /nonexistent/billcore, of OpenSSL's configuration. Here it stands for a path of the
    building machine."""
    error = refusal(tmp_path, "manylinux_2_17_x86_64", "/nonexistent/billcore")
    assert "contains the path /nonexistent/billcore, which differs from machine to machine" in error
