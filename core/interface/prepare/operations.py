"""Prepares the operations: their parameters, docstrings and routes."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable

from .words import Row, pascal, snake

TIMEOUT = "Seconds for the call with all its attempts; None: no deadline. Default: the client's timeout."
TIMEOUT_OF_LIST = "Seconds for each page; None: no deadline. Default: the client's timeout."
TIMEOUT_OF_MANY = "Seconds for the call for each id; None: no deadline. Default: the client's timeout."
TOTAL_TIMEOUT = "Seconds from the first request to the last answer, with your pauses. Default: no limit."
TOTAL_TIMEOUT_OF_SEARCH = "Seconds for the whole search. Default: timeout, which then holds for the whole search too."
MANY_PARAMETERS: list[Row] = [
    {"name": "ids", "type": "ids", "positional": True, "doc": "The ids: any iterable, read only as far as needed."},
    {"name": "concurrency", "type": "count", "default": "16", "doc": "How many calls may be in flight at once."},
    {
        "name": "ordered",
        "type": "boolean",
        "default": "True",
        "doc": "False: in the order in which the answers arrive, not in the order of the ids.",
    },
]
LIST_PARAMETERS: list[Row] = [
    {"name": "page", "type": "integer", "default": "1", "doc": "Number of the first page to read, from 1."},
    {
        "name": "strict",
        "type": "boolean",
        "default": "False",
        "doc": "Read the list twice; the second pass finds records that the first pass missed.",
    },
    {
        "name": "resume",
        "type": "text",
        "optional": True,
        "doc": "The state of an earlier list: this list continues where that list stopped.",
    },
]
OUTCOME_UNKNOWN = "The write may or may not have happened."


_PARAMETER_TYPES = {
    "id": "str | int",
    "integer": "int",
    "ids": "Iterable[str | int]",
    "integers": "Iterable[int]",
    "count": "int",
    "total": "float | None",
    "text": "str",
    "url": "str",
    "boolean": "bool",
    "states": "OrderState | Sequence[OrderState]",
    "fields": "Mapping[str, Any]",
    "instant": "datetime",
    "length": "float | timedelta",
    "timeout": "float | NotGiven | None",
    "charge": "BillcoreError | str | int",
}


def _parameter(row: Row, overload: Row | None) -> str:
    kind = row["type"]
    if kind == "keywords":
        return f"**{row['name']}: Unpack[{row['of']}]"
    annotation = overload["charge"] if overload and kind == "charge" else _PARAMETER_TYPES[kind]
    if row.get("optional"):
        return f"{row['name']}: {annotation} | None = None"
    if kind == "length":
        return f"{row['name']}: {annotation} | NotGiven = NOT_GIVEN"
    return f"{row['name']}: {annotation}" + (f" = {row['default']}" if "default" in row else "")


def _stub_parameters(operation: Row) -> Callable[[Row | None], str]:
    def parameters(overload: Row | None) -> str:
        left_out = {"skew", "since"} - set(overload["with"]) if overload else set()
        rows = [row for row in operation["all_parameters"] if row["name"] not in left_out]
        positional = [_parameter(row, overload) for row in rows if row.get("positional")]
        keywords = [_parameter(row, overload) for row in rows if row["type"] == "keywords"]
        others = [_parameter(row, overload) for row in rows if not row.get("positional") and row["type"] != "keywords"]
        parts = ["self", *positional] + (["/"] if positional else []) + ["*", *others, *keywords]
        return ", ".join(parts)

    return parameters


def _stub_result(operation: Row) -> Callable[[bool], str]:
    def result(awaited: bool) -> str:
        if operation["list"]:
            return f"{'AsyncPager' if awaited else 'Pager'}[{operation['list']}]"
        if operation["many"]:
            return f"{'AsyncIterator' if awaited else 'Iterator'}[Got[{operation['result']}]]"
        plain = str(operation["result"]).replace("list[", "builtins.list[")
        return f"Coroutine[object, None, {plain}]" if awaited else plain

    return result


def _returns(operation: Row) -> str:
    if operation["list"]:
        return ""
    return {"None": "", "Response": "The answer as received; the service interface does not specify it."}.get(
        operation["result"], ""
    )


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(text, 110 - len(indent), initial_indent=indent, subsequent_indent=indent)


def _doc_lines(operation: Row) -> list[str]:
    """Returns the lines of the docstring after its first line, in Google's style."""
    blocks: list[list[str]] = []
    if operation["more"]:
        blocks.append(_wrapped(operation["more"], ""))
    blocks.append(["Args:", *(f"    {row['name']}: {row['doc']}" for row in operation["all_parameters"])])
    if returns := _returns(operation):
        blocks.append(["Returns:", f"    {returns}"])
    if operation["all_raises"]:
        blocks.append(["Raises:", *(f"    {name}: {text}" for name, text in operation["all_raises"].items())])
    blocks.append([f"Service interface: {operation['section']}."])
    return [line for place, block in enumerate(blocks) for line in ([""] if place else []) + block]


