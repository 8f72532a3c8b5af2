"""Describes a release: manifest.py FOLDER writes three files into the folder that release.sh filled.

SHA256SUMS has the hash of every other file, for `sha256sum --check`. sbom.cdx.json, a bill of materials (CycloneDX),
says what each package contains. provenance.json, an in-toto statement with a SLSA provenance, says from which commit
and with which pinned sources the files were made. The statement is not signed: whoever publishes a release signs it.
"""

from __future__ import annotations

import argparse
import fnmatch
import hashlib
import json
import os
import re
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import finish
import sources

FILES = ("SHA256SUMS", "sbom.cdx.json", "provenance.json")
COMPILED = ("yyjson", "nanoarrow")  # in every build of the core
LINKED = ("curl", "openssl", "nghttp2", "zlib", "libcxx")  # in the builds that need no library of the system
# The packages of a release: a pattern of the path, the package's URL, and the third-party sources in it.
PACKAGES: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("billcore-*.whl", "pkg:pypi/billcore@{version}", (*LINKED, *COMPILED, "pybind11")),
    ("billcore_sandbox-*.whl", "pkg:pypi/billcore-sandbox@{version}", ("htmx",)),
    ("billcore_sandbox-*.tar.gz", "pkg:pypi/billcore-sandbox@{version}", ()),
    ("billcore-c-*.tar.gz", "pkg:generic/billcore-c@{version}", COMPILED),
    ("billcore-*.tar.gz", "pkg:pypi/billcore@{version}", COMPILED),
    ("*billcore-src*.crate", "pkg:cargo/billcore-src@{version}", COMPILED),
    ("*billcore-sys*.crate", "pkg:cargo/billcore-sys@{version}", ()),
    ("*billcoretest*.crate", "pkg:cargo/billcoretest@{version}", ()),
    ("*billcore-*.crate", "pkg:cargo/billcore@{version}", ()),
    ("go/*/lib/*.zip", "pkg:golang/{module}@v{version}", (*LINKED, *COMPILED)),
    ("go/*.zip", "pkg:golang/{module}@v{version}", ()),
    ("*.deb", "pkg:deb/{package}@{version}?arch={processor}", COMPILED),
)


def package_of(path: str, version: str) -> tuple[str, tuple[str, ...]] | None:
    """Returns a file's package URL and its third-party sources; None for a file that is not a package."""
    for pattern, url, parts in PACKAGES:
        if fnmatch.fnmatchcase(path, pattern):
            module = re.match(r"go/(.*)/@v/", path)
            package, _, processor = Path(path).stem.replace("_" + version, "").partition("_")
            return url.format(
                version=version, module=module[1] if module else "", package=package, processor=processor
            ), parts
    return None


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def files_of(folder: Path) -> Iterator[tuple[str, str]]:
    """The files of a release, as path and SHA-256, without those that this module writes."""
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_file() and name not in FILES:
            yield name, digest(path)


def parts_of_all() -> dict[str, dict[str, object]]:
    """The third-party sources in all packages, by name."""
    parts = {str(part["name"]): part for part in finish.components()}
    # The sandbox takes htmx from a package at build time.
    version = re.search(r"Version (\S+), in django-htmx", (sources.ROOT / "python/sandbox/hatch_build.py").read_text())
    assert version is not None
    purl = f"pkg:npm/htmx.org@{version[1]}"
    licence = [{"expression": "0BSD"}]
    parts["htmx"] = {
        "type": "library", "bom-ref": purl, "name": "htmx", "version": version[1], "licenses": licence, "purl": purl
    }  # fmt: skip
    return parts


def bill_of_materials(files: dict[str, str], version: str) -> dict[str, object]:
    parts = parts_of_all()
    packages: list[dict[str, object]] = []
    contains = []
    used: set[str] = set()
    for path, sha256 in files.items():
        if (package := package_of(path, version)) is None:
            continue
        purl, inside = package
        used.update(inside)
        packages.append(
            {
                "type": "library",
                "bom-ref": f"file:{path}",
                "name": Path(path).name,
                "version": version,
                "hashes": [{"alg": "SHA-256", "content": sha256}],
                "licenses": [{"license": {"id": "MIT"}}],
                "purl": purl,
            }
        )
        contains.append({"ref": f"file:{path}", "dependsOn": [str(parts[name]["bom-ref"]) for name in inside]})
    components = packages + [part for name, part in parts.items() if name in used]
    own = f"pkg:generic/billcore@{version}"
    # The serial number is derived from the content.
    serial = uuid.uuid5(uuid.NAMESPACE_URL, json.dumps([own, components], sort_keys=True))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{serial}",
        "version": 1,
        "metadata": {
            "component": {"type": "library", "bom-ref": own, "name": "billcore", "version": version, "purl": own}
        },
        "components": components,
        "dependencies": [{"ref": own, "dependsOn": [each["ref"] for each in contains]}, *contains],
    }


def git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=sources.ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def provenance(files: dict[str, str]) -> dict[str, object]:
    tools = [line for line in (sources.FOLDER / "requirements.txt").read_text().split() if "==" in line]
    pinned = [
        {"uri": f"pkg:cargo/{each.crate}@{each.crate_version}", "digest": {"sha256": each.sha256}}
        for each in sources.read()
        if each.crate
    ]
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": path, "digest": {"sha256": sha256}} for path, sha256 in files.items()],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:billcore:release.sh:1",
                # A release is made from a commit; files that differ from it are told here.
                "externalParameters": {
                    "commit": git("rev-parse", "HEAD"),
                    "changed": git("status", "--porcelain", "--untracked-files=no").splitlines(),
                    "epoch": os.environ.get("SOURCE_DATE_EPOCH", ""),
                },
                "resolvedDependencies": [*pinned, *({"uri": f"pkg:pypi/{tool.replace('==', '@')}"} for tool in tools)],
            },
            "runDetails": {"builder": {"id": "urn:billcore:release.sh"}},
        },
    }


def write(folder: Path) -> None:
    version = re.search(r"project\(billcore VERSION (\S+)", (sources.ROOT / "CMakeLists.txt").read_text())
    assert version is not None
    files = dict(files_of(folder))
    for name, content in (
        ("sbom.cdx.json", bill_of_materials(files, version[1])),
        ("provenance.json", provenance(files)),
    ):
        (folder / name).write_text(json.dumps(content, indent=2) + "\n")
        files[name] = digest(folder / name)
    (folder / "SHA256SUMS").write_text("".join(f"{sha256}  {path}\n" for path, sha256 in sorted(files.items())))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="the folder that release.sh filled")
    write(parser.parse_args().folder)
