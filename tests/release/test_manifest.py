"""The three files that describe a release: hashes, bill of materials, provenance."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

PACKAGES = (".whl", ".tar.gz", ".crate", ".zip", ".deb")


def read(dist: Path, name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((dist / name).read_text())
    return content


def files_of(dist: Path) -> set[str]:
    return {path.relative_to(dist).as_posix() for path in dist.rglob("*") if path.is_file()} - {"SHA256SUMS"}


def test_every_file_has_its_hash(dist: Path) -> None:
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=dist, check=True)
    listed = {line.split("  ", 1)[1] for line in (dist / "SHA256SUMS").read_text().splitlines()}
    assert listed == files_of(dist)


def test_the_bill_of_materials_has_every_package(dist: Path) -> None:
    bill = read(dist, "sbom.cdx.json")
    packages = {f"file:{name}" for name in files_of(dist) if name.endswith(PACKAGES)}
    components = {part["bom-ref"]: part for part in bill["components"]}
    own, *contents = bill["dependencies"]
    assert len(components) == len(bill["components"])
    assert set(own["dependsOn"]) == packages == {each["ref"] for each in contents}
    assert len({components[name]["purl"] for name in packages}) > 3
    inside = {part for each in contents for part in each["dependsOn"]}
    assert inside == components.keys() - packages
    # A package with libraries inside lists them all: the licence of each obliges whoever passes the package on.
    (wheel,) = [each for each in contents if Path(each["ref"]).match("file:billcore-*.whl")][:1]
    names = {components[part]["name"] for part in wheel["dependsOn"]}
    assert names == {"curl", "openssl", "nghttp2", "zlib", "libcxx", "yyjson", "nanoarrow", "pybind11"}


def test_the_provenance_names_the_commit_and_every_file(dist: Path) -> None:
    statement = read(dist, "provenance.json")
    assert {each["name"] for each in statement["subject"]} == files_of(dist) - {"sbom.cdx.json", "provenance.json"}
    built = statement["predicate"]["buildDefinition"]
    assert len(built["externalParameters"]["commit"]) == 40
    assert built["externalParameters"]["epoch"].isdigit()
    assert all(each.get("digest") for each in built["resolvedDependencies"] if each["uri"].startswith("pkg:cargo/"))
