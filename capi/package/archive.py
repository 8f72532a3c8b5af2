"""Writes the source archive for C and C++ and prints its path: archive.py FOLDER

The archive has what a user builds, yyjson and nanoarrow included, so that it builds without Python and a network. The
time of its files is $SOURCE_DATE_EPOCH, and nothing else in it depends on when, where and by whom it is made.
"""

from __future__ import annotations

import gzip
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "core/cmake"))
import fetch_source  # noqa: E402

# Go and Rust have packages of their own.
CONTENT = [
    *("CMakeLists.txt", "LICENSE", "CHANGELOG.md"),
    *("core/CMakeLists.txt", "core/cmake", "core/include", "core/src"),
    *("capi/CMakeLists.txt", "capi/README.md", "capi/cmake", "capi/include", "capi/src"),
    *("capi/package/debian.cmake", "capi/package/triggers"),
    *("examples/c", "examples/cpp", "examples/ffi", "examples/installed"),
]


def content() -> dict[str, Path]:
    """The files of the archive by their paths in it. Git lists them, so that nothing else in the tree is packed."""
    listed = subprocess.run(["git", "ls-files", "-z", "--", *CONTENT], cwd=ROOT, stdout=subprocess.PIPE)
    if listed.returncode != 0:
        raise SystemExit(f"archive.py: git cannot list the files of {ROOT} (see above): run this in a clone")
    own = {name: ROOT / name for name in listed.stdout.decode().split("\0") if name}
    return own | fetch_source.third_party() | {"README.md": ROOT / "capi/package/README.md"}


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    time = int(os.environ["SOURCE_DATE_EPOCH"])
    version = re.search(r"project\(billcore VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())
    assert version is not None
    name = f"billcore-c-{version[1]}"
    archive = Path(sys.argv[1]) / f"{name}.tar.gz"
    with (
        archive.open("wb") as file,
        gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT) as tar,
    ):
        for place, path in sorted(content().items()):
            member = tarfile.TarInfo(f"{name}/{place}")  # owned by root, with mode 644
            member.size, member.mtime = path.stat().st_size, time
            with path.open("rb") as source:
                tar.addfile(member, source)
    print(archive)


if __name__ == "__main__":
    main()
