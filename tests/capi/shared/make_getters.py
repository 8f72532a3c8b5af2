"""Writes a table of the typed getters of the headers, by resource and field, for the conformance driver: the driver
reads every field of every resource, also a new one. Usage: make_getters.py INCLUDE_FOLDER OUTPUT.c
"""

import sys
from pathlib import Path

from header import Function, read_functions

HEAD = '/* Written by make_getters.py. */\n#include <string.h>\n\n#include "support/json_reply.h"\n\n'
RESOURCES = ("subscription", "order", "product", "product_group", "custom_field", "image", "event")
# Maps the types of a getter's outputs to the value that the driver puts into its reply.
VALUES = {
    "billcore_str": "put_text(reply, {0})",
    "int64_t": "yyjson_mut_int(reply, {0})",
    "bool": "yyjson_mut_bool(reply, {0})",
    "billcore_value *": "put_value(reply, {0})",
    "billcore_str int64_t": "put_time(reply, {0}, {1})",
    "billcore_str is_integer": "put_id(reply, {0}, is_integer)",
}


def getter(resource: str, function: Function) -> str:
    """Returns a function that calls the getter; an empty text if the function is not a getter of a field."""
    outputs = function.parameters[1:-1]
    values = [p for p in outputs if p.name != "present"]
    types = [p.name if p.name == "is_integer" else p.type.removesuffix("*").strip() for p in values]
    value = VALUES.get(" ".join(types), "").format(*(p.name for p in values))
    if not value or not all(p.type.endswith("*") for p in outputs):
        return ""
    if len(values) < len(outputs):
        value = f"present ? {value} : yyjson_mut_null(reply)"
    declared = "".join(f"  {p.type.removesuffix('*').strip()} {p.name};\n" for p in outputs)
    passed = "".join(f"&{p.name}, " for p in outputs)
    parameters = "yyjson_mut_doc* reply, const void* self, billcore_error** err"
    return (
        f"static yyjson_mut_val* get_{function.name}({parameters}) {{\n"
        f"{declared}  if ({function.name}(self, {passed}err) != BILLCORE_OK) return NULL;\n  return {value};\n}}\n"
    )


def main() -> None:
    text, rows = HEAD, ""
    for function in read_functions(Path(sys.argv[1])):
        for resource in RESOURCES:
            handle, prefix = f"const billcore_{resource} *", f"billcore_{resource}_"
            first = function.parameters[0].type if function.parameters else ""
            if first != handle or not function.name.startswith(prefix):
                continue
            if made := getter(resource, function):
                text += made
                rows += f'  {{"{resource}", "{function.name.removeprefix(prefix)}", get_{function.name}}},\n'
    assert rows.count("\n") > 70, rows
    Path(sys.argv[2]).write_text(f"{text}\nconst getter getters[] = {{\n{rows}  {{NULL, NULL, NULL}}\n}};\n")


if __name__ == "__main__":
    main()
