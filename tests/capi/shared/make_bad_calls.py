"""Writes a C program that calls the functions of the headers with what they must refuse: NULL where a handle or an
output belongs, and invalid texts, which have a length but NULL as their data, or an impossible length. A function must
refuse a text before it reads a byte of it.

Each call must return BILLCORE_ERROR_INVALID_ARGUMENT with an error, and leave every output zero.
Usage: make_bad_calls.py INCLUDE_FOLDER OUTPUT.c
"""

import sys
from pathlib import Path

from header import Function, Parameter, read_functions

HEAD = '/* Written by make_bad_calls.py. */\n#include "shared/bad_calls.h"\n\nvoid call_all(const given* g) {\n'
# Maps a handle type to the member of `given` that is passed for it with invalid texts. Other parameters get NULL, 0, 1
# or the address of an output variable.
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
TRANSPARENT = {
    "billcore_str",
    "billcore_buf",
    "billcore_cell",
    "billcore_status",
    "billcore_kind",
    "billcore_event_kind",
    "billcore_data_kind",
    "billcore_ticket",
}
CALLBACKS = {"billcore_interrupt", "billcore_clock", "billcore_done", "billcore_hook", "billcore_release"}


def pointed_to(parameter: Parameter) -> str:
    return parameter.type.removeprefix("const ").removesuffix(" *")


def is_handle(parameter: Parameter) -> bool:
    """Whether a parameter is a handle (a pointer to an opaque struct) that must not be NULL. (`options` may be
    NULL.)"""
    kind = pointed_to(parameter)
    optional = parameter.type.startswith("const ") and parameter.name == "options"
    return not optional and parameter.type.count("*") == 1 and kind.startswith("billcore_") and kind not in TRANSPARENT


def is_output(parameter: Parameter) -> bool:
    is_pointer = parameter.type.endswith("*") and not parameter.type.startswith("const ") and parameter.type != "void *"
    return is_pointer and not is_handle(parameter)


def call(function: Function, *, outputs: bool = True, odd: str = "") -> str:
    """Returns a call with NULL for the first handle, without `outputs` also for each output. With `odd`, returns calls
    with a handle and with each invalid text as the parameter of this name."""
    lines, arguments, checks = "", [], ""
    for number, parameter in enumerate(function.parameters[:-1]):
        name, kind = parameter.name, pointed_to(parameter)
        if is_output(parameter) and outputs:
            lines += f"    {parameter.type.removesuffix('*').strip()} {name};\n    SET({name});\n"
            checks += f"    CHECK_ZERO({name});\n"
            arguments.append(f"&{name}")
        elif odd and number == 0 and kind in HANDLES:
            arguments.append(f"g->{HANDLES[kind]}")
        elif name == "room":  # the parameter before `room` is an output array; `room` is its capacity
            arguments.append("1")
        elif parameter.type == "billcore_str":
            arguments.append("odd_texts[i]" if name == odd else 'BILLCORE_STR("x")')
        else:
            arguments.append("NULL" if "*" in parameter.type or parameter.type in CALLBACKS else "0")
    words = "a text has a length" if odd else "NULL"
    called = f"{function.name}({', '.join((*arguments, '&call_error'))})"
    times = "odd_count" if odd else "1"
    return (
        f"  for (int i = 0; i < {times}; ++i) {{\n{lines}"
        f'    refused("{function.name}", "{words}", {called});\n{checks}  }}\n'
    )


def main() -> None:
    text, with_text = HEAD, 0
    functions = [f for f in read_functions(Path(sys.argv[1])) if f.result == "billcore_status"]
    functions = [f for f in functions if f.parameters[-1].name == "err"]
    assert len(functions) > 200, len(functions)
    for function in functions:
        if is_handle(function.parameters[0]):
            text += call(function)
        elif any(is_output(p) for p in function.parameters[:-1]):
            text += call(function, outputs=False)
        texts = [p.name for p in function.parameters if p.type == "billcore_str"]
        if texts and not function.inline:
            with_text += 1
            text += "".join(call(function, odd=odd) for odd in texts)
    assert with_text > 40, with_text
    Path(sys.argv[2]).write_text(f"{text}}}\n")


if __name__ == "__main__":
    main()
