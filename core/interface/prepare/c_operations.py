"""Prepares operations, queries and options for C and for the tests' C driver. Uses the results of calls.py."""

from __future__ import annotations

import re

from .calls import described, error_codes, own_arguments
from .words import Row, snake

_ARGUMENTS = {"id": "billcore_str", "integer": "int64_t", "text": "billcore_str", "url": "billcore_str"}
_TO_CPP = {"id": "Id(view({name}))", "integer": "{name}", "text": "view({name})", "url": "view({name})"}
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


def _prepare_operation(operation: Row) -> None:
    rows = own_arguments(operation)
    for row in operation["parameters"]:
        row["to_cpp"] = _TO_CPP.get(row["type"], "").format(name=row["name"])
    made = operation["list"] or operation["result"]
    kinds = {"None": "", "Response": "billcore_response"}
    operation["c_made"] = kinds.get(made, f"billcore_{snake(made)}") + ("_list" if operation["list"] else "")
    operation["c_parameters"] = [
        f"{_ARGUMENTS[row['type']]} {row['name']}" for row in rows if row["type"] in _ARGUMENTS
    ]
    driver = [row["name"] if row["type"] == "integer" else f'arg_text(self->args, "{row["name"]}")' for row in rows]
    if operation["list"]:
        operation["c_parameters"].append(f"const billcore_{snake(operation['list'])}_query* query")
        operation["c_arguments"] = [row["to_cpp"] for row in rows] + ["query_of(query)"]
        driver.append("query")
    elif operation["options"]:
        operation["c_parameters"].append(f"const billcore_{snake(operation['options'])}_options* options")
        operation["c_arguments"] = [row["to_cpp"] for row in rows if row is operation["id"]] + ["given"]
        driver.append("options")
    else:
        operation["c_arguments"] = [row["to_cpp"] for row in rows]
    operation["c_driver"] = "".join(f", {part}" for part in driver)


def prepare_c_operations(data: Row) -> None:
    statuses = {name: f"BILLCORE_ERROR_{code.upper()}" for name, code in error_codes(data["errors"]).items()}
    for group in data["groups"]:
        for operation in group["operations"]:
            end = "_new" if operation["list"] else ""
            operation["c_function"] = f"billcore_{group['one']}_{operation['name']}{end}"
        functions = {operation["name"]: operation["c_function"] for operation in group["operations"]}
        for operation in group["generated"]:
            _prepare_operation(operation)
            operation["c_doc"] = _doc(operation, statuses, functions)
    for query in data["queries"]:
        own = {row["name"] for row in query["members"]}
        query["foreign"] = [row for row in data["filters"] if row["name"] not in own]
        query["setters"] = []
        for row in query["rows"]:
            function, parameter, runtime = (text.format(name=row["name"]) for text in _SETTERS[row["type"]])
            query["setters"].append({**row, "function": function, "parameter": parameter, "runtime": runtime})
