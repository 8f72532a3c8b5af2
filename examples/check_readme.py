"""Fails when a sample in README.md is not, word for word, the file it names, or when a sample is not shown."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# A link to a file under examples on a line of its own, then a block of code.
BLOCK = re.compile(r"^\[(examples/[^\]]+)\]\(\1\)\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SAMPLES = [f"examples/{folder}" for folder in ("c/{}.c", "cpp/{}.cpp", "python/{}.py")]


def main() -> int:
    shown = dict(BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8")))
    wanted = {sample.format(name) for sample in SAMPLES for name in ("find", "charge", "verify_webhook")}
    wanted |= {"examples/python/columns.py", "examples/python/orders.py", "examples/python/report.py"}
    wanted |= {"examples/python/test_receiver.py"}
    problems = [f"README.md does not show {path}" for path in sorted(wanted - shown.keys())]
    for path, block in shown.items():
        if (ROOT / path).read_text(encoding="utf-8") != block:
            problems.append(f"README.md does not show {path} as it is: copy the file into its block")
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(f"{len(shown)} samples in README.md are the files they name")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
