"""Converts names to Go's style, and prepares the variables of the Go templates."""

from __future__ import annotations

import textwrap

from .calls import described, error_codes, lowered, own_arguments
from .words import Row

_INITIALISMS = {"id", "url", "vat", "api", "ca", "http", "http2", "tls", "json"}

# Field type -> type in Go, and the name of the method of `record` that reads the field.
_READERS = {
    "id": ("ID", "id"),
    "integer": ("int64", "integer"),
    "text": ("string", "text"),
    "word": ("string", "text"),
    "boolean": ("bool", "boolean"),
    "time": ("time.Time", "instant"),
    "decimal": ("json.Number", "number"),
    "object": ("json.RawMessage", "object"),
    "any": ("json.RawMessage", "any"),
    "integers": ("[]int64", "integers"),
}
_COLUMNS = {"id": "kindText", "integer": "kindInteger", "text": "kindText", "word": "kindText"}
_COLUMNS |= {"boolean": "kindBoolean", "time": "kindTime"}
_OPTIONS = {"text": "string", "path": "string", "seconds": "time.Duration", "count": "int", "bytes": "int64"}
_PARAMETERS = {"text": "string", "integer": "int64", "states": "...OrderState", "boolean": "bool"}


def exported(name: str) -> str:
    """Converts a name to Go's style: reference_id becomes ReferenceID."""
    parts = name.replace("-", "_").replace(".", "_").split("_")
    return "".join(part.upper() if part in _INITIALISMS else part[:1].upper() + part[1:] for part in parts)


def unexported(name: str) -> str:
    first, _, rest = name.partition("_")
    return first + (exported(rest) if rest else "")


def go_comment(text: str, indent: str = "") -> str:
    begin = f"{indent}// "
    words = " ".join(text.split())
    return "\n".join(textwrap.wrap(words, 118, initial_indent=begin, subsequent_indent=begin, break_on_hyphens=False))


_DOCS = {
    "id": "An opaque id.",
    "integer": "An integer.",
    "text": "A text.",
    "word": "A text.",
    "boolean": "A boolean.",
    "time": "An instant, in UTC.",
    "object": "JSON text.",
    "any": "JSON text.",
}


def _sentence(field: Row) -> str:
    if "values" in field:
        return f"One of the {field['values']} constants, or a value that the service added later."
    doc = str(field["cpp_doc"])
    if not doc:
        return _DOCS.get(field["type"], f"The {field['name'].replace('_', ' ')}.")
    return doc + {"time": " In UTC.", "object": " As JSON text.", "any": " As JSON text."}.get(field["type"], "")


def _getter(resource: Row, field: Row) -> Row:
    kind, nullable = field["type"], field["nullable"]
    name = exported(field["name"])
    variable = f"{unexported(resource['c_name'])}{name}"
    end = "The second result is false when the field is null or absent." if nullable else ""
    section = f"Service interface: {resource['section']}."
    made = {"view": field["of"], "views": f"[]{field['of']}"}.get(kind) or _READERS[kind][0]
    typed = field.get("values", "")
    of_fields = f"{field['of']}Fields"
    plain = {"view": of_fields, "views": f"[]{of_fields}"}.get(kind) or typed or made
    fill = {"view": "part", "views": "parts"}.get(kind, "value")
    fill = f"optional{fill.capitalize()}" if nullable else fill
    turned = f", {field['of']}.Fields" if kind in ("view", "views") else ""
    return {
        "plain": f"*{plain}" if nullable else plain,
        "fill": f"{fill}(&err, r.{name}{turned})",
        "method": name,
        "variable": variable,
        "doc": f"{name}: {_sentence(field)} {end} {section}",
        "type": typed or made,
        "typed": typed,
        "kind": kind,
        "reader": _READERS.get(kind, ("", ""))[1],
        "nullable": nullable,
        "of": field["of"],
        "name": field["name"],
        "key": field["name"] + ("?" if nullable else ""),
        "column": _COLUMNS.get(kind, "kindOther"),
    }


