"""Checks that no module of the sandbox imports itself through others, also not only for its types: a reader can begin
with a module that imports nothing, and never needs two modules at once."""

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
