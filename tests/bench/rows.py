"""What the Python contenders of all areas have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

API_KEY = "key_bench_0123456789"
HEADERS = {"X-API-KEY": API_KEY, "Accept": "application/json"}


class Missing(Exception):
    """The contender cannot take part; the text says what it lacks."""


@dataclass(frozen=True)
class Server:
    base_url: str
    ca_file: str | None = None


class Row(Protocol):
    """run: does so many of what the area measures and gives the lengths of all that was read, added up. show: what one
    of them reads."""

    def run(self, count: int) -> int: ...
    def show(self) -> str: ...
