"""Reads sources.toml, the list of third-party sources in the wheel."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
ROOT = FOLDER.parent.parent


@dataclass(frozen=True)
class Source:
    """One entry of sources.toml; the comment at the top of that file describes the attributes."""

    name: str
    version: str
    licence: str
    licence_files: list[str]
    purl: str
    crate: str = ""
    crate_version: str = ""
    sha256: str = ""
    carries: str = ""
    folder: str = ""
    package: str = ""
    tool: str = ""
    series: str = ""

    def licences(self) -> list[Path]:
        """Returns the files with the text of the source's licence. The crate must already be in billcore's cache."""
        if self.crate:
            cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "billcore"
            root = cache / f"crate-{self.crate}-{self.crate_version}-{self.sha256[:16]}" / self.folder
        elif self.package:
            fetch = [sys.executable, str(ROOT / "core/cmake/fetch_source.py"), self.package]
            root = Path(subprocess.run(fetch, capture_output=True, text=True, check=True).stdout.strip())
        else:
            root = Path(str(importlib.metadata.distribution(self.tool).locate_file("")))
        return [root / file for file in self.licence_files]

    def carrier_version(self) -> str:
        """Returns the pinned release of the package that contains this source."""
        if self.crate:
            return self.crate_version
        if self.package:
            sys.path.insert(0, str(ROOT / "core/cmake"))
            import fetch_source

            return fetch_source.SOURCES[self.package].file.removesuffix(".tar.gz").rpartition("-")[2]
        pins = dict(
            line.split("==") for line in (FOLDER / "requirements.txt").read_text("utf-8").split() if "==" in line
        )
        return str(pins[self.tool])


def read() -> list[Source]:
    with (FOLDER / "sources.toml").open("rb") as file:
        return [Source(name=name, **entry) for name, entry in tomllib.load(file).items()]
