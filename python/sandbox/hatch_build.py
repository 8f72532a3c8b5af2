"""Puts htmx into the wheel, from the package django-htmx: this repository has no copy of it.

`python hatch_build.py` copies htmx into the source tree, for programs that run from a checkout; several may do so at
the same time.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
STATIC = "billcore_sandbox/page/static"
# Version 2.0.10, in django-htmx 1.29.0.
SHA256 = "71ea67185bfa8c98c39d31717c6fce5d852370fcdfd129db4543774d3145c0de"


def htmx() -> Path | None:
    """The file of htmx in the installed package django-htmx; None without the package, or if it has another version."""
    found = importlib.util.find_spec("django_htmx")
    if found is None or found.origin is None:
        return None
    file = Path(found.origin).parent / "static/django_htmx/htmx-2.min.js"
    if not file.is_file() or hashlib.sha256(file.read_bytes()).hexdigest() != SHA256:
        return None
    return file


try:
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface
except ImportError:  # it runs as a program
    pass
else:

    class HtmxHook(BuildHookInterface):  # type: ignore[type-arg]
        """Adds htmx to the wheel; without it, the page says what is missing."""

        def initialize(self, version: str, build_data: dict[str, object]) -> None:
            found = htmx()
            if found is None:
                self.app.display_warning("without htmx, because django-htmx is missing: the page will say so")
                return
            files: dict[str, str] = build_data["force_include"]  # type: ignore[assignment]
            files[str(found)] = f"{STATIC}/htmx.min.js"


if __name__ == "__main__":
    source = htmx()
    if source is None:
        sys.exit("hatch_build.py: install django-htmx==1.29.0 first")
    target = HERE / STATIC / "htmx.min.js"
    if not target.is_file() or target.read_bytes() != source.read_bytes():
        made = target.with_name(f".{target.name}.{os.getpid()}")
        shutil.copyfile(source, made)
        os.replace(made, target)
