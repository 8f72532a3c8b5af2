"""Prints which bundled sources are older than the newest release in their registry. Usage: newest.py

The script needs the network. The script exits with status 1 if a source is older than the newest release.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import sources


def crate_versions(crate: str) -> list[str]:
    """Returns the newest version of the crate and the newest version in the release line of the pinned release.

    The function runs cargo, which queries the registry.
    """
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        (project / "carrier.rs").touch()
        manifest = (
            '[package]\nname = "carrier"\nversion = "0.0.0"\n[lib]\npath = "carrier.rs"\n[workspace]\n'
            f'[dependencies]\n{crate} = "REQUIREMENT"\n'
        )
        found = []
        (pinned,) = [source for source in sources.read() if source.crate == crate]
        major, minor, _ = pinned.crate_version.split("+")[0].split(".")
        for requirement in ("*", f"~{major}.{minor}"):
            (project / "Cargo.toml").write_text(manifest.replace("REQUIREMENT", requirement))
            (project / "Cargo.lock").unlink(missing_ok=True)
            ask = ["cargo", "metadata", "--format-version", "1", "--quiet"]
            done = subprocess.run(ask, cwd=project, capture_output=True, text=True)
            if done.returncode != 0:
                raise SystemExit(f"newest: cargo could not ask the registry for {crate}: {done.stderr.strip()}")
            packages = json.loads(done.stdout)["packages"]
            found += [package["version"] for package in packages if package["name"] == crate]
        return found


def package_versions(package: str) -> list[str]:
    ask = [sys.executable, "-m", "pip", "index", "versions", package, "--disable-pip-version-check"]
    said = subprocess.run(ask, capture_output=True, text=True)
    found = re.search(r"^Available versions: (.*)$", said.stdout, re.MULTILINE)
    if found is None:
        raise SystemExit(f"newest: pip could not ask the index for {package}: {said.stderr.strip()}")
    return found[1].split(", ")


def ordered(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version))


def newest(source: sources.Source) -> tuple[str, str]:
    """Returns the pinned release and the newest release of its series."""
    if source.crate:
        versions = [
            carried[1]
            for each in crate_versions(source.crate)
            if (carried := re.search(source.carries or "(.*)", each)) is not None
        ]
        pinned = source.version if source.carries else source.crate_version
    else:
        carrier = source.tool or source.package
        versions = [each for each in package_versions(carrier) if re.fullmatch(r"[\d.]+", each)]
        pinned = source.carrier_version()
    series = [each for each in versions if each.startswith(source.series)]
    return pinned, max(series, key=ordered)


def main() -> int:
    behind = 0
    for source in sources.read():
        pinned, latest = newest(source)
        if ordered(latest) > ordered(pinned):
            behind += 1
            print(f"{source.name}: {pinned} is behind {latest}")
        else:
            print(f"{source.name}: {pinned} is the newest" + (f" of {source.series}*" if source.series else ""))
    return 1 if behind else 0


if __name__ == "__main__":
    sys.exit(main())
