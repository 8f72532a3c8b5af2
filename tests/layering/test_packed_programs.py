"""A program that packs an application, such as PyInstaller, finds modules by reading import statements. The modules
that billcore loads by other means are therefore named in functions that never run, `_loaded_later`."""

from __future__ import annotations

import ast
import re
from importlib.util import resolve_name
from pathlib import Path

from billcore.cli import COMMANDS

ROOT = Path(__file__).resolve().parent.parent.parent
CPP_IMPORT = re.compile(r'\bimport\("([\w.]+)"\)')


def named(package: str) -> set[str]:
    """The modules that the package's `_loaded_later` names."""
    tree = ast.parse((ROOT / "python" / package.replace(".", "/") / "__init__.py").read_text("utf-8"))
    (function,) = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "_loaded_later")
    found = set()
    for node in function.body:
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            home = resolve_name("." * node.level + (node.module or ""), package)
            found |= {f"{home}.{each.name}" for each in node.names}
    return found


def test_every_module_that_cpp_imports_is_named() -> None:
    sources = [path.read_text("utf-8") for path in (ROOT / "python/src").rglob("*.[ch]pp")]
    wanted = {name for source in sources for name in CPP_IMPORT.findall(source)}
    assert {"billcore._shown", "asyncio", "decimal"} < wanted  # the expression still finds them
    assert wanted - named("billcore") == {"billcore"}


def test_every_command_is_named() -> None:
    assert named("billcore.cli") == {f"billcore.cli.{name}" for group in COMMANDS.values() for name in group}
