"""The table of README's section Install: each line reaches a first call on a machine that has only what it names."""

from __future__ import annotations

import platform
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from release.roots import Root

ROOT = Path(__file__).resolve().parents[2]
ROWS = {
    language: columns
    for language, *columns in re.findall(
        r"^\| \[(\S+)\]\([^)]+\) \| (.*) \| `(.*)` \| `(.*)` \|$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE
    )
}
# What a user has before the first command: a program in the place where the language's tool looks for it.
PROGRAMS = {
    "Python": ("python/find.py", "find.py"),
    "Go": ("go/find/main.go", "main.go"),
    "Rust": ("rust/find.rs", "src/main.rs"),
    "C": ("c/find.c", "find.c"),
    "C++": ("installed", "installed"),
}
BEGINS = {
    "Python": "python3 -m venv .venv",
    "Go": "/usr/local/go/bin/go mod init shop",
    "Rust": 'printf \'[package]\\nname = "shop"\\nversion = "0.1.0"\\nedition = "2024"\\n\' >Cargo.toml',
}
PATH = "PATH=~/.venv/bin:/usr/local/go/bin:$PATH; "


def test_the_table_has_a_line_for_each_language() -> None:
    assert ROWS.keys() == PROGRAMS.keys()


def test_the_line_for_python_names_one_wheel(tmp_path: Path) -> None:
    """A whole release has wheels for two processors and two C libraries; pip refuses those that do not fit."""
    tags = [f"manylinux_2_17_{cpu}.manylinux2014_{cpu}" for cpu in ("x86_64", "aarch64")]
    tags += [f"musllinux_1_2_{cpu}" for cpu in ("x86_64", "aarch64")]
    (tmp_path / "dist").mkdir()
    for name in (*(f"billcore-0.1.0-cp311-cp311-{tag}" for tag in tags), "billcore_sandbox-0.1.0-py3-none-any"):
        (tmp_path / f"dist/{name}.whl").touch()
    named = subprocess.run(
        f"echo {ROWS['Python'][1]}", shell=True, cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout.split()
    assert len(named) == 4 and f"manylinux2014_{platform.machine()}.whl" in named[2], named


@pytest.mark.parametrize("language", ROWS)
def test_one_line_installs(
    language: str, minimal_root: Callable[..., Root], service: dict[str, str], dist: Path
) -> None:
    if language == "Rust" and not (dist / "cargo").exists():
        pytest.skip("this release has no crates: only Rust 1.90 or newer packs them")
    needs, install, call = ROWS[language]
    packages = re.findall(r"`([^`]+)`", needs)
    root = minimal_root(*packages, *(["ccache"] if "g++" in packages else []))
    root.cache_compilations()
    source, place = PROGRAMS[language]
    root.copy(ROOT / "examples" / source, place)
    if language == "C++":  # its CMakeLists.txt builds the programs beside its folder
        for each in ("c", "cpp"):
            root.copy(ROOT / "examples" / each, each)
    if language == "Go":
        root.use_go()
    root.run(f"ln -s /dist dist && {BEGINS.get(language, 'true')}")
    root.run(PATH + install)
    assert root.run(PATH + call, env=service).stdout.splitlines()[-1] == "480001 active"
