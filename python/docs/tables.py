"""Makes tables for the site from the data in core/interface and from the sandbox's routes."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "core/interface"), str(ROOT / "python/sandbox")]

from generate import read  # noqa: E402
from prepare import prepared  # noqa: E402
from prepare.go_faces import exported  # noqa: E402
from prepare.rust_faces import rust_variant  # noqa: E402
from prepare.words import cpp_identifier, snake  # noqa: E402

from billcore_sandbox.control.routes import PREFIX, ROUTES  # noqa: E402


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """Returns a table in Markdown."""
    names = list(head)
    lines = [names, ["---"] * len(names), *rows]
    return "\n".join(f"| {' | '.join(each.replace('|', chr(92) + '|') for each in line)} |" for line in lines) + "\n"


def operations() -> str:
    """Returns a table for each group of operations, with routes and names. A name that a language lacks is empty."""
    sources = {
        "go": "".join(path.read_text("utf-8") for path in (ROOT / "capi/go").glob("*.go")),
        "rust": "".join(path.read_text("utf-8") for path in (ROOT / "capi/rust/billcore/src/client").glob("*.rs")),
        "c": "".join(path.read_text("utf-8") for path in (ROOT / "capi/include/billcore").glob("*.h")),
    }

    def known(language: str, name: str, shown: str) -> str:
        return f"`{shown}`" if re.search(rf"\b{name}\b", sources[language]) else ""

    parts = []
    for group in prepared(read(ROOT / "core/interface"))["groups"]:
        of = snake(group["name"])
        rows = [
            [
                f"`{each['method']} {each['path']}`",
                f"`{of}.{each['name']}`",
                known("go", exported(each["name"]), f"{exported(of)}().{exported(each['name'])}"),
                known("rust", each["name"], f"{of}().{each['name']}"),
                known("c", each["c_function"], each["c_function"]),
                f"`{of}().{each['name']}`",
            ]
            for each in group["operations"]
        ]
        parts.append(f"## {group['name']}\n\n{group['doc']}\n")
        parts.append(table(["route", "Python", "Go", "Rust", "C", "C++"], rows))
    return "\n".join(parts)


def errors() -> str:
    """Returns the table of errors, with their names in five languages."""
    data = prepared(read(ROOT / "core/interface"))
    in_go = {row["name"] for row in data["go_codes"]}
    rows = [
        [
            str(each["number"]),
            f"`{each['python']['class']}`" if each["python"] else "",
            f"`Err{exported(each['name'])}`" if each["name"] in in_go else "",
            f"`{rust_variant(each['name'])}`",
            f"`BILLCORE_ERROR_{each['name'].upper()}`",
            f"`{cpp_identifier(each['name'])}`",
            each["doc"].replace("<", "&lt;"),
        ]
        for each in data["errors"]
        if each["number"] > 1
    ]
    return table(["number", "Python", "Go", "Rust", "C", "C++", "meaning"], rows)


def routes() -> str:
    """Returns the table of the control routes, with the first sentence of the description of each."""

    def about(action: Callable[..., Any]) -> str:
        return " ".join((action.__doc__ or "").split()).partition(". ")[0].removesuffix(".")

    rows = [[f"`{each.method}`", f"`{each.path}`", about(each.action)] for each in ROUTES]
    return f"All paths are below `{PREFIX}`.\n\n" + table(["method", "path", "what it does"], rows)


MADE = {"reference/languages": operations, "reference/error_names": errors, "reference/sandbox": routes}
