"""Writes the Go modules as a module proxy: modules.py FOLDER TARGET=ARCHIVE…

The go command reads the folder by a file URL. Equal sources give equal bytes. package.sh runs this file.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
import time
import zipfile
from datetime import UTC, datetime
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "python/wheel"))
import sources  # noqa: E402 # of python/wheel

PROCESSORS = {"x86_64": "amd64", "aarch64": "arm64"}
EPOCH = (1980, 1, 1, 0, 0, 0)  # a fixed time, so that equal contents give equal bytes
NOT_LINKED = {"pybind11"}  # of the third-party sources of a wheel


def fail(text: str) -> None:
    sys.exit(f"capi/go/modules.py: {text}")


def version() -> str:
    """Returns the version of the tree, after a check that the modules require each other in this version."""
    found = re.search(r"^project\(billcore VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text("utf-8"), re.M)
    assert found
    for file in (HERE / "go.mod", ROOT / "go.work"):
        for required in re.findall(r"/go\S* (v[0-9]\S*)", file.read_text("utf-8")):
            if required != f"v{found[1]}":
                fail(f"{file} names the version {required}, and CMakeLists.txt {found[1]}: write one version into both")
    return f"v{found[1]}"


def client() -> dict[str, bytes]:
    """Returns the files of the module that programs import: the Go code and the C headers."""
    files = {
        path.relative_to(HERE).as_posix(): path.read_bytes()
        for path in HERE.rglob("*")
        if path.suffix in {".go", ".h", ".mod", ".md"} and "lib" not in path.relative_to(HERE).parts
    }
    headers = ROOT / "capi/include"
    for path in headers.rglob("*.h"):
        files[f"internal/include/{path.relative_to(headers).as_posix()}"] = path.read_bytes()
    return files


def library(folder: Path, archive: Path | None) -> dict[str, bytes]:
    """Returns the files of a module that contains the C library for one platform."""
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.suffix in {".go", ".mod"}}
    if archive:
        files["libbillcore.a"] = archive.read_bytes()
        for source in sources.read():
            for path in source.licences() if source.name not in NOT_LINKED else ():
                files[f"licenses/{source.name}-{path.name}"] = path.read_bytes()
    return files


def write(proxy: Path, version: str, files: dict[str, bytes]) -> None:
    """Writes one version of one module, whose path go.mod names."""
    path = files["go.mod"].decode().split()[1]
    # In the address of a module a capital letter is written as ! and the small letter.
    folder = proxy / re.sub("[A-Z]", lambda letter: f"!{letter[0].lower()}", path) / "@v"
    folder.mkdir(parents=True, exist_ok=True)
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or str(int(time.time()))
    moment = datetime.fromtimestamp(int(epoch), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    (folder / "list").write_text(f"{version}\n")
    (folder / f"{version}.info").write_text(json.dumps({"Version": version, "Time": moment}) + "\n")
    (folder / f"{version}.mod").write_bytes(files["go.mod"])
    files = files | {"LICENSE": (ROOT / "LICENSE").read_bytes()}
    with zipfile.ZipFile(folder / f"{version}.zip", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        for name, content in sorted(files.items()):
            entry = zipfile.ZipInfo(f"{path}@{version}/{name}", EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            made.writestr(entry, content)
    print(f"{path}@{version} ({(folder / f'{version}.zip').stat().st_size} bytes)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("archives", nargs="*", metavar="TARGET=ARCHIVE")
    given = parser.parse_args()
    archives = {}
    for target, archive in (each.split("=", 1) for each in given.archives):
        processor, system, libc = target.split("-")
        name = f"{system}-{PROCESSORS[processor]}" + ("-musl" if libc == "musl" else "")
        archives[name] = Path(archive)
    released = version()
    write(given.folder, released, client())
    for folder in sorted((HERE / "lib").iterdir()):
        write(given.folder, released, library(folder, archives.get(folder.name)))


if __name__ == "__main__":
    main()
