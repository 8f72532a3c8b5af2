"""Compares what both libraries export, what the header declares, and capi/abi/symbols.txt.

Usage: check_symbols.py CAPI_FOLDER LIBBILLCORE_WEBHOOK LIBBILLCORE [--write]
--write brings symbols.txt up to date first.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from header import read_functions

PRIVATE = "billcore_private_build"  # between the two libraries, in no header


def exported(library: Path) -> set[str]:
    """Names of the defined dynamic symbols, without those of the version nodes."""
    out = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in out.splitlines()]
    return {row[-1].split("@")[0] for row in rows if row[-2] != "A"}


def undefined(library: Path) -> set[str]:
    out = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].split("@")[0] for line in out.splitlines()}


def soname(library: Path) -> str:
    out = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    found = re.search(r"SONAME.*\[(.*)\]", out)
    return found[1] if found else ""


def read_list(path: Path) -> dict[str, tuple[str, str]]:
    rows = [line.split() for line in path.read_text().splitlines() if line and not line.startswith("#")]
    assert all(len(row) == 3 and row[1] in ("webhook", "client") for row in rows), (
        "symbols.txt: NAME webhook|client VERSION"
    )
    names = [row[0] for row in rows]
    assert names == sorted(set(names)), "symbols.txt: sorted, each name once"
    return {name: (library, version) for name, library, version in rows}


def main() -> None:
    capi, webhook, client = (Path(argument) for argument in sys.argv[1:4])
    problems: list[str] = []
    in_library = {"webhook": exported(webhook), "client": exported(client)}
    every_function = read_functions(capi / "include")
    functions = {function.name: function for function in every_function if not function.inline}
    where = {name: library for library, names in in_library.items() for name in names}
    now = {name: (library, functions[name].since if name in functions else "0.1") for name, library in where.items()}
    path = capi / "abi" / "symbols.txt"
    if sys.argv[4:] == ["--write"]:
        head = "# Every exported symbol, the library it lives in, the version it came in. Rows are only ever added.\n"
        path.write_text(
            head + "".join(f"{name} {library} {version}\n" for name, (library, version) in sorted(now.items()))
        )
    listed = read_list(path)

    def differ(what: str, names: set[str]) -> None:
        problems.extend(f"{what}: {name}" for name in sorted(names))

    every = in_library["webhook"] | in_library["client"]
    differ("in both libraries", in_library["webhook"] & in_library["client"])
    differ("exported, but not billcore_*", {name for name in every if not name.startswith("billcore_")})
    differ("declared, but exported by no library", functions.keys() - every)
    differ("inline, but exported", {f.name for f in every_function if f.inline} & every)
    differ("exported, but not declared", every - functions.keys() - {PRIVATE})
    differ("not in symbols.txt", every - listed.keys())
    differ("in symbols.txt, but not exported", listed.keys() - every)
    differ("in symbols.txt under another library or version", {n for n in every & listed.keys() if listed[n] != now[n]})
    differ("declared without a comment that says @since", {f.name for f in every_function if not f.documented})
    differ("asked for by the webhook library from the client library", undefined(webhook) & in_library["client"])
    if {n for n in undefined(client) if n.startswith("billcore_")} != {PRIVATE}:
        problems.append(f"the client library should need {PRIVATE} of the webhook library, nothing else")
    for library, name in ((webhook, "libbillcore-webhook.so.0"), (client, "libbillcore.so.0")):
        if soname(library) != name:
            problems.append(f"{library.name}: soname {soname(library)}, not {name}")
    print("\n".join(problems) or f"{len(every)} symbols, each in one library, declared and listed")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
