"""Metadata provider for scikit-build-core: README.md without its relative links is the page on the package index."""

from __future__ import annotations

import re
from pathlib import Path

_README = Path(__file__).resolve().parent.parent.parent / "README.md"
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]+\)")


def dynamic_metadata(field: str, settings: dict[str, object] | None = None) -> dict[str, str]:
    return {"content-type": "text/markdown", "text": _LINK.sub(r"\1", _README.read_text("utf-8"))}
