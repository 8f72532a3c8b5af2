"""Tests that the build of the wheel refuses wrong inputs, each with an error that says in one sentence what to do."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def build(*arguments: str) -> tuple[int, str]:
    done = subprocess.run([str(ROOT / "python/wheel/build.sh"), *arguments], capture_output=True, text=True)
    return done.returncode, done.stderr.strip()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ["--target", "riscv64-linux-gnu"],
            "there is no target 'riscv64-linux-gnu'; there are: x86_64-linux-gnu aarch64-linux-gnu x86_64-linux-musl "
            "aarch64-linux-musl",
        ),
        (["--fast"], "python/wheel/build.sh: there is no option '--fast'"),
        (["/bin/true"], "python/wheel/build.sh: /bin/true is not a CPython 3.11 or newer with the module venv"),
    ],
)
def test_the_build_script_refuses_wrong_arguments(arguments: list[str], sentence: str) -> None:
    assert build(*arguments) == (2, sentence)


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


def test_a_wheel_with_a_library_is_refused(tmp_path: Path) -> None:
    wheel = tmp_path / Path(os.environ["BILLCORE_WHEEL"]).name
    shutil.copy(os.environ["BILLCORE_WHEEL"], wheel)
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.write(sys.executable, "billcore.libs/libother.so.1")
    (tmp_path / "out").mkdir()
    made = finish(wheel, tmp_path / "out", "manylinux_2_17_x86_64")
    assert made.returncode != 0 and "should have two modules and no library" in made.stderr
