"""Reads the declarations of billcore.h and of the headers it includes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Parameter:
    type: str
    name: str


@dataclass(frozen=True)
class Function:
    name: str
    result: str
    parameters: tuple[Parameter, ...]
    documented: bool  # whether a comment with @since is right before the declaration
    since: str
    inline: bool  # an inline function in the header, not a function that a library exports


_DECLARATION = re.compile(
    r"(?P<comment>/\*\*(?:[^*]|\*(?!/))*\*/\s*)?"
    r"BILLCORE_(?P<kind>API|EXPORT|INLINE|INLINE_VOID)\s+(?P<result>[\w ]+[ *]+?)(?P<name>billcore_\w+)"
    r"\((?P<parameters>[^)]*)\)(?:;| \{)"
)


def _parameter(text: str) -> Parameter:
    text = re.sub(r"\s+", " ", text).strip()
    match = re.fullmatch(r"(.*?[ *])(\w+)", text)
    assert match is not None, text
    kind = re.sub(r" ?(\*+) ?", r" \1", match[1]).strip()
    return Parameter(kind, match[2])


def headers(include: Path) -> list[Path]:
    found = [include / "billcore.h", *sorted((include / "billcore").glob("*.h"))]
    assert len(found) > 1, f"no headers in {include}"
    # Without this line, Doxygen leaves the functions of a header out of the reference, and says nothing.
    assert all("/** @file" in path.read_text("utf-8") for path in found), "a header has no /** @file"
    return found


def functions_of(text: str, source: str) -> list[Function]:
    declared = len(re.findall(r"^BILLCORE_(?:API|EXPORT|INLINE|INLINE_VOID) ", text, re.MULTILINE))
    found = list(_DECLARATION.finditer(text))
    assert len(found) == declared, f"{source}: {declared} declarations, {len(found)} understood"
    functions = []
    for match in found:
        parameters = match["parameters"].strip()
        since = re.search(r"@since (\d+\.\d+)", match["comment"] or "")
        functions.append(
            Function(
                match["name"],
                match["result"].strip(),
                () if parameters == "void" else tuple(_parameter(p) for p in parameters.split(",")),
                since is not None,
                since[1] if since else "",
                match["kind"].startswith("INLINE"),
            )
        )
    return functions


def read_functions(include: Path) -> list[Function]:
    functions = [f for path in headers(include) for f in functions_of(path.read_text("utf-8"), path.name)]
    names = [function.name for function in functions]
    assert len(names) == len(set(names)), "a function is declared twice"
    return functions
