"""Reads the C headers and writes the list of functions that abi_fuzz.cpp calls. Needs tests/capi/shared in PYTHONPATH.

Usage: make_abi_steps.py CAPI_FOLDER OUTPUT.hpp
New functions and handles are found automatically. Only a new function that takes a client but sends no request must be
named in sends().
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from header import Function, headers, read_functions

LIBRARIES = {"webhook", "client"}  # the libraries that the target is linked with


def sends(function: Function) -> bool:
    """Whether a function takes a client or reads from a list, and so may send a request."""
    kind = function.parameters[0].type if function.parameters else ""
    if kind.removeprefix("const ") == "billcore_client *":
        return not function.name.endswith(("_new", "_client_close", "_client_list", "_client_with_options"))
    return kind == "billcore_list *" and not function.name.endswith("_stop")


def rows(name: str, lines: list[str]) -> str:
    return f"#define {name}" + "".join(" \\\n  " + line for line in lines) + "\n"


def functions_of(capi: Path) -> dict[str, Function]:
    listed = [line.split() for line in (capi / "abi" / "symbols.txt").read_text().splitlines() if line[0] != "#"]
    linked = {row[0] for row in listed if row[1] in LIBRARIES}
    return {f.name: f for f in read_functions(capi / "include") if f.name in linked}


def steps_of(capi: Path) -> list[Function]:
    found = [f for f in functions_of(capi).values() if not f.name.endswith("_free") and not sends(f)]
    # Leaves out functions that fill an array, because the target has room for one value only, and those that take what
    # only a request gives.
    found = [f for f in found if all(p.name != "room" for p in f.parameters)]
    return sorted((f for f in found if "_result_take_" not in f.name), key=lambda f: f.name)


def main() -> None:
    capi, output = (Path(argument) for argument in sys.argv[1:])
    functions, steps = functions_of(capi), steps_of(capi)
    text = "\n".join(path.read_text("utf-8") for path in headers(capi / "include"))

    handles = [name[9:-5] for name in functions if name.endswith("_free") and name != "billcore_buf_free"]
    kinds = re.findall(r"billcore_(\w+)_free\(billcore_\1\* \w+\) \{\s*billcore_(\w+)_free\(", text)
    calls = [f"{'CALL' if f.parameters and f.parameters[-1].name == 'err' else 'GET'}({f.name})" for f in steps]
    assert len(handles) > 15 and len(kinds) > 20 and len(steps) > 120, (len(handles), len(kinds), len(steps))
    output.write_text(
        "// Written by make_abi_steps.py.\n"
        + rows(
            "BILLCORE_HANDLES(HANDLE, COMMA)",
            [("" if i == 0 else "COMMA ") + f"HANDLE({h})" for i, h in enumerate(handles)],
        )
        + rows("BILLCORE_KINDS(KIND)", [f"KIND({kind}, {other})" for kind, other in kinds if other in handles])
        + rows("BILLCORE_STEPS(CALL, GET)", [call + "," for call in calls])
    )


if __name__ == "__main__":
    main()
