"""The table of README's section Install: each line reaches a first call on a machine that has only what it names."""

from __future__ import annotations

import re
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
