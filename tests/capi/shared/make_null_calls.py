"""Writes a C program that calls every fallible function of billcore.h with NULL where a handle or an output belongs.

Each call with NULL must return BILLCORE_ERROR_INVALID_ARGUMENT, fill in the error, and leave every output zero.
Usage: make_null_calls.py INCLUDE_FOLDER OUTPUT.c
"""

import sys
from pathlib import Path

from header import Function, Parameter, read_functions

HEAD = """/* Written by make_null_calls.py. */
#include <billcore/arrow.h>

#include "support/check.h"

static billcore_error *err;
static unsigned char zeros[128];

static void fails(const char *name, billcore_status status) {
  if (status != BILLCORE_ERROR_INVALID_ARGUMENT || billcore_error_status(err) != BILLCORE_ERROR_INVALID_ARGUMENT ||
      strstr(billcore_error_message(err).data, "NULL") == NULL) {
    fprintf(stderr, "%s gave %s: %s\\n", name, billcore_status_name(status), billcore_error_message(err).data);
    exit(1);
  }
  billcore_error_free(err);
  err = (billcore_error *)1;
}

int main(void) {
"""


def is_handle(parameter: Parameter) -> bool:
    """Whether a parameter is a handle (a pointer to an opaque struct) that must not be NULL. (`options` may be
    NULL.)"""
    kind = parameter.type.removeprefix("const ").removesuffix(" *")
    optional = parameter.type.startswith("const ") and parameter.name == "options"
    return not optional and parameter.type.count("*") == 1 and kind.startswith("billcore_") and kind not in TRANSPARENT


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


def is_output(parameter: Parameter) -> bool:
    is_pointer = parameter.type.endswith("*") and not parameter.type.startswith("const ") and parameter.type != "void *"
    return is_pointer and not is_handle(parameter)


def call(function: Function, *, outputs: bool) -> str:
    lines, arguments, checks = [], [], []
    for number, parameter in enumerate(function.parameters[:-1]):
        handle = number == 0 and is_handle(parameter)
        if not handle and is_output(parameter) and outputs:
            kind = parameter.type.removesuffix("*").strip()
            lines.append(
                f"    {kind} {parameter.name};\n    memset(&{parameter.name}, 0x55, sizeof {parameter.name});\n"
            )
            arguments.append(f"&{parameter.name}")
            checks.append(f"    CHECK(memcmp(&{parameter.name}, zeros, sizeof {parameter.name}) == 0);\n")
        elif parameter.name == "room":  # the parameter before `room` is an output array; `room` is its capacity
            arguments.append("1")
        elif parameter.type == "billcore_str":
            arguments.append('BILLCORE_STR("x")')
        else:
            arguments.append("NULL" if "*" in parameter.type or parameter.type in CALLBACKS else "0")
    arguments.append("&err")
    body = (
        "".join(lines) + f'    fails("{function.name}", {function.name}({", ".join(arguments)}));\n' + "".join(checks)
    )
    return "  {\n" + body + "  }\n"


def main() -> None:
    every = read_functions(Path(sys.argv[1]))
    functions = [f for f in every if f.result == "billcore_status" and f.parameters[-1].name == "err"]
    assert len(functions) > 200, len(functions)
    text = HEAD
    for function in functions:
        if is_handle(function.parameters[0]):
            text += call(function, outputs=True)
        elif any(is_output(p) for p in function.parameters[:-1]):
            text += call(function, outputs=False)
    Path(sys.argv[2]).write_text(text + "  return 0;\n}\n")


if __name__ == "__main__":
    main()
