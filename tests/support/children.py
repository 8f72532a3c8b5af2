"""Makes the environment for Python interpreters that a test starts."""

from __future__ import annotations

import os

import billcore


def child_environment(**more: str) -> dict[str, str]:
    """Returns an environment in which a new interpreter imports the same billcore package as the current
    interpreter."""
    return {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(billcore.__file__))), **more}