def _prepare_operation(operation: Row, group: Row) -> None:
    operation.setdefault("list", "")
    operation.setdefault("result", "")
    operation.setdefault("more", "")
    operation.setdefault("section", group["section"])
    operation.setdefault("overloads", [])
    operation.setdefault("many", False)
    parameters = [*operation.get("parameters", []), *(LIST_PARAMETERS if operation["list"] else [])]
    is_search = operation["name"] == "find_charges"
    text = TIMEOUT_OF_LIST if operation["list"] or is_search else TIMEOUT_OF_MANY if operation["many"] else TIMEOUT
    parameters.append({"name": "timeout", "type": "timeout", "default": "NOT_GIVEN", "doc": text})
    if operation["list"] or is_search or operation["many"]:
        total = {"name": "total_timeout", "type": "total", "default": "None"}
        parameters.append({**total, "doc": TOTAL_TIMEOUT_OF_SEARCH if is_search else TOTAL_TIMEOUT})
    keywords = [row for row in parameters if row["type"] == "keywords"]
    operation["all_parameters"] = [row for row in parameters if row not in keywords] + keywords
    raises = dict(operation.get("raises", {}))
    if operation["method"] != "GET":
        raises.setdefault("OutcomeUnknownError", OUTCOME_UNKNOWN)
    operation["all_raises"] = raises
    operation["doc_lines"] = _doc_lines(operation)
    operation["stub_parameters"] = _stub_parameters(operation)
    operation["stub_result"] = _stub_result(operation)
    operation["argument_names"] = [row["name"] for row in operation["all_parameters"] if row["type"] != "keywords"]
    operation["cpp_name"] = group["name"] + pascal(operation["name"])
    operation["doc_name"] = f"{snake(group['name'])}_{operation['name']}"
    operation["reference_result"] = f"list of {operation['list']}" if operation["list"] else operation["result"]


def _many(get: Row) -> Row:
    """Returns the operation get_many() beside a `get`."""
    words = snake(get["group"]).replace("_", " ")
    ids = {**MANY_PARAMETERS[0], "type": "integers" if get["parameters"][0]["type"] == "integer" else "ids"}
    return {
        **{key: get[key] for key in ("group", "method", "path", "result")},
        "name": "get_many",
        "many": True,
        "by_hand": True,
        "doc": f"Read the {words} with these ids, several at once: an iterator of Got.",
        "more": "Each id has its record or its error. The calls share one thread, and fewer are in flight after a 429.",
        "raises": {"TimeoutError": "total_timeout has passed; ask again for the ids without a result."},
        "parameters": [ids, *MANY_PARAMETERS[1:]],
    }


def _routes(operations: list[Row]) -> list[Row]:
    routes: dict[str, list[str]] = {}
    for operation in operations:
        if operation["many"]:
            continue
        routes.setdefault(operation["path"], []).append(f"{snake(operation['group'])}.{operation['name']}")
    names = {path: "_".join(part for part in re.split(r"\W+", path) if part and part != "id") for path in routes}
    return [{"path": path, "name": names[path], "operations": ", ".join(used)} for path, used in routes.items()]


def _bounds(operations: list[Row]) -> list[Row]:
    rows = [row for operation in operations for row in operation.get("parameters", [])]
    return [
        {"name": f"{end}_{row['name']}", "value": row[key]}
        for row in rows
        for end, key in (("min", "least"), ("max", "most"))
        if key in row
    ]


def prepare_operations(data: Row, writes: list[Row]) -> Row:
    groups, operations = data["group"], data["operation"]
    operations += [_many(row) for row in operations if row["name"] == "get"]
    by_name = {group["name"]: group for group in groups}
    for operation in operations:
        _prepare_operation(operation, by_name[operation["group"]])
        kinds = {row["of"] for row in operation["all_parameters"] if row["type"] == "keywords"}
        operation["keyword_fields"] = [field for write in writes if write["name"] in kinds for field in write["fields"]]
    for group in groups:
        group.setdefault("elsewhere", {})
        group["operations"] = [operation for operation in operations if operation["group"] == group["name"]]
        group["operations_doc"] = f"Operations on {snake(group['name']).replace('_', ' ')}."
    return {
        "groups": groups,
        "operations": operations,
        "routes": _routes(operations),
        "bounds": _bounds(operations),
        "request_arguments": ["method", "path", "query", "json", "raise_on_error", "timeout"],
        "timeout_doc": TIMEOUT,
    }
