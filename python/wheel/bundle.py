"""Makes a zip for AWS Lambda from a wheel: bundle.py WHEEL --output ZIP [--layer] [FILE…]

By default, the zip is the code of a function that only receives webhooks. The zip contains the FILEs, such as
examples/serverless/aws_lambda.py, and `billcore.webhooks` without the REST client; without the REST client, billcore
is five times smaller. --layer makes a Lambda layer with the whole package, in the folder where Lambda looks for
packages.

Take the wheel for the Lambda function's runtime and processor: cp311 and x86_64 for python3.11 on x86_64.
"""

from __future__ import annotations

import argparse
import sys
import zipfile
from pathlib import Path

EPOCH = (2020, 1, 1, 0, 0, 0)  # a fixed time, so that equal contents give identical zips
# billcore.webhooks and the modules that it imports, immediately or on first use.
MODULES = {
    "__init__",
    "webhooks",
    "_durations",
    "_error_base",
    "_error_record",
    "_errors",
    "_missing_library",
    "_not_given",
    "_pydantic",
    "_receivers",
    "_shown",
    "_shown_fields",
}
MODULES |= {"_types", "_webhook"}
THIRD_PARTY = {"openssl", "yyjson", "pybind11", "libcxx"}


def receives_webhooks(name: str) -> bool:
    """Whether a file of the wheel belongs to the zip without the REST client."""
    parts = name.split("/")
    if parts[0] == "billcore":
        return parts[1].split(".")[0] in MODULES and not name.endswith(".pyi")
    if "third_party" in parts:
        return parts[parts.index("third_party") + 1] in THIRD_PARTY
    return parts[1:] == ["licenses", "LICENSE"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=Path)
    parser.add_argument("files", type=Path, nargs="*")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--layer", action="store_true")
    given = parser.parse_args()
    if not zipfile.is_zipfile(given.wheel):
        parser.error(f"{given.wheel} is not a wheel: make one with python/wheel/build.sh")
    with zipfile.ZipFile(given.wheel) as archive:
        if not any(name.startswith("billcore/_webhook.") and name.endswith(".so") for name in archive.namelist()):
            parser.error(f"{given.wheel} is not a wheel of billcore")
        taken = {name: archive.read(name) for name in archive.namelist() if given.layer or receives_webhooks(name)}
    if given.layer:
        taken = {f"python/{name}": content for name, content in taken.items()}
    for file in given.files:
        if not file.is_file():
            parser.error(f"{file} does not exist")
        taken[file.name] = file.read_bytes()
    with zipfile.ZipFile(given.output, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as made:
        for name, content in sorted(taken.items()):
            entry = zipfile.ZipInfo(name, EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16  # Lambda requires that every user can read the unpacked files
            made.writestr(entry, content)
    size = sum(len(content) for content in taken.values())
    print(f"{given.output} ({given.output.stat().st_size} bytes, {size} unpacked)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
