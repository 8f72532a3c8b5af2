"""Makes a local registry of cargo from the packed crates: registry.py WORKSPACE FOLDER

WORKSPACE is the folder of the crates' sources; FOLDER has their .crate files. The registry is FOLDER itself: the script
adds the index, and config.toml, which tells cargo where the registry is.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

CONFIG = """\
# cargo --config THIS_FILE add billcore --registry billcore
# Nothing is ever read from the address: it names the registry in each Cargo.lock, whatever folder the crates are in.
[registries.billcore]
index = "sparse+https://billcore.example/cargo/"

[source.billcore]
registry = "sparse+https://billcore.example/cargo/"
replace-with = "billcore-crates"

# cargo looks for a relative path beside the folder of this file.
[source.billcore-crates]
local-registry = "{folder}"
"""


def dependency(found: dict[str, Any]) -> dict[str, Any]:
    entry = {
        "name": found["rename"] or found["name"],
        "req": found["req"],
        "features": found["features"],
        "optional": found["optional"],
        "default_features": found["uses_default_features"],
        "target": found["target"],
        "kind": found["kind"] or "normal",
        # Null is the registry of this index. cargo itself knows the address of its default registry.
        "registry": None if "path" in found else found["source"].removeprefix("registry+"),
    }
    return entry | ({"package": found["name"]} if found["rename"] else {})


def entry(package: dict[str, Any], crate: Path) -> dict[str, Any]:
    return {
        "name": package["name"],
        "vers": package["version"],
        "deps": [dependency(found) for found in package["dependencies"]],
        "cksum": hashlib.sha256(crate.read_bytes()).hexdigest(),
        "features": {},
        "features2": package["features"],
        "yanked": False,
        "links": package["links"],
        "rust_version": package["rust_version"],
        "v": 2,
    }


def main() -> None:
    workspace, folder = Path(sys.argv[1]), Path(sys.argv[2])
    command = ["cargo", "metadata", "--no-deps", "--format-version=1"]
    packages = json.loads(subprocess.run(command, cwd=workspace, stdout=subprocess.PIPE, check=True).stdout)["packages"]
    for package in packages:
        name = package["name"]
        file = folder / "index" / name[:2] / name[2:4] / name
        file.parent.mkdir(parents=True, exist_ok=True)
        line = entry(package, folder / f"{name}-{package['version']}.crate")
        file.write_text(json.dumps(line, sort_keys=True, separators=(",", ":")) + "\n")
    (folder / "config.toml").write_text(CONFIG.format(folder=folder.name))


if __name__ == "__main__":
    main()
