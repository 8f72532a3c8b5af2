"""Checks that the libraries export the functions that the headers declare and capi/abi/symbols.txt lists.

Usage: check_symbols.py CAPI_FOLDER LIBBILLCORE_WEBHOOK LIBBILLCORE [--write]
--write brings symbols.txt up to date first.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from header import read_functions

# The symbol that libbillcore finds only in a libbillcore-webhook of the same build; no header declares it.
PRIVATE = {"billcore_private_build"}
NEEDS = {"webhook": set[str](), "client": PRIVATE}
SONAMES = {"webhook": "libbillcore-webhook.so.0", "client": "libbillcore.so.0"}


def exported(library: Path) -> set[str]:
    """Returns the names of the library's defined dynamic symbols, without the names of symbol versions."""
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
    assert all(len(row) == 3 and row[1] in SONAMES for row in rows), "symbols.txt: NAME webhook|client VERSION"
    names = [row[0] for row in rows]
    assert names == sorted(set(names)), "symbols.txt: sorted, each name once"
    return {name: (library, version) for name, library, version in rows}


def main() -> None:
    capi, *paths = (Path(argument) for argument in sys.argv[1:4])
    libraries = dict(zip(SONAMES, paths, strict=True))
    problems: list[str] = []
    in_library = {name: exported(path) for name, path in libraries.items()}
    every_function = read_functions(capi / "include")
    functions = {function.name: function for function in every_function if not function.inline}
    where = {name: library for library, names in in_library.items() for name in names}
    now = {name: (library, functions[name].since if name in functions else "0.1") for name, library in where.items()}
    path = capi / "abi" / "symbols.txt"
    if sys.argv[4:] == ["--write"]:
        head = "# Every exported symbol, its library and the version that introduced it. Rows are only added.\n"
        path.write_text(
            head + "".join(f"{name} {library} {version}\n" for name, (library, version) in sorted(now.items()))
        )
    listed = read_list(path)

    def differ(what: str, names: set[str]) -> None:
        problems.extend(f"{what}: {name}" for name in sorted(names))

    every = set().union(*in_library.values())
    differ("in two libraries", {name for name in every if sum(name in names for names in in_library.values()) > 1})
    differ("exported, but not billcore_*", {name for name in every if not name.startswith("billcore_")})
    differ("declared, but exported by no library", functions.keys() - every)
    differ("inline, but exported", {f.name for f in every_function if f.inline} & every)
    differ("exported, but not declared", every - functions.keys() - PRIVATE)
    differ("not in symbols.txt", every - listed.keys())
    differ("in symbols.txt, but not exported", listed.keys() - every)
    differ("in symbols.txt under another library or version", {n for n in every & listed.keys() if listed[n] != now[n]})
    differ("declared without a comment that says @since", {f.name for f in every_function if not f.documented})
    for name, path in libraries.items():
        asked = {symbol for symbol in undefined(path) if symbol.startswith("billcore_")}
        if asked != NEEDS[name]:
            problems.append(f"the {name} library asks others for {sorted(asked)}, not for {sorted(NEEDS[name])}")
        if soname(path) != SONAMES[name]:
            problems.append(f"{path.name}: soname {soname(path)}, not {SONAMES[name]}")
    print("\n".join(problems) or f"{len(every)} symbols, each in one library, declared and listed")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
