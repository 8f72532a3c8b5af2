"""Completes a wheel that the build made, and checks it:
    finish.py WHEEL --platform TAG --output FOLDER --build-folders FOLDER…

Adds the licences of the linked-in libraries and a software bill of materials (CycloneDX), and gives the wheel its
tag. Refuses a wheel that needs libraries other than libc, that needs a newer glibc than its tag says, whose modules
export more than PyInit_… or contain the path of a build folder, or that is too large.
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import uuid
import zipfile
from pathlib import Path

import sources

LARGEST = 5_000_000  # bytes
# The libraries that belong to glibc or musl. libgcc_s belongs to neither.
LIBC = {"libc.so.6", "libpthread.so.0", "libdl.so.2", "libm.so.6", "librt.so.1", "libc.so"}
EPOCH = (2020, 1, 1, 0, 0, 0)  # a fixed time, so that equal contents give identical wheels


def components() -> list[dict[str, object]]:
    """Describes the linked-in libraries for the bill of materials."""
    return [
        {
            "type": "library",
            "bom-ref": source.purl,
            "name": source.name,
            "version": source.version,
            "licenses": [{"expression": source.licence}],
            "purl": source.purl,
            **({"hashes": [{"alg": "SHA-256", "content": source.sha256}]} if source.sha256 else {}),
        }
        for source in sources.read()
    ]


def bill_of_materials(version: str) -> bytes:
    own = f"pkg:pypi/billcore@{version}"
    parts = components()
    # The serial number is derived from the content.
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([own, parts], sort_keys=True))
    text = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {
            "component": {
                "type": "library",
                "bom-ref": own,
                "name": "billcore",
                "version": version,
                "licenses": [{"license": {"id": "MIT"}}],
                "purl": own,
            }
        },
        "components": parts,
        "dependencies": [{"ref": own, "dependsOn": [part["bom-ref"] for part in parts]}],
    }
    return json.dumps(text, indent=2).encode() + b"\n"


def complete(files: dict[str, bytes], platform: str) -> None:
    """Adds licences, the bill of materials and the tag to the files of a wheel."""
    (info,) = {name.split("/")[0] for name in files if name.split("/")[0].endswith(".dist-info")}
    version = info.removesuffix(".dist-info").split("-")[1]
    listed = []
    for source in sources.read():
        for path in source.licences():
            name = f"third_party/{source.name}/{path.name}"
            files[f"{info}/licenses/{name}"] = path.read_bytes()
            listed.append(f"License-File: {name}\n")
    files[f"{info}/sboms/billcore.cdx.json"] = bill_of_materials(version)
    metadata = files[f"{info}/METADATA"].decode()
    licences = {f"({each.licence})" if " " in each.licence else each.licence for each in sources.read()} - {"MIT"}
    expression = " AND ".join(["MIT", *sorted(licences)])
    metadata = re.sub(r"^License-Expression: .*$", f"License-Expression: {expression}", metadata, flags=re.MULTILINE)
    metadata = re.sub(r"^(License-File: LICENSE\n)", r"\1" + "".join(listed), metadata, flags=re.MULTILINE)
    if listed[0] not in metadata or expression not in metadata:
        raise SystemExit("finish: METADATA has no License-Expression and License-File to complete")
    files[f"{info}/METADATA"] = metadata.encode()
    wheel = files[f"{info}/WHEEL"].decode()
    tag = re.search(r"^Tag: (\S+)-(\S+)-\S+$", wheel, re.MULTILINE)
    if tag is None:
        raise SystemExit("finish: WHEEL has no tag")
    tags = "".join(f"Tag: {tag[1]}-{tag[2]}-{each}\n" for each in platform.split("."))
    wheel = re.sub(r"^Tag: .*\n", "", wheel, flags=re.MULTILINE).rstrip("\n") + "\n" + tags
    files[f"{info}/WHEEL"] = wheel.encode()
    record = f"{info}/RECORD"
    files.pop(record, None)
    lines = []
    for name, content in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    files[record] = "".join([*lines, f"{record},,\n"]).encode()


def check_module(name: str, path: Path, platform: str, build_folders: set[Path]) -> list[str]:
    """Checks an extension module; returns a message for each problem."""
    content = path.read_bytes()
    problems = [
        f"{name} contains the path {folder}, which differs from machine to machine: map it with -ffile-prefix-map, or "
        "configure the library with another prefix"
        for folder in build_folders
        if re.search(rb"(?<![\w./-])" + re.escape(os.fsencode(folder)) + b"/", content)
    ]
    command = ["readelf", "--dynamic", "--dyn-syms", "--wide", str(path)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for library in sorted({*re.findall(r"\(NEEDED\).*\[(.*)\]", shown)}):
        if library not in LIBC and not library.startswith("ld-linux"):
            problems.append(f"{name} needs {library}: link it statically")
    if re.search(r"\((RPATH|RUNPATH)\)", shown):
        problems.append(f"{name} has a run path: build it without one")
    newest = re.search(r"manylinux_(\d+)_(\d+)", platform)
    exported = set()
    for line in shown.splitlines():
        words = line.split()
        if len(words) < 8 or not words[0].rstrip(":").isdigit():
            continue
        symbol, _, version = words[7].partition("@")
        if words[6] != "UND" and words[4] in ("GLOBAL", "WEAK"):
            exported.add(symbol)
        glibc = re.fullmatch(r"@?GLIBC_(\d+)\.(\d+)(\.\d+)?", version)
        if newest and glibc and (int(glibc[1]), int(glibc[2])) > (int(newest[1]), int(newest[2])):
            problems.append(f"{name} needs {symbol}@{version}, newer than its tag says: build for an older glibc")
    if len(exported) != 1 or not exported.pop().startswith("PyInit_"):
        problems.append(f"{name} exports more than PyInit_…: its other symbols must be hidden")
    return problems


def check(wheel: Path, platform: str, build_folders: set[Path]) -> list[str]:
    problems = []
    if wheel.stat().st_size > LARGEST:
        problems.append(f"{wheel.name} has {wheel.stat().st_size} bytes, more than {LARGEST}")
    with zipfile.ZipFile(wheel) as archive, tempfile.TemporaryDirectory() as folder:
        modules = [name for name in archive.namelist() if ".so" in Path(name).name]
        if len(modules) != 2:
            problems.append(f"{wheel.name} should have two modules and no library; it has {modules}")
        for name in modules:
            problems += check_module(name, Path(archive.extract(name, folder)), platform, build_folders)
    if "manylinux" in platform and sys.platform == "linux":
        shown = subprocess.run(
            [sys.executable, "-m", "auditwheel", "show", wheel], capture_output=True, text=True, check=False
        ).stdout
        if f'"{platform.split(".")[0]}"' not in " ".join(shown.split()):
            problems.append(f"auditwheel finds another tag than {platform.split('.')[0]}:\n{shown}")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("--platform", required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--build-folders", type=Path, nargs="+", required=True)
    given = parser.parse_args()
    with zipfile.ZipFile(given.wheel) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    complete(files, given.platform)
    name = "-".join([*given.wheel.name.split("-")[:-1], given.platform]) + ".whl"
    # Paths may be compiled in with or without symbolic links. Each path contains the root folder.
    build_folders = {path for each in given.build_folders for path in (each, each.resolve()) if path != path.parent}
    with tempfile.TemporaryDirectory(dir=given.output) as unchecked:
        made = Path(unchecked, name)
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            for path, content in sorted(files.items(), key=lambda one: (".dist-info/" in one[0], one[0])):
                entry = zipfile.ZipInfo(path, EPOCH)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = (0o100755 if ".so" in Path(path).name else 0o100644) << 16
                archive.writestr(entry, content)
        if problems := check(made, given.platform, build_folders):
            print(*problems, sep="\n", file=sys.stderr)
            return 1
        made = made.replace(given.output / name)
    print(f"{made} ({made.stat().st_size} bytes)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
