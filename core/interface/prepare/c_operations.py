"""Prepares operations, queries and options for C and for the tests' C driver. Uses the results of calls.py."""

from __future__ import annotations

import re

from .calls import described, error_codes, own_arguments
from .operations import LIST_PARAMETERS
from .words import Row, snake

_ARGUMENTS = {"id": "billcore_str", "integer": "int64_t", "text": "billcore_str", "url": "billcore_str"}
# Parameter type -> the function of billcore/operation.h that sets it, the type in operation_table.cpp, and the function
# that reads the value there: required, and optional.
_SET = {"id": "set_text", "integer": "set_int64", "text": "set_text", "url": "set_text"}
_ROW_TYPES = {"url": "text", "boolean": "flag", "states": "texts"}
_GIVEN = {"id": "id", "integer": "integer", "text": "text", "url": "text"}
_GIVEN_OPTIONAL = {"integer": "optional_integer", "text": "optional_text", "states": "texts", "boolean": "flag"}
# Parameter type -> name of the setter of a query, the setter's parameter, and the function that the setter calls.
_SETTERS = {
    "text": ("set_{name}", "billcore_str {name}", "set_text"),
    "integer": ("set_{name}", "int64_t {name}", "set_int64"),
    "boolean": ("set_{name}", "bool {name}", "set_bool"),
    "states": ("add_{name}", "billcore_str {name}", "set_text"),
}


def _doc(operation: Row, statuses: dict[str, str], functions: dict[str, str]) -> str:
    """Returns the comment of a C function. Replaces the names of Python methods by those of the C functions."""
    parts = described(operation, own_arguments(operation), statuses)
    if operation["list"]:
        parts.append("query may be NULL.")
        parts.append("This function sends no request; the functions that read the list send the requests.")
    if operation["options"]:
        parts.append("options may be NULL.")
    if operation["result"] != "None":
        parts.append("The caller frees *out.")
    text = " ".join(parts)
    for name, function in functions.items():
        text = re.sub(rf"\b{name}\(\)", function, text)
    return f"{text} Service interface: {operation['section']}. @since {operation.get('since', '0.1')}"


def _given(operation: Row) -> list[str]:
    """Returns the arguments of the function of the core, read from the Arguments of operation_table.cpp."""
    rows = operation["c_rows"]
    members: list[str] = []
    alone: list[str] = []
    for at, row in enumerate(rows):
        read = f"given.{(_GIVEN if row['required'] else _GIVEN_OPTIONAL)[row['kind']]}({at})"
        if row["name"] == "page" and operation["list"]:
            read += ".value_or(1)"
        is_alone = row["name"] == (operation["id"] or {}).get("name") or not (operation["list"] or operation["options"])
        (alone if is_alone else members).append(read if is_alone else f".{row['member']} = {read}")
    bundle = operation["query"] or operation["options"]
    return alone + ([f"{bundle}{{{', '.join(members)}}}"] if bundle else [])


def _prepare_operation(operation: Row, group: Row) -> None:
    rows = own_arguments(operation)
    made = operation["list"] or operation["result"]
    kinds = {"None": "", "Response": "billcore_response"}
    operation["c_made"] = kinds.get(made, f"billcore_{snake(made)}") + ("_list" if operation["list"] else "")
    is_none = operation["list"] or made == "None"
    operation["c_kind"] = f"BILLCORE_RESULT_{'NONE' if is_none else snake(made).upper()}"
    operation["c_name"] = f"{snake(group['name'])}.{operation['name']}"
    operation["c_parameters"] = [f"{_ARGUMENTS[row['type']]} {row['name']}" for row in rows]
    operation["c_sets"] = [f'{_SET[row["type"]]}(made, BILLCORE_STR("{row["name"]}"), {row["name"]}' for row in rows]
    if operation["list"] or operation["options"]:
        variable = "query" if operation["list"] else "options"
        type_ = f"{snake(operation['list'])}_query" if operation["list"] else f"{snake(operation['options'])}_options"
        operation["c_parameters"].append(f"const billcore_{type_}* {variable}")
        operation["c_sets"].append(f"set_options(made, BILLCORE_CAST(const billcore_options*, {variable})")
    all_rows = [*([operation["id"]] if operation["id"] else []), *operation["members"]]
    all_rows += LIST_PARAMETERS if operation["list"] else []
    operation["c_rows"] = [
        {
            "name": row["name"],
            "member": row.get("member", row["name"]),
            "kind": row["type"],
            "type": _ROW_TYPES.get(row["type"], row["type"]),
            "required": not row.get("optional") and "default" not in row,
        }
        for row in all_rows
    ]
    operation["c_given"] = _given(operation)


def prepare_c_operations(data: Row) -> None:
    statuses = {name: f"BILLCORE_ERROR_{code.upper()}" for name, code in error_codes(data["errors"]).items()}
    for group in data["groups"]:
        for operation in group["operations"]:
            end = "_new" if operation["list"] else ""
            operation["c_function"] = f"billcore_{group['one']}_{operation['name']}{end}"
        functions = {operation["name"]: operation["c_function"] for operation in group["operations"]}
        for operation in group["generated"]:
            _prepare_operation(operation, group)
            operation["c_doc"] = _doc(operation, statuses, functions)
    generated = [operation for group in data["groups"] for operation in group["generated"]]
    data["most_arguments"] = max(len(operation["c_rows"]) for operation in generated)
    for query in data["queries"]:
        query["setters"] = []
        for row in query["rows"]:
            function, parameter, runtime = (text.format(name=row["name"]) for text in _SETTERS[row["type"]])
            query["setters"].append({**row, "function": function, "parameter": parameter, "runtime": runtime})
