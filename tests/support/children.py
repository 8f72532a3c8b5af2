"""Where the interpreters that a test starts find the package."""

from __future__ import annotations

import os

import billcore


def child_environment(**more: str) -> dict[str, str]:
    """With this, a fresh interpreter finds the same package, however that was found here."""
    return {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(billcore.__file__))), **more}
