"""The build backend: scikit-build-core, with third-party C sources added to the source distribution.

With these sources, an sdist builds without a network; a build from a checkout downloads them
(core/cmake/fetch_source.py).
"""

from __future__ import annotations

import contextlib
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from scikit_build_core import build as _build
from scikit_build_core.build import (
    build_editable,
    build_wheel,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

_ROOT = Path(__file__).resolve().parent.parent.parent
_CARRIED = _ROOT / "core/third_party"


@contextlib.contextmanager
def _carried() -> Iterator[None]:
    """Copies the third-party sources into the tree for the sdist; an unpacked sdist already has them."""
    if _CARRIED.exists():
        yield
        return
    sys.path.insert(0, str(_ROOT / "core/cmake"))
    import fetch_source

    try:
        for name, source in fetch_source.SOURCES.items():
            shutil.copytree(fetch_source.provide(source), _CARRIED / name)
        yield
    finally:
        shutil.rmtree(_CARRIED, ignore_errors=True)


def build_sdist(sdist_directory: str, config_settings: dict[str, list[str] | str] | None = None) -> str:
    with _carried():
        return _build.build_sdist(sdist_directory, config_settings)
