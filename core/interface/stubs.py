"""Turns the docstrings and signatures of a Python stub into C++ constants."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from typing import NamedTuple

from prepare.words import snake

# Classes whose members share the docstrings of another class.
TWINS = {"AsyncClient": "Client"}


class Entry(NamedTuple):
    name: str
    signature: str | None  # a C++ string literal
    text: str


def literal(text: str) -> str:
    """Returns the text as a C++ string literal, one piece for each line."""
    lines = text.split("\n")
    escaped = [line.replace("\\", "\\\\").replace('"', '\\"') for line in lines]
    return "\n".join([*(f'"{line}\\n"' for line in escaped[:-1]), f'"{escaped[-1]}"'])


def signature(function: ast.FunctionDef) -> str:
    """Returns the signature without annotations, as Python shows it for functions written in C."""
    for argument in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs):
        argument.annotation = None
    if function.args.kwarg:
        function.args.kwarg.annotation = None
    return f"{function.name}({ast.unparse(function.args)})"


def _function(owner: str, node: ast.FunctionDef, text: str) -> Entry:
    is_property = any(isinstance(one, ast.Name) and one.id == "property" for one in node.decorator_list)
    name = f"{owner}{node.name.strip('_')}" if node.name.startswith("__") else f"{owner}{node.name}"
    return Entry(name, None if is_property else literal(signature(node)), literal(text))


def entries(module: ast.Module) -> Iterator[Entry]:
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and (text := ast.get_docstring(node)):
            yield _function("", node, text)
        if not isinstance(node, ast.ClassDef) or (text := ast.get_docstring(node)) is None:
            continue
        yield Entry(f"about_{snake(node.name)}", None, literal(text))
        seen: set[str] = set()
        groups = node.name.startswith("Async") and node.name not in ("AsyncClient", "AsyncPager")
        for member in node.body:
            if not isinstance(member, ast.FunctionDef) or member.name in seen or groups:
                continue
            # An __init__ without a docstring gets the docstring of its class, because editors show that of __init__.
            if member_text := ast.get_docstring(member) or (text if member.name == "__init__" else None):
                seen.add(member.name)
                if any(isinstance(one, ast.Name) and one.id == "overload" for one in member.decorator_list):
                    member = with_all_parameters(node, member)
                yield _function(f"{snake(node.name)}_", member, inspect.cleandoc(member_text))


def with_all_parameters(owner: ast.ClassDef, first: ast.FunctionDef) -> ast.FunctionDef:
    """Merges the overloads of `first` into one function with the keyword parameters of all of them, each optional."""
    keywords: dict[str, ast.arg] = {}
    for member in owner.body:
        if isinstance(member, ast.FunctionDef) and member.name == first.name:
            keywords.update((one.arg, one) for one in member.args.kwonlyargs)
    positional = first.args.posonlyargs[1:]
    others = [member for member in owner.body if isinstance(member, ast.FunctionDef) and member.name == first.name]
    for place, argument in enumerate(positional, start=1):
        kinds = dict.fromkeys(ast.unparse(one.args.posonlyargs[place].annotation or argument) for one in others)
        argument.annotation = ast.parse(" | ".join(kinds), mode="eval").body
    last = [keywords.pop(name) for name in ("timeout", "total_timeout")]
    first.args.kwonlyargs = [*keywords.values(), *last]
    first.args.kw_defaults = [ast.Name("NOT_GIVEN")] * len(first.args.kwonlyargs)
    return first
