"""The environment of interpreters that a test starts."""

from __future__ import annotations

import os

import billcore


def child_environment(**more: str) -> dict[str, str]:
    """With this environment a new interpreter finds the same package, however this one found it."""
    return {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(billcore.__file__))), **more}
