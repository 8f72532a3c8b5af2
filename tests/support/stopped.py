"""Builds the library that stops a process at an exact point of a request: see stop.c."""

from __future__ import annotations

import subprocess
from pathlib import Path


def build_stops(folder: Path) -> str:
    """Returns the library's file, for LD_PRELOAD."""
    library = folder / "stop.so"
    source = Path(__file__).with_name("stop.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return str(library)
