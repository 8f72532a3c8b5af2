"""Every row of the resource tables must have a C getter, a C++ accessor and a line in the Python stubs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .fixtures import load

ROOT = Path(__file__).resolve().parent.parent.parent
ROWS: list[dict[str, Any]] = load("fields.json")["rows"]

# The number of rows in each table of the service interface. If fields.json lacks a field, only these numbers show it:
# the other tests check the fields that fields.json has.
TABLES = {
    "Subscription": 16,
    "Order": 12,
    "Order.delivery": 1,
    "Product": 16,
    "Product.images[]": 2,
    "Product.strings": 5,
    "CustomFieldValue": 4,
    "Product group": 3,
    "Pagination": 6,
    "Pagination.links": 2,
    "Event envelope": 5,
}


def _read(paths: Iterable[Path], what: str) -> str:
    found = sorted(paths)
    assert found, f"there is no {what} yet"
    return "\n".join(path.read_text("utf-8") for path in found)


def _cpp_classes(text: str) -> dict[str, str]:
    """Maps the name of each class that begins in the first column to the text of its body."""
    text = re.sub(r"//[^\n]*", "", text)
    pattern = re.compile(r"^(?:class|struct) (\w+)[^;{]*\{(.*?)^\};", re.MULTILINE | re.DOTALL)
    return {match[1]: match[2] for match in pattern.finditer(text)}


def _stub_classes(text: str) -> dict[str, str]:
    pattern = re.compile(r"^class (\w+)[^\n]*:(.*?)(?=^\S|\Z)", re.MULTILINE | re.DOTALL)
    classes: dict[str, str] = {}
    for match in pattern.finditer(text):
        classes[match[1]] = classes.get(match[1], "") + match[2]
    return classes


def missing_c(header: str, rows: list[dict[str, Any]]) -> list[str]:
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", header, flags=re.DOTALL)
    return [row["c_getter"] for row in rows if not re.search(rf"\b{row['c_getter']}\s*\(", text)]


def missing_members(classes: dict[str, str], rows: list[dict[str, Any]], member: str, pattern: str) -> list[str]:
    return [
        f"{row['class']}.{row[member]}"
        for row in rows
        if not re.search(pattern.format(re.escape(row[member])), classes.get(row["class"], ""), re.MULTILINE)
    ]


CPP_ACCESSOR = r"\b{}\(\) const\b"
STUB_LINE = r"^    (?:{0}: |def {0}\(self\) -> )"


def test_every_table_is_whole() -> None:
    counts = {name: sum(row["resource"] == name for row in ROWS) for name in TABLES}
    assert counts == TABLES and len(ROWS) == sum(TABLES.values())
    assert len({(row["resource"], row["field"]) for row in ROWS}) == len(ROWS)


def test_c_getters() -> None:
    header = _read((ROOT / "capi/include").rglob("*.h"), "capi/include/billcore.h")
    missing = missing_c(header, ROWS)
    assert not missing, "billcore.h lacks: " + ", ".join(missing)


def test_cpp_accessors() -> None:
    headers = _read((ROOT / "core/include/billcore").glob("*.hpp"), "header in core/include/billcore")
    missing = missing_members(_cpp_classes(headers), ROWS, "cpp_member", CPP_ACCESSOR)
    assert not missing, "the C++ headers lack: " + ", ".join(missing)


def test_python_stubs() -> None:
    stubs = _read((ROOT / "python/billcore").glob("*.pyi"), "stub in python/billcore")
    missing = missing_members(_stub_classes(stubs), ROWS, "member", STUB_LINE)
    assert not missing, "the Python stubs lack: " + ", ".join(missing)
