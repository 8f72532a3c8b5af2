"""Checks that no module of the sandbox imports itself through others, also not only for its types: a reader can begin
with a module that imports nothing, and never needs two modules at once. Also: the sandbox does not need the client."""

from __future__ import annotations

import ast
import graphlib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent / "python" / "sandbox"
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in (ROOT / "billcore_sandbox").rglob("*.py")
}


def imported(path: Path) -> set[str]:
    """The modules of the sandbox that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module in MODULES:
            found |= {name if (name := f"{node.module}.{each.name}") in MODULES else node.module for each in node.names}
    return found


def test_the_imports_of_the_sandbox_make_no_ring() -> None:
    imports = {name: imported(path) - {name, "billcore_sandbox"} for name, path in MODULES.items()}
    assert len(imports["billcore_sandbox.world"]) > 5
    try:
        graphlib.TopologicalSorter(imports).prepare()
    except graphlib.CycleError as error:
        raise AssertionError(" → ".join(error.args[1])) from None


def test_only_the_page_uses_the_client_and_only_if_it_is_there() -> None:
    used: dict[str, bool] = {}
    for name, path in MODULES.items():
        tree = ast.parse(path.read_text("utf-8"))
        inside = {each for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for each in ast.walk(f)}
        for node in ast.walk(tree):
            given = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            names = (
                [given, *(each.name for each in node.names)] if isinstance(node, ast.Import | ast.ImportFrom) else []
            )
            if any(each.split(".")[0] == "billcore" for each in names):
                used[name] = used.get(name, True) and node in inside
    views = "billcore_sandbox.page.views"
    assert used == {f"{views}.why": True, f"{views}.books": True}
