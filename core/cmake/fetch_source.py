"""Fetches the C source of a third-party library and prints its folder: fetch_source.py yyjson|nanoarrow

The source comes from the source distribution of the Python package with the same name. The Python package is pinned by
hash; the script unpacks the package, but never builds or imports it. The folder is in
${XDG_CACHE_HOME:-~/.cache}/billcore, so that all builds share one download.
"""

import hashlib
import io
import os
import re
import ssl
import subprocess
import sys
import tarfile
import tempfile
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Source:
    package: str
    file: str
    sha256: str
    wanted: dict[str, str]  # file in the package -> its name in the folder
    licence: str = ""  # the licence, a file beside this script, if the package contains none


_NANOARROW = "subprojects/arrow-nanoarrow/src/nanoarrow"
_NANOARROW_FILES = ["nanoarrow.h", "nanoarrow_config.h.in"]
_NANOARROW_FILES += [f"common/{name}.c" for name in ("array", "array_stream", "schema", "utils")]
_NANOARROW_FILES += [f"common/inline_{name}.h" for name in ("array", "buffer", "types")]

SOURCES = {
    "yyjson": Source(
        package="yyjson",
        file="yyjson-4.0.6.tar.gz",
        sha256="fcd4dc15c1e39a30bf9fa85d56903029111506860fc3080ab0d81c6c6dacaa8c",
        wanted={"yyjson/yyjson.c": "yyjson.c", "yyjson/yyjson.h": "yyjson.h", "LICENSE": "LICENSE"},
    ),
    "nanoarrow": Source(
        package="nanoarrow",
        file="nanoarrow-0.9.0.tar.gz",
        sha256="1ce15bbed8532839347faa78824c5dbd3769bff60661003e34c6fba5dd881bd3",
        wanted={f"{_NANOARROW}/{name}": f"nanoarrow/{name}" for name in _NANOARROW_FILES},
        licence="Apache-2.0.txt",
    ),
}


def package_index() -> str:
    """Returns the package index that pip uses: from the environment, from pip's configuration, or pip's default."""
    if os.environ.get("PIP_INDEX_URL"):
        return os.environ["PIP_INDEX_URL"]
    # Run Python with -I, so that it ignores PYTHONPATH: an isolated build environment sets PYTHONPATH, and Python would
    # then not find the installed pip.
    ask = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
    for python in (sys.executable, "python3", "/usr/bin/python3"):
        try:
            set_by_user = subprocess.run(
                [python, "-I", "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True
            )
            if set_by_user.returncode == 0:
                return set_by_user.stdout.strip()
            return subprocess.run([python, "-I", "-c", ask], capture_output=True, text=True, check=True).stdout.strip()
        except (OSError, subprocess.CalledProcessError):
            continue
    raise SystemExit(
        "fetch_source: there is no pip to ask for the package index: install python3-pip, or set PIP_INDEX_URL"
    )


def fetch(url: str) -> bytes:
    trust = ssl.create_default_context(cafile=os.environ.get("PIP_CERT") or os.environ.get("SSL_CERT_FILE") or None)
    with urllib.request.urlopen(url, timeout=60, context=trust) as answer:
        data: bytes = answer.read()
    return data


def download(source: Source) -> bytes:
    page = f"{package_index().rstrip('/')}/{source.package}/"
    link = re.search(rf'href="([^"#]*/{re.escape(source.file)})', fetch(page).decode())
    if link is None:
        raise SystemExit(f"fetch_source: the package index has no {source.file}")
    data = fetch(urllib.parse.urljoin(page, link.group(1)))
    if hashlib.sha256(data).hexdigest() != source.sha256:
        raise SystemExit(f"fetch_source: {source.file} does not have the pinned hash; nothing was unpacked")
    return data


def put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Writes a temporary file and renames it, because two builds may fetch at the same time.
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as part:
        part.write(content)
    os.chmod(part.name, 0o644)
    os.replace(part.name, path)


def provide(source: Source) -> Path:
    """Returns the folder with the source; downloads the source first if it is not in the cache."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "billcore"
    folder = cache / f"{source.package}-{source.sha256[:16]}"
    files = [*source.wanted.values(), "LICENSE"]
    if all((folder / place).is_file() for place in files):
        return folder
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = f"the folder {folder} cannot be made ({error.strerror})"
        raise SystemExit(f"fetch_source: {why}: set XDG_CACHE_HOME to a folder that can be written") from None
    try:
        data = download(source)
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            root = source.file.removesuffix(".tar.gz")
            for name, place in source.wanted.items():
                member = archive.extractfile(f"{root}/{name}")
                assert member is not None, name
                put(folder / place, member.read())
        if source.licence:
            put(folder / "LICENSE", Path(__file__).with_name(source.licence).read_bytes())
    except OSError as error:
        raise SystemExit(f"fetch_source: {error}") from None
    return folder


def third_party() -> dict[str, Path]:
    """The files of all libraries, by the paths at which CMake finds them in a source archive of billcore."""
    return {
        f"core/third_party/{name}/{path.relative_to(folder).as_posix()}": path
        for name, folder in ((name, provide(source)) for name, source in SOURCES.items())
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def main() -> None:
    if len(sys.argv) != 2 or sys.argv[1] not in SOURCES:
        raise SystemExit(__doc__)
    print(provide(SOURCES[sys.argv[1]]))


if __name__ == "__main__":
    main()
