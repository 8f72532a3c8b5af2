"""Writes each example of the headers as a C function that examples_test.c runs.

An example is an `@code{.c}` block of 5 to 12 lines. An example may use the members of `given` in examples.h as
variables, and a variable `status`. Every hand-written header that declares functions has at least one example. Usage:
make_examples.py INCLUDE_FOLDER OUTPUT.c
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from header import headers

EXAMPLE = re.compile(r"^ \* @code\{\.c\}\n(.*?)^ \* @endcode$", re.MULTILINE | re.DOTALL)
WITHOUT = {"types.h", "options.h"}  # headers that need no example of their own
GENERATED_WITH = {"event.h"}


def needs_example(path: Path, text: str) -> bool:
    if text.startswith("/* Generated"):
        return path.name in GENERATED_WITH
    return path.name not in WITHOUT and "\nBILLCORE_" in text


def main() -> None:
    functions, table = "", ""
    for path in headers(Path(sys.argv[1])):
        text = path.read_text("utf-8")
        found = list(EXAMPLE.finditer(text))
        if needs_example(path, text) and not found:
            sys.exit(f"{path}: its opening comment has no example between @code{{.c}} and @endcode")
        for number, match in enumerate(found):
            lines = match[1].splitlines()
            line = text.count("\n", 0, match.start()) + 2
            if not 5 <= len(lines) <= 12:
                sys.exit(f"{path}:{line}: an example of {len(lines)} lines; 5 to 12 are allowed")
            name = f"{path.stem}_{number}"
            code = "\n".join(one.removeprefix(" *").removeprefix(" ") for one in lines)
            functions += f'EXAMPLE({name}) {{\n  GIVEN;\n#line {line} "{path}"\n  {{\n{code}\nreturn status; }}\n}}\n\n'
            table += f'  {{"{path.name}", {name}}},\n'
    text = '/* Written by make_examples.py. */\n#include "shared/examples.h"\n\n'
    Path(sys.argv[2]).write_text(
        f"{text}{functions}const example examples[] = {{\n{table}  {{NULL, NULL}}\n}};\n", "utf-8"
    )


if __name__ == "__main__":
    main()
