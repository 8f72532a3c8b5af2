"""Prepares the options of the client."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

from .words import Row

_OPTION_CPP = {
    "text": "std::string",
    "path": "std::string",
    "seconds": "std::chrono::milliseconds",
    "count": "int",
    "bytes": "std::size_t",
    "boolean": "bool",
    "headers": "std::vector<std::pair<std::string, std::string>>",
    "hooks": "std::shared_ptr<Hooks>",
}
_OPTION_PYTHON = {
    "text": "str | None",
    "path": "str | os.PathLike[str] | None",
    "seconds": "float | None",
    "count": "int",
    "bytes": "int",
    "boolean": "bool",
    "headers": "Mapping[str, str] | Iterable[tuple[str, str]] | None",
    "hooks": "Hooks | HasOnRequest | HasOnResponse | HasOnRetry | None",
}
_OPTION_READERS = {
    "text": "utf8",
    "path": "path_text",
    "count": "count",
    "bytes": "size",
    "boolean": "boolean",
    "headers": "header_pairs",
}


def _option_default(option: Row) -> tuple[str, str]:
    """Returns the default value as C++ code and as Python code."""
    kind, default = option["type"], option.get("default")
    if default is None:
        return "{}", "None"
    if kind == "seconds":
        return f"std::chrono::seconds({default})", f"{float(default)}"
    if kind == "boolean":
        return str(default).lower(), str(default)
    if kind == "text":
        return f'"{default}"', f'"{default}"'
    if kind == "bytes":
        shift = default.bit_length() - 1
        exact = shift >= 20 and default == (default >> 20) << 20
        return (f"std::size_t{{{default >> 20}}} << 20U" if exact else str(default)), str(default)
    return str(default), str(default)


def _option_reader(option: Row) -> Callable[[str, str], str]:
    """Returns a function that generates the C++ statements that read the option from Python's arguments."""
    name, kind = option["name"], option["type"]

    def statements(source: str, target: str) -> str:
        value = f"{source}.{name}"
        goal = f"{target}.{name}"
        change = target == "changes"
        if kind == "seconds":
            return (
                f"if (given({value})) {{\n{goal} = milliseconds({value});\n"
                f"}} else if (!left_out({value})) {{\n{goal} = no_timeout;\n}}"
            )
        if kind == "headers" and change:  # None: remove all headers
            return f'if (!left_out({value})) {goal} = given({value}) ? header_pairs({value}, "{name}") : Pairs();'
        may_be_none = (
            kind in ("path", "headers") or option.get("optional") or (kind == "text" and "default" not in option)
        )
        test = f"given({value})" if may_be_none else f"!left_out({value})"
        return f'if ({test}) {goal} = {_OPTION_READERS[kind]}({value}, "{name}");'

    return statements


def prepare_options(data: Row) -> Row:
    options = data["option"]
    for option in options:
        option.setdefault("changeable", False)
        option.setdefault("environment", "")
        option.setdefault("change_doc", "")
        kind = option["type"]
        cpp_type = _OPTION_CPP[kind]
        option["cpp_type"] = f"std::optional<{cpp_type}>" if option.get("optional") else cpp_type
        option["cpp_default"], option["python_default"] = _option_default(option)
        doc = option["doc"].replace("None:", "no_timeout:" if kind == "seconds" else "Not given:")
        doc = doc.replace("Seconds for a whole call", "Time-out of a whole call")
        doc = doc.replace("'' for none", "empty for none")
        option["cpp_doc"] = textwrap.wrap(f"{doc} {option.get('detail', '')}".strip(), 112)
        python_type = _OPTION_PYTHON[kind]
        if option.get("optional") and "None" not in python_type:
            python_type += " | None"
        if kind == "text" and "default" in option:
            python_type = "str"
        option["python_type"] = python_type
        plain = python_type.removesuffix(" | None")
        option["python_change_type"] = f"{plain} | NotGiven" + (" | None" if plain != python_type else "")
        option["python_read"] = _option_reader(option)
        unit = {"seconds": " s", "bytes": " bytes"}.get(kind, "")
        option["reference_default"] = f"{option['default']}{unit}" if "default" in option else ""
    return {
        "options": options,
        "python_options": [option["name"] for option in options],
        "changeable_options": [option["name"] for option in options if option["changeable"]],
    }
