#!/usr/bin/env python3
"""Finds tests that limit a duration to less than LEAST seconds, and so fail on a busy machine: clocks.py FILE…

A test should wait for a condition, count events, or use a simulated clock. A test that needs the real clock uses LATE
of tests/support/waiting.py, or tens of seconds, as its limit. A test may assert a lower limit of a duration, because a
busy machine only makes durations longer.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

LEAST = 20.0  # the smallest upper limit that a test may assert, in seconds
CLOCKS = {"monotonic", "perf_counter", "time", "process_time"}
DURATIONS = {"took", "elapsed", "duration", "gap", "gaps", "longest"}
GENEROUS = {"LATE", "GENEROUS"}

NUMBER = r"(\d+(?:\.\d+)?)"
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "Microsecond": 1e-6, "Millisecond": 1e-3, "Second": 1, "Minute": 60}
PATTERNS = {
    ".cpp": rf"EXPECT_(?:LT|LE)\([^;]*now\(\)[^;]*?,\s*{NUMBER}(us|ms|s|min)\b",
    ".go": rf"(?:time\.Since\(\w+\)|\btook) >=? (?:{NUMBER} ?\* ?)?time\.(\w+)",
    ".rs": rf"assert!\([^;]*elapsed\(\) <=? Duration::from_(?:secs|millis)\({NUMBER}\)",
}


def _reads_a_clock(node: ast.expr, names: set[str]) -> bool:
    """Whether the expression reads a clock, or contains the name of a duration."""
    for part in ast.walk(node):
        match part:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="time"), attr=name)) if name in CLOCKS:
                return True
            case ast.Name(id=name) if name in names:
                return True
            case ast.Attribute(attr=name) if name in DURATIONS:
                return True
    return False


def _number(node: ast.expr) -> float | None:
    """Returns the largest number in the expression of an upper limit; None if the expression has no number. If the
    expression has named constants, returns None if one of them is in GENEROUS, otherwise 0."""
    numbers = [part.value for part in ast.walk(node) if isinstance(part, ast.Constant)]
    constants = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and part.id.isupper()}
    if constants:
        return None if constants & GENEROUS else 0.0
    found = [float(number) for number in numbers if isinstance(number, int | float)]
    return max(found) if found else None


def python(text: str) -> Iterator[int]:
    tree = ast.parse(text)
    names: set[str] = set(DURATIONS)
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and _reads_a_clock(node.value, set()):
            names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    for node in ast.walk(tree):
        tests = node.test if isinstance(node, ast.Assert) else None
        for compare in ast.walk(tests) if tests is not None else ():
            if not isinstance(compare, ast.Compare):
                continue
            sides = [compare.left, *compare.comparators]
            for left, operator, right in zip(sides, compare.ops, sides[1:], strict=False):
                small, large = (right, left) if isinstance(operator, ast.Gt | ast.GtE) else (left, right)
                if not isinstance(operator, ast.Lt | ast.LtE | ast.Gt | ast.GtE) or not _reads_a_clock(small, names):
                    continue
                bound = _number(large)
                if bound is not None and bound < LEAST:
                    yield compare.lineno


def other(text: str, suffix: str) -> Iterator[int]:
    for match in re.finditer(PATTERNS[suffix], text):
        number = float(match[1] or 1)
        unit = match[2] if match.re.groups > 1 else ("s" if "from_secs" in match[0] else "ms")
        if number * UNITS.get(unit, 1) < LEAST:
            yield text.count("\n", 0, match.start()) + 1


def found_in(text: str, suffix: str) -> list[int]:
    return sorted(set(python(text) if suffix == ".py" else other(text, suffix)))


def main() -> int:
    wrong = [
        f"{name}:{line}: compares a duration with less than {LEAST:.0f} s: count, or use a clock of your own, or LATE"
        for name in sys.argv[1:]
        for line in found_in(Path(name).read_text("utf-8"), Path(name).suffix)
    ]
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
