"""Prepares the arguments and results of operations for all languages. Uses the results of operations.py."""

from __future__ import annotations

from .operations import LIST_PARAMETERS
from .words import Row, snake


def lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


def third_person(sentence: str) -> str:
    """Puts a sentence into the third person: "Bill an amount" becomes "Bills an amount"."""
    verb, _, rest = sentence.partition(" ")
    return f"{verb}{'es' if verb.endswith(('s', 'x', 'ch', 'sh')) else 's'} {rest}"


def described(operation: Row, arguments: list[Row], errors: dict[str, str], spelled: str = "{}: ") -> list[str]:
    """Returns the sentences of an operation's comment.

    `errors` maps a Python exception class to the error's name in the target language. `spelled` is the format string
    for the name of an argument.
    """
    parts = [third_person(operation["doc"]), operation["more"]]
    parts += [spelled.format(row["name"]) + lowered(row["doc"]) for row in arguments if "doc" in row]
    parts += [f"{errors[name]}: {lowered(text)}" for name, text in operation.get("raises", {}).items()]
    return [part for part in parts if part]


def own_arguments(operation: Row) -> list[Row]:
    """Returns the arguments that have a parameter of their own: the id and, except for lists, the required ones."""
    rows = [operation["id"]] if operation["id"] else []
    return rows if operation["list"] else [*rows, *operation["required"]]


def error_codes(errors: list[Row]) -> dict[str, str]:
    """Maps each Python exception class to its error code."""
    return {row["python"]["class"]: row["name"] for row in errors if row["python"]}


def _prepare_operation(operation: Row, route: str) -> None:
    rows = operation.setdefault("parameters", [])
    for row in rows:
        row.setdefault("sends", row["name"])
        # A list of states is one parameter on the wire, but several values in each language.
        row["member"] = row["name"] + "s" if row["type"] == "states" else row["name"]
    operation.setdefault("options", "")
    operation.setdefault("by_hand", False)
    operation["id"] = next((row for row in rows if row.get("positional") and row["type"] in ("id", "integer")), None)
    operation["members"] = [row for row in rows if not row.get("positional")]
    operation["required"] = [row for row in operation["members"] if not row.get("optional")]
    operation["optional"] = [row for row in operation["members"] if row.get("optional")]
    operation["is_write"] = operation["method"] != "GET"
    operation["route"] = route
    operation["query"] = f"{operation['list']}Query" if operation["list"] else ""
    operation["promises_json"] = operation["result"] not in ("None", "Response")


def _queries(operations: list[Row]) -> list[Row]:
    """Returns one query per resource.

    `members` are the query's own parameters; `rows` also has the parameters that every list has.
    """
    out: dict[str, Row] = {}
    for operation in operations:
        if not operation["list"]:
            continue
        one = snake(operation["list"])
        names = {"name": operation["query"], "resource": operation["list"], "one": one, "words": one.replace("_", " ")}
        query = out.setdefault(operation["list"], {**names, "members": [], "section": operation["section"]})
        known = {row["name"] for row in query["members"]}
        query["members"] += [row for row in operation["members"] if row["name"] not in known]
    for query in out.values():
        query["rows"] = [*query["members"], *LIST_PARAMETERS]
    return list(out.values())


def _returned_resources(operations: list[Row], resources: list[Row]) -> list[str]:
    """Returns the names of the resources that generated operations return, alone or as the items of a list."""
    tables = {resource["name"]: resource["list"] for resource in resources}
    for operation in operations:
        if operation["list"] and not tables.get(operation["list"]):
            raise ValueError(
                f"operations.toml: {operation['path']} is a list of {operation['list']}, whose `list` is not set"
            )
    made = {operation["list"] or operation["result"] for operation in operations if not operation["by_hand"]}
    return sorted(made & tables.keys())


def prepare_calls(data: Row) -> Row:
    routes = {route["path"]: route["name"] for route in data["routes"]}
    for operation in data["operations"]:
        _prepare_operation(operation, routes[operation["path"]])
    for group in data["groups"]:
        group["words"] = snake(group["name"]).replace("_", " ")
        group.setdefault("one", snake(group["name"]).removesuffix("s"))
        group["generated"] = [row for row in group["operations"] if not row["by_hand"]]
    queries = _queries(data["operations"])
    return {
        "queries": queries,
        "returned_resources": _returned_resources(data["operations"], data["resources"]),
        "filters": list({row["name"]: row for query in queries for row in query["members"]}.values()),
        "bundles": [row for row in data["operations"] if row["options"]],
        "listed": [row for row in data["resources"] if row["list"]],
    }
