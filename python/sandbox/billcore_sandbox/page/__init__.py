"""The page at the sandbox's `/`: what the service and the receivers say to each other, and buttons for every action."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path


@cache
def missing() -> str | None:
    """What the page needs and the installation does not have; None if it has all."""
    if find_spec("jinja2") is None:
        return "the package jinja2 (pip install jinja2)"
    if not (Path(__file__).parent / "static" / "htmx.min.js").is_file():
        return "htmx.min.js, which was missing when billcore-sandbox was built: build it with the package django-htmx"
    return None
