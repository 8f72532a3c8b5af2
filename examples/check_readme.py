"""Fails if a document shows a sample that differs from its file, or links to a file or section that does not exist.

Also fails if a document says `pip install billcore`, which cannot work before the first release.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Matches a line with only a link to a file in examples/, and the code block that follows it.
BLOCK = re.compile(r"^\[(examples/[^\]]+)\]\((?:\.\./)*\1\)\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s:]*)\)")
# Matches the installation of billcore by name, with or without extras. Installation from a folder or URL works, so the
# pattern does not match it.
UNPUBLISHED = re.compile(r"pip install (?:[^`\n]*[ '\"])?billcore(?:\[\w+\])?(?! ?@|[\w\[/.])")
TEXTS = (
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "capi/**/*.md",
    "core/**/*.md",
    "examples/**/*",
    "python/**/*.md",
    "python/billcore/**/*",
    "tests/**/*.md",
)


def unpublished(file: Path, text: str) -> list[str]:
    return [
        f"{file} tells to install billcore by name, which is not published: {line.strip()}"
        for line in text.splitlines()
        if UNPUBLISHED.search(line)
    ]


def anchors(text: str) -> set[str]:
    """Returns the link anchors of the text's sections, as GitHub makes them."""
    titles = re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def broken_links(file: Path, text: str) -> list[str]:
    problems = []
    for link in LINK.findall(text):
        name, _, section = link.partition("#")
        target = (ROOT / file).parent / name if name else ROOT / file
        if not target.exists() or (section and section not in anchors(target.read_text(encoding="utf-8"))):
            problems.append(f"{file} links to {link}, which is not there")
    return problems


def main() -> int:
    files = {path for pattern in TEXTS for path in ROOT.glob(pattern) if path.suffix in (".md", ".py", ".pyi", ".sh")}
    problems, shown = [], 0
    for path in sorted(files - {Path(__file__).resolve()}):
        file, text = path.relative_to(ROOT), path.read_text(encoding="utf-8")
        for name, block in BLOCK.findall(text):
            shown += 1
            if (ROOT / name).read_text(encoding="utf-8") != block:
                problems.append(f"{file} does not show {name} as it is: copy the file into its block")
        problems += unpublished(file, text)
        if path.suffix == ".md" and "python/docs" not in file.as_posix():  # Sphinx checks the links of python/docs
            problems += broken_links(file, text)
    lines = len((ROOT / "README.md").read_text(encoding="utf-8").splitlines())
    if lines > 160:
        problems.append(
            f"README.md has {lines} lines: 160 are its limit, further texts belong to the pages that it names"
        )
    for problem in problems:
        print(problem, file=sys.stderr)
    if not problems:
        print(f"{shown} samples are the files they name, every link leads somewhere, README.md has {lines} lines")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
