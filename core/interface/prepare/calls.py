"""What the languages repeat of an operation: its arguments and its result, in their types. Follows operations.py."""

from __future__ import annotations

import re

from .words import Row, snake

_CPP_ARGUMENTS = {
    "id": "const Id&",
    "integer": "std::int64_t",
    "text": "std::string_view",
    "url": "std::string_view",
}
_CPP_MEMBERS = {
    "integer": "std::int64_t",
    "text": "std::string",
    "url": "std::string",
    "states": "std::vector<std::string>",
}
_C_ARGUMENTS = {"id": "billcore_str", "integer": "int64_t", "text": "billcore_str", "url": "billcore_str"}
_FROM_C = {"id": "Id(view({name}))", "integer": "{name}", "text": "view({name})", "url": "view({name})"}
# From an argument of Python: one that must be given, and one that may be left out.
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


# In the conformance driver in C++: one that must be given, and one that may be left out.
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
    kind, name = row["type"], row["name"]
    optional = row.get("optional", False)
    many = kind == "states"
    row["member"] = name + "s" if many else name
    if kind in _CPP_MEMBERS:
        member = _CPP_MEMBERS[kind]
        row["cpp_member"] = f"std::optional<{member}>" if optional and not many else member
        row["cpp_default"] = "{}" if optional else {"integer": "0"}.get(kind, "{}")
    row["cpp_type"] = _CPP_ARGUMENTS.get(kind, "")
    row["c_type"] = _C_ARGUMENTS.get(kind, "")
    row["from_c"] = _FROM_C.get(kind, "").format(name=name)
    row["from_python"] = (_MAYBE_FROM_PYTHON if optional else _FROM_PYTHON).get(kind, "").format(name=name)
    row["from_driver"] = (_MAYBE_FROM_DRIVER if optional else _FROM_DRIVER).get(kind, "").format(name=name)
    row["sends"] = row.get("sends", name)
    row["bounded"] = "least" in row or "most" in row


def lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


def described(operation: Row, arguments: list[Row], errors: dict[str, str], spelled: str = "{}: ") -> list[str]:
    """What a comment says of an operation, sentence by sentence. spelled: how an argument's name stands there."""
    parts = [operation["doc"], operation["more"]]
    parts += [spelled.format(row["name"]) + lowered(row["doc"]) for row in arguments if "doc" in row]
    parts += [f"{errors[name]}: {lowered(text)}" for name, text in operation.get("raises", {}).items()]
    return [part for part in parts if part]


def own_arguments(operation: Row) -> list[Row]:
    """The id, and what must be given besides."""
    rows = [operation["id"]] if operation["id"] else []
    return rows if operation["list"] else [*rows, *operation["required"]]


def _c_doc(operation: Row, statuses: dict[str, str], functions: dict[str, str]) -> str:
    """The comment of a function in C; names of Python become those of C."""
    parts = described(operation, own_arguments(operation), statuses)
    if operation["list"]:
        parts.append("query may be NULL. Sends nothing yet.")
    if operation["options"]:
        parts.append("options may be NULL.")
    if operation["result"] != "None":
        parts.append("*out: new; free it.")
    text = " ".join(parts)
    for name, function in functions.items():
        text = re.sub(rf"\b{name}\(\)", function, text)
    return f"{text} Service interface: {operation['section']}. @since {operation.get('since', '0.1')}"


def _cpp_doc(operation: Row, codes: dict[str, str]) -> str:
    parts = described(operation, [] if operation["options"] else own_arguments(operation), codes)
    if operation["result"] in ("None", "Response"):
        parts.append("The body of the answer is not checked.")
    return " ".join(parts) + f" Service interface: {operation['section']}."


