"""The tables at the end of the pages in python/docs/with: each release is the pinned one, and each test exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "python/docs/with").glob("*.md"))
PINS = dict(
    line.lower().split("==")
    for name in ("tests/requirements.txt", "tests/meets/requirements.txt")
    for line in (ROOT / name).read_text("utf-8").splitlines()
    if "==" in line
)
NO_PACKAGE = {"Debian 12", "Python 3.11", ""}


@pytest.mark.parametrize("page", [page for page in PAGES if page.name != "index.md"], ids=lambda page: page.name)
def test_the_table_of_a_page(page: Path) -> None:
    table = page.read_text("utf-8").partition("| program | release | test |\n|---|---|---|\n")[2]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    assert rows
    for program, release, tests in rows:
        assert release in NO_PACKAGE or PINS[program.lower()] == release, program
        named = re.findall(r"`(tests/[^`]+)`", tests)
        assert (named or "this page" in tests) and all((ROOT / name).is_file() for name in named), tests
