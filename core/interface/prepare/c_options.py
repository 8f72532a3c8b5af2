"""Prepares the inline functions that set the options of a client in C."""

from __future__ import annotations

from typing import Any

from .words import Row

_NUMBERS = {"count": "int32_t", "bytes": "size_t"}


def _function(name: str, doc: str, parameters: list[str], runtime: str, arguments: list[str], wide: str = "") -> Row:
    return {
        "name": name,
        "doc": f"{doc} @since 0.1",
        "parameters": parameters,
        "runtime": runtime,
        "arguments": arguments,
        "wide": wide,  # the size_t argument, whose value may not fit into an int64_t
    }


def _of_boolean(option: Row, doc: list[str] | str, literal: str) -> list[Row]:
    name = option["name"]
    if isinstance(doc, str):
        return [_function(name, doc, [], "set_bool", [literal, "true"])]
    return [
        _function(f"enable_{name}", doc[0], [], "set_bool", [literal, "true"]),
        _function(f"disable_{name}", doc[1], [], "set_bool", [literal, "false"]),
    ]


def _functions(option: Row, change: bool) -> list[Row]:
    name, kind = option["name"], option["type"]
    doc: Any = option["c_doc"] if "c_doc" in option else option["doc"]
    if change and kind == "headers":
        doc = option["c_change_doc"]
    elif isinstance(doc, str):
        doc = f"{doc} {option.get('detail', '')}".strip()
        if "default" in option and kind != "boolean" and "Default:" not in doc:
            doc += f" Default: {option['default']}."
    literal = f'BILLCORE_STR("{name}")'
    argument = str(option.get("argument") or name)
    out = []
    match kind:
        case "text" | "path":
            out = [_function(f"set_{name}", doc, [f"billcore_str {argument}"], "set_text", [literal, argument])]
        case "seconds":
            milliseconds = [f'BILLCORE_STR("{name}_ms")', "milliseconds"]
            out = [_function(f"set_{name}_ms", doc, ["int64_t milliseconds"], "set_int64", milliseconds)]
        case "count":
            out = [_function(f"set_{name}", doc, [f"int32_t {argument}"], "set_int64", [literal, argument])]
        case "bytes":
            out = [_function(f"set_{name}", doc, [f"size_t {argument}"], "set_int64", [literal], argument)]
        case "boolean":
            out = _of_boolean(option, doc, literal)
        case "headers":
            both = ["billcore_str name", "billcore_str value"]
            out = [_function("add_header", doc, both, "add", [literal, "name", "value"])]
    if "none" in option:
        none = f'BILLCORE_STR("{option["none"]}")'
        out.append(_function(f"set_{option['none']}", option["none_doc"], [], "set_bool", [none, "true"]))
    return out


def prepare_c_options(options: list[Row]) -> Row:
    faces = [
        ("c_client_setters", options, False),
        ("c_change_setters", [option for option in options if option["changeable"]], True),
    ]
    return {key: [one for option in chosen for one in _functions(option, change)] for key, chosen, change in faces}