def _prepare_operation(operation: Row, group: Row, routes: dict[str, str]) -> None:
    rows = operation.setdefault("parameters", [])
    for row in rows:
        _prepare_parameter(row)
    operation.setdefault("options", "")
    operation.setdefault("by_hand", False)
    operation["id"] = next((row for row in rows if row.get("positional") and row["type"] in ("id", "integer")), None)
    operation["members"] = [row for row in rows if not row.get("positional")]
    operation["required"] = [row for row in operation["members"] if not row.get("optional")]
    operation["optional"] = [row for row in operation["members"] if row.get("optional")]
    operation["is_write"] = operation["method"] != "GET"
    operation["route"] = routes[operation["path"]]
    operation["query"] = f"{operation['list']}Query" if operation["list"] else ""
    operation["promises_json"] = operation["result"] not in ("None", "Response")
    name = operation["name"]
    operation["cpp_method"] = "remove" if name == "delete" else name  # a keyword
    made = operation["list"] or operation["result"]
    if operation["list"]:
        operation["cpp_result"] = f"Pager<{made}>"
    else:
        operation["cpp_result"] = "void" if made == "None" else made
    given = []
    if operation["id"]:
        name_of_id = operation["id"]["name"]
        given.append((f"{operation['id']['cpp_type']} {name_of_id}", name_of_id))
    if operation["list"]:
        given.append((f"const {operation['query']}& query", "query"))
    elif operation["options"]:
        variable = snake(operation["options"])
        given.append((f"const {operation['options']}& {variable}", variable))
    else:
        given += [(f"{row['cpp_type']} {row['name']}", row["name"]) for row in operation["required"]]
    operation["cpp_parameters"] = [parameter for parameter, _ in given]
    operation["cpp_arguments"] = [argument for _, argument in given]
    operation["driver_arguments"] = [operation["id"]["from_driver"]] if operation["id"] else []
    if operation["list"] or operation["options"]:
        operation["driver_arguments"].append(operation["cpp_arguments"][-1])
    else:
        operation["driver_arguments"] += [row["from_driver"] for row in operation["required"]]
    rows_in_c = own_arguments(operation)
    operation["c_parameters"] = [f"{row['c_type']} {row['name']}" for row in rows_in_c]
    operation["c_arguments"] = [row["from_c"] for row in ([operation["id"]] if operation["id"] else [])]
    if operation["list"]:
        operation["c_parameters"].append(f"const billcore_{snake(operation['list'])}_query* query")
        operation["c_arguments"].append("query_of(query)")
    elif operation["options"]:
        operation["c_parameters"].append(f"const billcore_{snake(operation['options'])}_options* options")
        operation["c_arguments"].append("given")
    else:
        operation["c_arguments"] += [row["from_c"] for row in operation["required"]]
    parts = [row["name"] if row["type"] == "integer" else f'arg_text(self->args, "{row["name"]}")' for row in rows_in_c]
    parts += ["query"] if operation["list"] else ["options"] if operation["options"] else []
    operation["c_driver"] = "".join(f", {part}" for part in parts)
    one = group["one"]
    operation["c_function"] = f"billcore_{one}_{name}" + ("_new" if operation["list"] else "")
    operation["c_made"] = {"None": "", "Response": "billcore_response"}.get(made, f"billcore_{snake(made)}")
    if operation["list"]:
        operation["c_made"] += "_list"


def _queries(operations: list[Row]) -> list[Row]:
    """What the lists of each resource can be asked for."""
    out: dict[str, Row] = {}
    for operation in operations:
        if not operation["list"]:
            continue
        one = snake(operation["list"])
        new = {"name": operation["query"], "one": one, "words": one.replace("_", " "), "members": []}
        members = out.setdefault(operation["list"], new | {"section": operation["section"]})["members"]
        members += [row for row in operation["members"] if row["name"] not in {known["name"] for known in members}]
    filters: dict[str, Row] = {}
    for query in out.values():
        for row in query["members"]:
            filters.setdefault(row["name"], row)
    for query in out.values():
        own = {row["name"] for row in query["members"]}
        query["foreign"] = [row for name, row in filters.items() if name not in own]
    return [{"queries": list(out.values()), "filters": list(filters.values())}]


def prepare_calls(data: Row) -> Row:
    routes = {route["path"]: route["name"] for route in data["routes"]}
    groups = {group["name"]: group for group in data["groups"]}
    codes = {row["python"]["class"]: row["name"] for row in data["errors"] if row["python"]}
    statuses = {name: f"BILLCORE_ERROR_{code.upper()}" for name, code in codes.items()}
    codes = {name: f"Error({code})" for name, code in codes.items()}
    for group in data["groups"]:
        group["words"] = snake(group["name"]).replace("_", " ")
        group.setdefault("one", snake(group["name"]).removesuffix("s"))
    for operation in data["operations"]:
        _prepare_operation(operation, groups[operation["group"]], routes)
    for group in data["groups"]:
        rows = group["operations"]
        group["generated"] = [row for row in rows if not row["by_hand"]]
        group["cpp_base"] = f"{group['name']}ByHand" if len(group["generated"]) < len(rows) else "Group"
        functions = {row["name"]: row["c_function"] for row in rows}
        for row in rows:
            row["cpp_doc"] = _cpp_doc(row, codes)
            row["c_doc"] = _c_doc(row, statuses, functions)
    return _queries(data["operations"])[0] | {
        "bundles": [row for row in data["operations"] if row["options"]],
        "listed": [row for row in data["resources"] if row["list"]],
    }
