"""Fails when a sample in README.md differs from its file, or when a sample is not shown.

Also fails where a text says `pip install billcore`: that cannot work before there is a release.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# A link to a file in examples on its own line, then a code block.
BLOCK = re.compile(r"^\[(examples/[^\]]+)\]\(\1\)\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SAMPLES = [f"examples/{folder}" for folder in ("c/{}.c", "cpp/{}.cpp", "python/{}.py", "go/{}/main.go", "rust/{}.rs")]
# billcore by its name alone, with or without extras; a named folder or URL works.
UNPUBLISHED = re.compile(r"pip install (?:[^`\n]*[ '\"])?billcore(?:\[\w+\])?(?! ?@|[\w\[/.])")
TEXTS = ("README.md", "CONTRIBUTING.md", "capi/**/*.md", "core/**/*.md", "examples/**/*", "python/billcore/**/*")


def unpublished() -> list[str]:
    files = {path for pattern in TEXTS for path in ROOT.glob(pattern) if path.suffix in (".md", ".py", ".pyi", ".sh")}
    return [
        f"{path.relative_to(ROOT)} tells to install billcore by name, which is not published: {line.strip()}"
        for path in sorted(files - {Path(__file__).resolve()})
        for line in path.read_text(encoding="utf-8").splitlines()
        if UNPUBLISHED.search(line)
    ]


def main() -> int:
    shown = dict(BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8")))
    wanted = {sample.format(name) for sample in SAMPLES for name in ("find", "charge", "verify_webhook")}
    wanted |= {"examples/python/columns.py", "examples/python/orders.py", "examples/python/report.py"}
    wanted |= {"examples/python/test_receiver.py", "examples/installed/CMakeLists.txt"}
    problems = [f"README.md does not show {path}" for path in sorted(wanted - shown.keys())]
    for path, block in shown.items():
        if (ROOT / path).read_text(encoding="utf-8") != block:
            problems.append(f"README.md does not show {path} as it is: copy the file into its block")
    problems += unpublished()
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(f"{len(shown)} samples in README.md are the files they name")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
