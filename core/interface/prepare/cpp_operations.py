"""Prepares operations for C++, and how the Python module and the tests' C++ driver read their arguments.

Needs the results of calls.py.
"""

from __future__ import annotations

from .calls import described, error_codes, own_arguments
from .words import Row, snake

_ARGUMENTS = {
    "id": "const Id&",
    "integer": "std::int64_t",
    "text": "std::string_view",
    "url": "std::string_view",
}
_MEMBERS = {
    "integer": "std::int64_t",
    "text": "std::string",
    "url": "std::string",
    "states": "std::vector<std::string>",
}
# Maps the type of a parameter to the C++ expression that reads the argument passed from Python: first for required
# parameters, then for optional ones.
_FROM_PYTHON = {
    "id": "id_of(from.{name})",
    "integer": 'integer(from.{name}, "{name}")',
    "text": 'utf8(from.{name}, "{name}")',
    "url": 'utf8(from.{name}, "{name}")',
}
_MAYBE_FROM_PYTHON = {
    "integer": 'optional_integer(from.{name}, "{name}")',
    "text": 'optional_text(from.{name}, "{name}")',
    "states": "states_of(from.{name})",
}
# Maps the type of a parameter to the C++ expression with which the tests' C++ driver reads the argument from a request:
# first for required parameters, then for optional ones.
_FROM_DRIVER = {
    "id": "id_of(args)",
    "integer": 'number(args, "{name}").value()',
    "text": 'text(args, "{name}").value()',
    "url": 'text(args, "{name}").value()',
}
_MAYBE_FROM_DRIVER = {
    "integer": 'number(args, "{name}")',
    "text": 'text(args, "{name}")',
    "states": 'one_or_more(args, "{name}")',
}


def _prepare_parameter(row: Row) -> None:
    kind, name, optional = row["type"], row["name"], row.get("optional", False)
    member = _MEMBERS.get(kind, "")
    row["cpp_member"] = f"std::optional<{member}>" if optional and kind != "states" else member
    row["cpp_default"] = "0" if kind == "integer" and not optional else "{}"
    row["cpp_type"] = _ARGUMENTS.get(kind, "")
    row["from_python"] = (_MAYBE_FROM_PYTHON if optional else _FROM_PYTHON).get(kind, "").format(name=name)
    row["from_driver"] = (_MAYBE_FROM_DRIVER if optional else _FROM_DRIVER).get(kind, "").format(name=name)


def _doc(operation: Row, codes: dict[str, str]) -> str:
    parts = described(operation, [] if operation["options"] else own_arguments(operation), codes)
    if not operation["promises_json"]:
        parts.append("The client does not check the answer's body.")
    return " ".join(parts) + f" Service interface: {operation['section']}."


def _prepare_operation(operation: Row) -> None:
    for row in operation["parameters"]:
        _prepare_parameter(row)
    made = operation["list"] or operation["result"]
    operation["cpp_result"] = f"Pager<{made}>" if operation["list"] else {"None": "void"}.get(made, made)
    # The struct that holds the operation's parameters, if the function takes them as a struct.
    bundle = operation["query"] or operation["options"]
    variable = "query" if operation["list"] else snake(bundle)
    rows = [operation["id"]] if operation["id"] else []
    rows += [] if bundle else operation["required"]
    operation["cpp_variable"] = variable
    operation["cpp_parameters"] = [f"{row['cpp_type']} {row['name']}" for row in rows]
    operation["cpp_parameters"] += [f"const {bundle}& {variable}"] if bundle else []
    operation["cpp_arguments"] = [row["name"] for row in rows] + ([variable] if bundle else [])
    operation["driver_arguments"] = [row["from_driver"] for row in rows] + ([variable] if bundle else [])


def prepare_cpp_operations(data: Row) -> None:
    codes = {name: f"Error({code})" for name, code in error_codes(data["errors"]).items()}
    for group in data["groups"]:
        for operation in group["operations"]:
            name = operation["name"]
            operation["cpp_method"] = "remove" if name == "delete" else name  # `delete` is a C++ keyword
        for operation in group["generated"]:
            _prepare_operation(operation)
            operation["cpp_doc"] = _doc(operation, codes)
        by_hand = any(row["by_hand"] and not row["many"] for row in group["operations"])
        group["cpp_base"] = f"{group['name']}ByHand" if by_hand else "Group"
