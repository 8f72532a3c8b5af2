#!/usr/bin/env python3
"""Finds phrases that this project's texts must not use: see "Style" in CONTRIBUTING.md. Usage: tests/words.py FILE…

The phrases in words.txt were typical of comments that only their author understood. The search ignores case, and finds
phrases that continue on the next line. The search skips this script and words.txt.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PHRASES = [line for line in (HERE / "words.txt").read_text("utf-8").splitlines() if line and not line.startswith("#")]
BETWEEN = r"\s+(?:(?:///?|#|\*|--)\s+)?"  # white space, perhaps a line break and the next line's comment mark


def _expression(phrase: str) -> str:
    words = BETWEEN.join(re.escape(word) for word in phrase.split())
    return (r"\b" if phrase[0].isalpha() else "") + words + (r"\b" if phrase[-1].isalpha() else "")


PATTERN = re.compile("|".join(map(_expression, PHRASES)), re.IGNORECASE)


def found_in(path: Path) -> list[str]:
    text = path.read_text("utf-8")
    return [
        f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {' '.join(match[0].split())!r}: say it in plain English"
        for match in PATTERN.finditer(text)
    ]


def main() -> int:
    found = [
        line
        for name in sys.argv[1:]
        if Path(name).resolve().parent != HERE or "words" not in name
        for line in found_in(Path(name))
    ]
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
