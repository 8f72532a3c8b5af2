"""The build backend: scikit-build-core, with third-party C sources added to the source distribution.

With these sources, an sdist builds without a network; a build from a checkout downloads them
(core/cmake/fetch_source.py).
"""

from __future__ import annotations

import gzip
import os
import sys
import tarfile
import tempfile
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


def build_sdist(sdist_directory: str, config_settings: dict[str, list[str] | str] | None = None) -> str:
    sources = {} if (_ROOT / "core/third_party").exists() else _third_party()  # an unpacked sdist has the sources
    with tempfile.TemporaryDirectory(dir=sdist_directory) as folder:  # so that a full disk leaves no part of an sdist
        name = _build.build_sdist(folder, config_settings)
        _add(sources, Path(folder) / name, Path(folder) / "whole")
        os.replace(Path(folder) / "whole", Path(sdist_directory) / name)
    return name


def _third_party() -> dict[str, Path]:
    sys.path.insert(0, str(_ROOT / "core/cmake"))
    import fetch_source

    return fetch_source.third_party()


def _add(sources: dict[str, Path], sdist: Path, whole: Path) -> None:
    """Adds files to the archive, and not to the tree, because another build may be reading the tree."""
    top = sdist.name.removesuffix(".tar.gz")
    with tarfile.open(sdist) as old:
        members = old.getmembers()
        time = int(members[0].mtime)
        with (
            whole.open("wb") as file,
            gzip.GzipFile("", "wb", fileobj=file, mtime=time) as packed,
            tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new,
        ):
            for member in members:
                new.addfile(member, old.extractfile(member) if member.isfile() else None)
            for name, path in sources.items():
                member = tarfile.TarInfo(f"{top}/{name}")
                member.size, member.mtime = path.stat().st_size, time
                with path.open("rb") as source:
                    new.addfile(member, source)
