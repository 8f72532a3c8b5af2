"""Checks that each file in LISTS documents every reason that a list's verdict may have."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LISTS = (
    "core/include/billcore/pager.hpp",
    "capi/include/billcore/pager.h",
    "python/billcore/_types.py",
    "python/docs/lists.md",
)


def test_every_list_of_reasons_is_whole() -> None:
    text = (ROOT / "core/src/paging/pager_state.cpp").read_text()
    table = re.search(r"reasons\{(.*?)\};", text, re.DOTALL)
    assert table
    reasons = re.findall(r'"(\w+)"', table[1])
    assert len(reasons) >= 8
    for path in LISTS:
        listed = (ROOT / path).read_text()
        assert [reason for reason in reasons if not re.search(rf'["`]{reason}["`]', listed)] == [], path