def _options(options: list[Row]) -> list[Row]:
    out = []
    for option in options:
        kind, name = option["type"], exported(option["name"])
        doc = option.get("go_doc") or option.get("c_doc") or option["doc"]
        if isinstance(doc, str):
            doc = f"{doc} {option.get('detail', '')}".strip()
            doc = doc.replace(" (milliseconds, more than 0)", "").replace("Default: 30,000.", "Default: 30 seconds.")
            if "default" in option and kind not in ("boolean", "seconds") and "Default" not in doc:
                doc += f" Default: {option['default']}."
        out.append(
            {
                "name": option["name"],
                "function": name,
                "kind": kind,
                "go_type": _OPTIONS.get(kind, ""),
                "argument": unexported(str(option.get("argument") or option["name"])),
                "docs": doc if isinstance(doc, list) else [doc],
                "tristate": kind == "boolean" and option.get("optional", False),
                "none": exported(option["none"]) if "none" in option else "",
                "none_name": option.get("none", ""),
                "none_doc": option.get("none_doc", ""),
                "changeable": option["changeable"],
            }
        )
    return out


def prepare_go(data: Row) -> Row:
    resources = []
    for resource in data["resources"]:
        if resource.get("by_hand_in_cpp"):
            continue
        resources.append(
            {
                "name": resource["name"],
                "doc": resource["doc"],
                "part": resource["part"],
                "section": resource["section"],
                "shown": [exported(name) for name in resource["shown"]],
                "getters": [_getter(resource, field) for field in resource["fields"]],
            }
        )
    parents = {row["python"]["class"]: row["name"] for row in data["errors"] if row["python"]}
    codes = []
    for error in data["errors"]:
        base = (error["python"] or {}).get("base", "").split(",")[0]
        by_hand = {"missing_field": "decode", "out_of_range": "decode"}
        parent = by_hand.get(error["name"]) or parents.get(base, "")
        codes.append({**error, "parent": "" if parent in ("internal", error["name"]) else parent})
    for row in [row for query in data["queries"] for row in query["rows"]]:
        row["go_type"] = _PARAMETERS[row["type"]]
    for row in [row for operation in data["bundles"] for row in operation["optional"]]:
        row["go_type"] = _PARAMETERS[row["type"]]
    prepare_go_operations(data)
    writes = [{"name": row["name"], "type": row["type"], "doc": row["doc"]} for row in data["writes"][0]["fields"]]
    return {
        "go_resources": resources,
        "go_most_fields": max(len(resource["getters"]) for resource in resources),
        "go_codes": [code for code in codes if code["number"] > 1],
        "go_options": _options(data["options"]),
        "go_filters": list({row["name"]: row for query in data["queries"] for row in query["rows"]}.values()),
        "go_writes": writes,
        "go_section_of_write": data["writes"][0]["section"],
    }


_TEXTS = ("id", "text", "url")


def _doc(operation: Row, codes: dict[str, str], methods: dict[str, str]) -> str:
    arguments = [row | {"name": unexported(row["name"])} for row in own_arguments(operation)]
    text = " ".join(described(operation, arguments, codes))
    for method, go_method in methods.items():
        text = text.replace(f"{method}()", go_method)
    return f"{exported(operation['name'])} {lowered(text)} Service interface: {operation['section']}."


def prepare_go_operations(data: Row) -> None:
    codes = {name: f"Err{exported(code)}" for name, code in error_codes(data["errors"]).items()}
    methods = {operation["name"]: exported(operation["name"]) for operation in data["operations"]}
    for operation in data["operations"]:
        if operation["by_hand"]:
            continue
        rows = own_arguments(operation)
        operation["go_parameters"], operation["go_sets"] = [], ""
        for row in rows:
            name, is_text = unexported(row["name"]), row["type"] in _TEXTS
            kind = "ID" if row["type"] == "id" else "string" if is_text else "int64"
            operation["go_parameters"].append(f"{name} {kind}")
            value = f"string({name})" if kind == "ID" else name
            operation["go_sets"] += f'.{"text" if is_text else "integer"}("{row["name"]}", {value})'
        if operation["list"]:
            operation["go_parameters"].append("options ...ListOption")
            operation["go_results"] = f"*List[{operation['list']}]"
        else:
            if operation["options"]:
                operation["go_parameters"].append(f"options ...{operation['options']}Option")
            made = {"None": "", "Response": "*Response"}.get(operation["result"], operation["result"])
            operation["go_results"] = f"({made}, error)" if made else "error"
        given = {"id": "billcore.ID(r.text({0}))", "integer": "r.integer({0})"}
        parts = [given.get(row["type"], "r.text({0})").format(f'"{row["name"]}"') for row in rows]
        parts += ["query(r)..."] if operation["list"] else ["options..."] if operation["options"] else []
        operation["go_driver"] = "".join(f", {part}" for part in parts)
        operation["go_doc"] = _doc(operation, codes, methods)
