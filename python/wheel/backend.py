"""The build backend: scikit-build-core, with third-party C sources added to the source distribution.

With these sources, an sdist builds without a network; a build from a checkout downloads them
(core/cmake/fetch_source.py).
"""

from __future__ import annotations

import gzip
import shutil
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
    name = _build.build_sdist(sdist_directory, config_settings)
    if not (_ROOT / "core/third_party").exists():  # an unpacked sdist has the sources
        _add_sources(Path(sdist_directory) / name)
    return name


def _add_sources(sdist: Path) -> None:
    """Adds the third-party sources to the archive, not to the tree: another build may be reading the tree."""
    sys.path.insert(0, str(_ROOT / "core/cmake"))
    import fetch_source

    top = sdist.name.removesuffix(".tar.gz")
    with tempfile.TemporaryFile() as added:
        with tarfile.open(sdist) as old:
            members = old.getmembers()
            time = int(members[0].mtime)
            with (
                gzip.GzipFile(fileobj=added, mode="wb", mtime=time) as packed,
                tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new,
            ):
                for member in members:
                    new.addfile(member, old.extractfile(member) if member.isfile() else None)
                for name, source in fetch_source.SOURCES.items():
                    folder = fetch_source.provide(source)
                    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
                        member = tarfile.TarInfo(f"{top}/core/third_party/{name}/{path.relative_to(folder).as_posix()}")
                        member.size, member.mtime = path.stat().st_size, time
                        with path.open("rb") as file:
                            new.addfile(member, file)
        added.seek(0)
        with sdist.open("wb") as file:
            shutil.copyfileobj(added, file)
