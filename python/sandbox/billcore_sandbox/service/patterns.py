"""Finds the operations that a fault or a wait selects by a name, a method or a path pattern."""

from __future__ import annotations

from billcore_sandbox.errors import invalid
from billcore_sandbox.faults import glob
from billcore_sandbox.options import Options
from billcore_sandbox.service.routes import OPERATIONS, Operation


def named_operation(name: str) -> str:
    """The full name of an operation. name: this name, or its part after the dot if unique. Raises Refusal 422."""
    found = [each.name for each in OPERATIONS if name in (each.name, each.name.partition(".")[2])]
    if len(found) == 1:
        return found[0]
    listed = ", ".join(found or [each.name for each in OPERATIONS])
    raise invalid(f"{name!r} {'names several operations' if found else 'is not an operation'}: use one of {listed}.")


def check_errors(options: Options) -> None:
    """Refuse --errors with the name of an operation or a code that does not exist. Raises Refusal 422."""
    for name, codes in (options.errors or {}).items():
        full = named_operation(name)
        there = next(each for each in OPERATIONS if each.name == full).errors(options)
        for code in codes:
            if code not in there:
                raise invalid(f"The operation {full} has no error {code!r}: it has {', '.join(there)}.")


def matching(operation: str | None, method: str | None, path: str | None) -> list[Operation]:
    """The operations that fit the name, the method and the path pattern. Raises Refusal 422 if no operation fits."""
    wanted = "GET" if method == "HEAD" else method
    found = [
        each
        for each in OPERATIONS
        if operation in (None, each.name) and wanted in (None, each.method) and (path is None or _meet(path, each.path))
    ]
    if found:
        return found
    asked = " ".join(each for each in (operation, method, path) if each is not None)
    routes = ", ".join(f"{each.method} {each.path} ({each.name})" for each in OPERATIONS)
    raise invalid(f"No request can match {asked!r}: the routes are {routes}; in a path, * does not cross a slash.")


def _meet(pattern: str, route: str) -> bool:
    """Whether a path exists that matches both the pattern and the route."""
    wanted, there = pattern.split("/"), route.split("/")
    return len(wanted) == len(there) and all(
        each != "" if name == "{id}" else glob(each).fullmatch(name) is not None
        for each, name in zip(wanted, there, strict=True)
    )
