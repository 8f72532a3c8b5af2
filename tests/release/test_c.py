"""C and C++: the Debian packages, the source archive, programs in Ruby and Node that call the C library."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from release import roots

ROOT = Path(__file__).resolve().parent.parent.parent
SECRET = "whsec-0123456789abcdefghijklmnop"
COMPILED = ("ccache", "cmake", "g++", "libcurl4-openssl-dev", "libssl-dev", "ninja-build", "pkg-config", "zlib1g-dev")
MakeRoot = Callable[..., roots.Root]


def test_debian_packages_give_a_first_call_and_leave_nothing(minimal_root: MakeRoot, service: dict[str, str]) -> None:
    root = minimal_root("gcc", "libc6-dev", "pkg-config")
    root.copy(ROOT / "examples/c/find.c", "find.c")
    before = root.run("find / -xdev -iname '*billcore*'").stdout
    root.run("apt-get install -y --no-install-recommends /dist/libbillcore*.deb")
    root.run("cc find.c -o find $(pkg-config --cflags --libs billcore)")
    assert root.run("./find demo-active", env=service).stdout == "480001 active\n"
    assert "nanoarrow" in root.run("cat /usr/share/doc/libbillcore0/copyright").stdout
    root.run("rm find && apt-get purge -y 'libbillcore*'")
    assert root.run("find / -xdev -iname '*billcore*'; ldconfig -p | grep billcore || true").stdout == before


# What sed changes in the control file of libbillcore-webhook0, and what dpkg or apt then says.
OTHER_PACKAGES = [
    ("s/^Architecture: .*/Architecture: riscv64/", "package architecture (riscv64) does not match system"),
    ("s/^Version: .*/Version: 0.1.1-1/", "libbillcore0 : Depends: libbillcore-webhook0 (= 0.1.0-1)"),
]


def test_packages_of_another_machine_or_another_version_are_refused(minimal_root: MakeRoot) -> None:
    root = minimal_root()
    for change, said in OTHER_PACKAGES:
        root.run(
            "rm -rf other && dpkg-deb -R /dist/libbillcore-webhook0_*.deb other"
            f" && sed -i '{change}' other/DEBIAN/control && dpkg-deb -b other other.deb"
        )
        install = "apt-get install -y --no-install-recommends ./other.deb /dist/libbillcore0_*.deb"
        if "riscv64" in change:
            install = "dpkg -i ./other.deb"
        assert said in " ".join(root.run(install, fails=True).stdout.split())


@dataclass(frozen=True)
class Delivery:
    name: str
    body: bytes
    signature: str | None
    verify: str  # "ok", or the reason of the refusal
    is_event: bool


def deliveries() -> list[Delivery]:
    """A few fixtures of each outcome, and all whose body is not a text."""
    chosen: list[Delivery] = []
    for case in json.loads((ROOT / "tests/fixtures/webhook_vectors.json").read_text())["cases"]:
        signature, outcome = case.get("signature"), case["expect"]["verify"]
        is_event = case["expect"]["unwrap"] == "ok"
        alike = [one for one in chosen if (one.verify, one.is_event) == (outcome, is_event)]
        simple = case["secrets"] == [SECRET] and "max_body" not in case and "body_parts" not in case
        if simple and (signature is None or str(signature).isalnum()) and ("body_b64" in case or len(alike) < 2):
            body = base64.b64decode(case["body_b64"]) if "body_b64" in case else case["body_text"].encode()
            chosen.append(Delivery(case["name"], body, signature, outcome, is_event))
    return chosen


def koffi() -> Path:
    """The folder with the package koffi for Node, installed once."""
    pinned = (ROOT / "examples/ffi/package.json").read_text()
    folder = roots.CACHE / f"koffi-{hashlib.sha256(pinned.encode()).hexdigest()[:16]}"
    if not folder.is_dir():
        if not shutil.which("npm"):
            (pytest.fail if os.environ.get("CI") else pytest.skip)("npm is missing, which installs koffi")
        work = Path(tempfile.mkdtemp(dir=roots.CACHE))
        (work / "package.json").write_text(pinned)
        subprocess.run(["npm", "install", "--silent", "--no-package-lock"], cwd=work, check=True)
        work.rename(folder)
    return folder


@pytest.mark.parametrize(
    ("package", "program"), [("ruby-ffi", "ruby verify.rb"), ("nodejs", "node verify.mjs")], ids=["ruby", "node"]
)
def test_a_language_verifies_through_its_ffi(
    package: str, program: str, minimal_root: MakeRoot, tmp_path: Path
) -> None:
    root = minimal_root(package)
    if package == "nodejs":
        root.copy(koffi() / "node_modules", "node_modules")
    source = ROOT / "examples/ffi" / program.split()[1]
    assert len(source.read_text().splitlines()) <= 40
    root.copy(source, source.name)
    root.run("apt-get install -y --no-install-recommends /dist/libbillcore-webhook0_*.deb")
    assert "libcurl" not in root.run("dpkg-query -W").stdout, "a receiver of webhooks needs no HTTP library"

    chosen = deliveries()
    assert {one.verify for one in chosen} >= {"ok", "mismatch", "malformed", "missing"}
    assert any(not one.is_event for one in chosen if one.verify == "ok")
    for one in chosen:
        (tmp_path / one.name).write_bytes(one.body)
        root.copy(tmp_path / one.name, one.name)
    script = [f"{program} {one.signature or ''} < {one.name}; echo status $?" for one in chosen]
    said = root.run("\n".join(script), env={"WEBHOOK_SECRET": SECRET}).stdout
    parts = re.split(r"status (\d+)\n", said)
    for one, text, status in zip(chosen, parts[::2], parts[1::2], strict=False):
        assert text.endswith("\n") and text.count("\n") == 1, (one, text)
        if one.verify == "ok" and one.is_event:
            assert (status, text.strip()) == ("0", json.loads(one.body)["name"]), one
        else:
            assert status == "1" and (one.verify == "ok" or text.startswith(f"{one.verify}: ")), (one, text)


# The settings of bc_ccache in tests/setup.sh. ccache tells objects by the variables for the locale, too.
CCACHE = {
    "CCACHE_READONLY": "1",
    "CCACHE_TEMPDIR": "/tmp/ccache",
    "CCACHE_BASEDIR": "/src",
    "CCACHE_NOHASHDIR": "1",
    "CMAKE_C_COMPILER_LAUNCHER": "ccache",
    "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
    **{name: os.environ[name] for name in ("LANG", "LC_ALL") if name in os.environ},
}
SAME_LOCALE = "true" if "LC_ALL" in CCACHE else "unset LC_ALL"
NO_NETWORK = "unshare --net"


@pytest.fixture
def unpacked(minimal_root: MakeRoot) -> roots.Root:
    """A root with a compiler, without Python, in which the archive is the folder /src."""
    root = minimal_root(*COMPILED)
    root.cache_compilations()
    root.run("rm -r /usr/lib/ccache")  # CMake calls ccache itself, so that its messages name the compiler
    root.run("mkdir /src && tar -xzf /dist/billcore-c-*.tar.gz -C /src --strip-components=1 && ! command -v python3")
    return root


def test_the_archive_is_built_installed_and_included(unpacked: roots.Root, service: dict[str, str]) -> None:
    """The builds are as deep below /src as that of build.sh, so that ccache has most of the objects."""
    # The build type is that of build.sh; without one, as in `fetched`, the compiler is quicker.
    configure = f"{SAME_LOCALE}; {NO_NETWORK} cmake -G Ninja -DCMAKE_BUILD_TYPE=Release"
    unpacked.run(
        f"""{configure} -S /src -B /src/build/first
        setsid cmake --build /src/build/first & build=$!
        until find /src/build/first/c* -name '*.o' | grep -q .; do sleep 0.1; done
        kill -9 -- -$build; wait $build
        cmake --build /src/build/first && cmake --install /src/build/first""",
        env=CCACHE,
    )
    for licence in ("LICENSE", "yyjson.txt", "nanoarrow.txt"):
        unpacked.run(f"test -s /usr/local/share/licenses/billcore/{licence}")
    unpacked.run("ldconfig && cmake -S /src/examples/installed -B installed -G Ninja && cmake --build installed")
    unpacked.run("cc /src/examples/c/find.c -o find $(pkg-config --cflags --libs billcore-static)")
    for program in ("installed/find", "installed/find-c", "./find"):
        assert unpacked.run(f"{program} demo-active", env=service).stdout == "480001 active\n"
    # In another project, which fails if its own settings change; the installed libraries are not there to be found.
    unpacked.run("xargs rm < /src/build/first/install_manifest.txt")
    unpacked.copy(ROOT / "tests/release/included", "/included")
    unpacked.run("cp /src/examples/c/find.c /src/examples/c/verify_webhook.c /src/examples/cpp/find.cpp /included")
    parent = f"{configure} -S /included -B /src/build/parent -DBILLCORE=/src && cmake --build /src/build/parent"
    unpacked.run(parent, env=CCACHE)
    for program in ("find", "find-cxx"):
        assert unpacked.run(f"/src/build/parent/{program} demo-active", env=service).stdout == "480001 active\n"
    assert "Total Tests: 1\n" in unpacked.run("ctest --test-dir /src/build/parent -N").stdout
    unpacked.run("cmake --install /src/build/parent --prefix /installed")
    assert unpacked.run("find /installed -type f").stdout == "/installed/bin/verify\n"
    fetched = f"""archive=$(ls /dist/billcore-c-*.tar.gz); hash=$(sha256sum < $archive | cut -d' ' -f1)
        {NO_NETWORK} cmake -G Ninja -S /included -B fetched -DARCHIVE=$archive -DARCHIVE_SHA256=$hash &&
        cmake --build fetched"""
    unpacked.run(fetched)
    assert "libcurl" not in unpacked.run("ldd fetched/verify; find fetched -name '*.o'").stdout
    wrong = fetched.replace("$hash", "0" * 64)
    assert "SHA256 hash of" in unpacked.run(f"rm -r fetched; {wrong}", fails=True).stdout


CURL_RELEASE = "/usr/include/x86_64-linux-gnu/curl/curlver.h"
OPENSSL_RELEASE = "/usr/include/openssl/opensslv.h"
# What is done to the machine, the options of cmake, what it says.
BAD_MACHINES = {
    "no compiler": ("rm /usr/bin/c++ /usr/bin/g++*", "", "No CMAKE_CXX_COMPILER could be found."),
    "old compiler": (
        ":",
        "'-DCMAKE_CXX_FLAGS=-U__GNUC__ -D__GNUC__=10'",
        "billcore needs GCC 11 or newer, or Clang, and /usr/bin/c++ is GCC 10.2.0: pass -DCMAKE_CXX_COMPILER=",
    ),
    "old libcurl": (
        f"sed -i 's/define LIBCURL_VERSION .*/define LIBCURL_VERSION \"7.74.0\"/' {CURL_RELEASE}",
        "",
        "billcore needs libcurl 7.88 or newer, and this machine has 7.74.0: install a newer one",
    ),
    "no libcurl": (
        "apt-get purge -y libcurl4-openssl-dev",
        "",
        "billcore needs the development files of libcurl 7.88 or newer: install them (on Debian, the package libcurl4",
    ),
    "old OpenSSL": (
        f"sed -i 's/define OPENSSL_VERSION_STR .*/define OPENSSL_VERSION_STR \"1.1.1\"/' {OPENSSL_RELEASE}",
        "",
        "billcore needs OpenSSL 3.0 or newer, and this machine has 1.1.1: install a newer one",
    ),
    "no yyjson": (
        "rm -r /src/core/third_party/yyjson",
        "",
        "There is no Python 3 to fetch yyjson with: install it, or install yyjson, or pass -DBILLCORE_YYJSON_SOURCE=",
    ),
}


@pytest.mark.parametrize(("change", "options", "said"), BAD_MACHINES.values(), ids=BAD_MACHINES)
def test_a_machine_that_cannot_build_says_what_is_missing(
    change: str, options: str, said: str, unpacked: roots.Root
) -> None:
    unpacked.run(change)
    output = unpacked.run(f"{NO_NETWORK} cmake -G Ninja -S /src -B build {options}", fails=True).stdout
    assert said in " ".join(output.split()), output


def test_a_home_that_is_read_only_is_named() -> None:
    command = [sys.executable, str(ROOT / "core/cmake/fetch_source.py"), "yyjson"]
    done = subprocess.run(command, env={"XDG_CACHE_HOME": "/dev/null"}, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.count("\n") == 1, done.stderr
    assert "/dev/null/billcore" in done.stderr and "set XDG_CACHE_HOME to a folder that can be written" in done.stderr
