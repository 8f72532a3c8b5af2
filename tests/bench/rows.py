"""Code shared by the Python contenders of all areas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

API_KEY = "key_bench_0123456789"
HEADERS = {"X-API-KEY": API_KEY, "Accept": "application/json"}


@dataclass(frozen=True)
class Server:
    base_url: str
    ca_file: str | None = None


class Row(Protocol):
    """A contender's client. run: performs `count` operations and returns the total length of the values that they read.
    show: returns the values that one operation reads."""

    def run(self, count: int) -> int: ...
    def show(self) -> str: ...
