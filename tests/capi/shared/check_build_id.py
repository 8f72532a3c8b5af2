"""Checks that the libraries of one build load together, and that those of two builds do not.

Usage: check_build_id.py LIBBILLCORE_WEBHOOK LIBBILLCORE

The script copies the libraries, and changes the build id in the symbol versions of the copy of libbillcore-webhook. The
dynamic loader must then refuse to load the copy of libbillcore.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LOAD = "import ctypes, sys\nctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_LOCAL)\nprint('loaded')"


def elf_hash(name: bytes) -> int:
    value = 0
    for byte in name:
        value = (value << 4) + byte
        high = value & 0xF0000000
        value = (value ^ (high >> 24)) & ~high & 0xFFFFFFFF
    return value


def with_another_id(library: bytes) -> bytes:
    names = set(re.findall(rb"BILLCORE_PRIVATE_[0-9a-f]{16}", library))
    assert len(names) == 1, names
    name = names.pop()
    other = name[:-1] + (b"0" if name[-1:] != b"0" else b"1")
    changed = library.replace(name, other)
    # The version table of the library holds an ELF hash of the name, so the hash must be changed as well.
    old, new = (elf_hash(text).to_bytes(4, "little") for text in (name, other))
    assert old in changed
    return changed.replace(old, new)


def load(library: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"LD_LIBRARY_PATH": str(folder)}
    return subprocess.run([sys.executable, "-c", LOAD, library], capture_output=True, text=True, env=environment)


def main() -> None:
    libraries = [Path(argument).resolve() for argument in sys.argv[1:3]]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        webhook, client = (folder / f"{library.name.split('.so')[0]}.so.0" for library in libraries)
        shutil.copy(libraries[0], webhook)
        shutil.copy(libraries[1], client)
        same = load(client, folder)
        assert same.stdout == "loaded\n", f"the libraries of one build do not load together: {same.stderr}"
        webhook.write_bytes(with_another_id(webhook.read_bytes()))
        other = load(client, folder)
        assert other.returncode != 0 and "BILLCORE_PRIVATE_" in other.stderr and "not found" in other.stderr, (
            f"a library of another build was not refused: {other.stdout} {other.stderr}"
        )
        print(other.stderr.strip().splitlines()[-1])


if __name__ == "__main__":
    main()
