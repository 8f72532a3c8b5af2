"""What a package index shows of billcore: README.md without relative links and pictures, which lead nowhere there.

scikit-build-core calls this module for the Python package; `index_page.py README.md` prints the page of another one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

_README = Path(__file__).resolve().parent.parent.parent / "README.md"
_PICTURE = re.compile(r"^!\[[^\]]*\]\((?!https?:)[^)]+\)\n\n?", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]+\)")


def page(readme: Path) -> str:
    return _LINK.sub(r"\1", _PICTURE.sub("", readme.read_text("utf-8")))


def dynamic_metadata(field: str, settings: dict[str, object] | None = None) -> dict[str, str]:
    return {"content-type": "text/markdown", "text": page(_README)}


if __name__ == "__main__":
    print(page(Path(sys.argv[1])), end="")
