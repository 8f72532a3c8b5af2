"""Writes a C program that passes invalid texts to every exported function that takes a text and can fail. An invalid
text has a length but NULL as its data, or an impossible length. Each function must refuse the text before it reads a
byte of the text.

Usage: make_odd_texts.py INCLUDE_FOLDER OUTPUT.c
"""

import sys
from pathlib import Path

from header import Function, Parameter, read_functions

HEAD = '/* Written by make_odd_texts.py. */\n#include "shared/odd_texts.h"\n\nvoid call_all(const given* g) {\n'
# Maps a handle type to the member of `given` that is passed for it. Other parameters get NULL, 0, 1 or the address of
# an output variable.
HANDLES = {
    "billcore_client": "client",
    "billcore_loop": "loop",
    "billcore_response": "response",
    "billcore_response_info": "info",
    "billcore_value": "value",
    "billcore_operation": "operation",
    "billcore_options": "options",
    "billcore_page": "page",
    "billcore_resource": "resource",
    "billcore_verifier": "verifier",
    "billcore_verifier_options": "verifier_options",
    "billcore_verifier_stream": "stream",
    "billcore_headers": "headers",
}


def argument(parameter: Parameter, number: int, odd: bool) -> str:
    kind = parameter.type.removeprefix("const ").removesuffix(" *")
    if parameter.type == "billcore_str":
        return "odd_texts[i]" if odd else 'BILLCORE_STR("x")'
    if number == 0 and kind in HANDLES:
        return f"g->{HANDLES[kind]}"
    if parameter.name == "room":
        return "1"
    if parameter.type.endswith("*"):
        return "NULL" if parameter.type.startswith("const ") or parameter.type == "void *" else f"&{parameter.name}"
    return "0"


def call(function: Function, odd: str) -> str:
    given = function.parameters[:-1]
    outputs = [p for n, p in enumerate(given) if argument(p, n, False) == f"&{p.name}"]
    declared = "".join(f"    {p.type.removesuffix('*').strip()} {p.name};\n" for p in outputs)
    arguments = ", ".join(argument(p, n, p.name == odd) for n, p in enumerate(given))
    return (
        f"  for (int i = 0; i < odd_count; ++i) {{\n{declared}"
        f'    refused("{function.name}", "{odd}", {function.name}({arguments}, &odd_error));\n  }}\n'
    )


def main() -> None:
    text, functions = HEAD, 0
    for function in read_functions(Path(sys.argv[1])):
        texts = [p.name for p in function.parameters if p.type == "billcore_str"]
        if function.inline or not texts or function.result != "billcore_status":
            continue
        functions += 1
        text += "".join(call(function, odd) for odd in texts)
    assert functions > 40, functions
    Path(sys.argv[2]).write_text(f"{text}}}\n")


if __name__ == "__main__":
    main()
