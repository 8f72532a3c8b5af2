"""Fetches the sources of yyjson and prints the folder they are in.

They come from the Python package `yyjson`, whose source distribution carries them; it is pinned by hash and unpacked,
never built or imported. Kept in ${XDG_CACHE_HOME:-~/.cache}/billcore, so that one download serves every build.
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
from pathlib import Path

PACKAGE = "yyjson"
FILE = "yyjson-4.0.6.tar.gz"
SHA256 = "fcd4dc15c1e39a30bf9fa85d56903029111506860fc3080ab0d81c6c6dacaa8c"
WANTED = ("yyjson/yyjson.c", "yyjson/yyjson.h", "LICENSE")


def package_index() -> str:
    """The index pip uses here: its environment variable, its configuration, or its built-in default."""
    if os.environ.get("PIP_INDEX_URL"):
        return os.environ["PIP_INDEX_URL"]
    # -I: an isolated build environment puts itself in PYTHONPATH and hides the pip that is installed.
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
        "fetch_yyjson: there is no pip to ask for the package index: install python3-pip, or set PIP_INDEX_URL"
    )


def fetch(url: str) -> bytes:
    trust = ssl.create_default_context(cafile=os.environ.get("PIP_CERT") or os.environ.get("SSL_CERT_FILE") or None)
    with urllib.request.urlopen(url, timeout=60, context=trust) as answer:
        data: bytes = answer.read()
    return data


def download() -> bytes:
    page = f"{package_index().rstrip('/')}/{PACKAGE}/"
    link = re.search(rf'href="([^"#]*/{re.escape(FILE)})', fetch(page).decode())
    if link is None:
        raise SystemExit(f"fetch_yyjson: the package index has no {FILE}")
    data = fetch(urllib.parse.urljoin(page, link.group(1)))
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise SystemExit(f"fetch_yyjson: {FILE} does not have the pinned hash; nothing was unpacked")
    return data


def main() -> None:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "billcore"
    folder = cache / f"yyjson-{SHA256[:16]}"
    if not all((folder / Path(name).name).is_file() for name in WANTED):
        try:
            data = download()
        except OSError as error:
            raise SystemExit(f"fetch_yyjson: {error}") from None
        folder.mkdir(parents=True, exist_ok=True)
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            root = FILE.removesuffix(".tar.gz")
            for name in WANTED:
                member = archive.extractfile(f"{root}/{name}")
                assert member is not None, name
                # Written aside and renamed: two builds may fetch at once.
                with tempfile.NamedTemporaryFile(dir=folder, delete=False) as part:
                    part.write(member.read())
                os.replace(part.name, folder / Path(name).name)
    print(folder)


if __name__ == "__main__":
    main()
