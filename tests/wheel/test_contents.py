"""The files in the wheel, and the libraries that its modules need."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import time
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import billcore
from billcore import webhooks

ROOT = Path(__file__).resolve().parent.parent.parent
SOURCES: dict[str, dict[str, Any]] = tomllib.loads((ROOT / "python/wheel/sources.toml").read_text("utf-8"))
# Maps names in build_info() to names in sources.toml. The run-time library of the compiler has no entry in
# build_info().
LINKED = {
    "curl": "libcurl",
    **{name: name for name in ("openssl", "nghttp2", "zlib", "yyjson", "nanoarrow", "pybind11")},
}


def info_file(wheel: zipfile.ZipFile, name: str) -> str:
    (path,) = [each for each in wheel.namelist() if re.fullmatch(rf"[^/]+\.dist-info/{re.escape(name)}", each)]
    return wheel.read(path).decode()


def test_it_has_two_modules_and_no_library(wheel: zipfile.ZipFile) -> None:
    assert wheel.filename is not None and os.path.getsize(wheel.filename) <= 5_000_000
    libraries = [name for name in wheel.namelist() if ".so" in Path(name).name]
    assert sorted(re.sub(r"\.cpython-\w+-x86_64-linux-gnu", "", name) for name in libraries) == [
        "billcore/_client.so",
        "billcore/_webhook.so",
    ]


def test_it_needs_no_other_package(wheel: zipfile.ZipFile) -> None:
    required = re.findall(r"^Requires-Dist: (.*)$", info_file(wheel, "METADATA"), re.MULTILINE)
    assert [each for each in required if "extra ==" not in each] == []


def test_the_page_on_the_index_is_the_readme_without_links(wheel: zipfile.ZipFile) -> None:
    page = info_file(wheel, "METADATA").partition("\n\n")[2]
    assert page.startswith("# billcore\n") and "## Was I charged?" in page and "](" not in page and "\n!" not in page


def test_the_loader_needs_libc_alone(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    for name in wheel.namelist():
        if ".so" in Path(name).name:
            shown = subprocess.run(["ldd", wheel.extract(name, tmp_path)], capture_output=True, text=True, check=True)
            libraries = {line.split()[0] for line in shown.stdout.splitlines()}
            own = {each for each in libraries if not re.match(r"linux-vdso|/lib64/ld-linux", each)}
            assert own <= {"libc.so.6", "libpthread.so.0", "libdl.so.2", "libm.so.6", "librt.so.1"}, name


def test_no_symbol_is_newer_than_the_tag(wheel: zipfile.ZipFile, tmp_path: Path) -> None:
    assert wheel.filename is not None and "manylinux_2_17" in wheel.filename
    for name in wheel.namelist():
        if ".so" in Path(name).name:
            shown = subprocess.run(["objdump", "-T", wheel.extract(name, tmp_path)], capture_output=True, text=True)
            versions = {tuple(map(int, each.split("."))) for each in re.findall(r"GLIBC_([\d.]+)", shown.stdout)}
            assert versions and max(versions) <= (2, 17), name
            exported = re.findall(r"^\w+ g.*\s(\S+)$", shown.stdout, re.MULTILINE)
            assert [each for each in exported if not each.startswith("PyInit_")] == [], name


def test_build_info_names_what_was_pinned() -> None:
    info = billcore.build_info()
    assert info["self_contained"] is True
    assert info["version"] == billcore.__version__
    assert info["libraries"] == {LINKED[name]: entry["version"] for name, entry in SOURCES.items() if name in LINKED}


def test_the_licences_are_inside(wheel: zipfile.ZipFile) -> None:
    metadata = info_file(wheel, "METADATA")
    for name, entry in SOURCES.items():
        for path in entry["licence_files"]:
            file = f"third_party/{name}/{Path(path).name}"
            assert f"License-File: {file}\n" in metadata
            assert len(info_file(wheel, f"licenses/{file}")) > 500, file
        assert entry["licence"] in metadata
    assert "billcore authors" in info_file(wheel, "licenses/LICENSE")


def test_the_bill_of_materials_names_them(wheel: zipfile.ZipFile) -> None:
    bill = json.loads(info_file(wheel, "sboms/billcore.cdx.json"))
    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    assert {part["name"]: part["version"] for part in bill["components"]} == {
        name: entry["version"] for name, entry in SOURCES.items()
    }
    assert {part["bom-ref"] for part in bill["components"]} == set(bill["dependencies"][0]["dependsOn"])


def test_record_lists_exactly_the_files_of_the_wheel(wheel: zipfile.ZipFile) -> None:
    """RECORD lists exactly the files of the wheel."""
    listed = [line.split(",")[0] for line in info_file(wheel, "RECORD").splitlines()]
    assert sorted(listed) == sorted(wheel.namelist())


def test_signatures_use_the_instructions_of_the_processor() -> None:
    """The wheel must use the processor's SHA instructions: without them, SHA-256 takes four times as long as in
    Python's libcrypto, which uses them."""
    body, secret = bytes(1 << 20), "s" * 32
    signature = webhooks.sign(body, secret)
    verifier = webhooks.Verifier(secret)

    def quickest(work: Callable[[], object]) -> int:
        def took() -> int:
            start = time.process_time_ns()
            work()
            return time.process_time_ns() - start

        return min(took() for _ in range(20))

    assert quickest(lambda: verifier.verify(body, signature)) < 2.5 * quickest(lambda: hashlib.sha256(body).digest())
