"""Converts names to the styles of the languages."""

from __future__ import annotations

import re
from typing import Any

Row = dict[str, Any]


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def cpp_identifier(name: str) -> str:
    return {"more": "more_"}.get(name, name)


def pascal(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))
