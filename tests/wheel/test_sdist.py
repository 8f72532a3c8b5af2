"""The source distribution builds without a network: it contains the third-party C sources and their licences."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
MAKE = "import sys; sys.path.insert(0, 'python/wheel'); import backend; print(backend.build_sdist(sys.argv[1]))"


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    made = subprocess.run([sys.executable, "-c", MAKE, str(folder)], cwd=ROOT, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    shutil.unpack_archive(folder / made.stdout.split()[-1], folder)
    (found,) = [path for path in folder.iterdir() if path.is_dir()]
    return found


def test_it_carries_the_sources_and_their_licences(unpacked: Path) -> None:
    carried = unpacked / "core/third_party"
    assert "MIT License" in (carried / "yyjson/LICENSE").read_text()
    assert "Apache License" in (carried / "nanoarrow/LICENSE").read_text()
    assert (carried / "yyjson/yyjson.c").is_file() and (carried / "nanoarrow/nanoarrow/nanoarrow.h").is_file()
    assert not (ROOT / "core/third_party").exists(), "the tree is left as it was"
    assert not (unpacked / ".ci").exists()


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("unshare") is None, reason="needs root to cut the network")
def test_it_is_configured_without_a_network_and_without_a_cache(unpacked: Path, tmp_path: Path) -> None:
    command = ["unshare", "--net", "cmake", "-S", str(unpacked), "-B", str(tmp_path), "-DBILLCORE_PYTHON=ON"]
    done = subprocess.run(
        [*command, "-DBILLCORE_CAPI=OFF", f"-DPython_EXECUTABLE={sys.executable}"],
        capture_output=True,
        text=True,
        env={**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")},
    )
    assert done.returncode == 0, done.stderr
    assert f"yyjson: {unpacked}/core/third_party/yyjson" in done.stdout
    assert f"nanoarrow: {unpacked}/core/third_party/nanoarrow" in done.stdout
