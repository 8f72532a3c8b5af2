"""Converts names to Rust's style, and prepares the Rust templates' variables. Uses options prepared by go_faces.py."""

from __future__ import annotations

import re
import textwrap

from .calls import described, error_codes, own_arguments
from .words import Row, pascal, snake

# Field type -> type in Rust of a field that is not nullable, and the name of the method that reads the field.
_READERS = {
    "id": ("Id<'_>", "id"),
    "integer": ("i64", "integer"),
    "text": ("&str", "text"),
    "word": ("&str", "text"),
    "boolean": ("bool", "boolean"),
    "time": ("Timestamp", "time"),
    "decimal": ("&str", "number"),
    "object": ("Value", "object"),
    "any": ("Value", "any"),
    "integers": ("Vec<i64>", "integers"),
}
_DOCS = {
    "id": "An opaque id.",
    "integer": "An integer.",
    "text": "A text.",
    "word": "A text.",
    "boolean": "A boolean.",
    "time": "An instant.",
    "object": "A JSON object.",
    "any": "A JSON value.",
}
_OPTIONS = {"text": "&str", "path": "&str", "seconds": "Duration", "count": "u32", "bytes": "u64", "boolean": "bool"}
_SETTERS = {"text": "set_text", "path": "set_text", "count": "set_integer", "bytes": "set_integer"}
# Type of a query's parameter -> type of the argument in Rust, and the setter in the library.
_PARAMETERS = {
    "text": ("&str", "set_text"),
    "integer": ("i64", "set_integer"),
    "boolean": ("bool", "set_flag"),
    "states": ("OrderState<'_>", "set_text"),
}
_WRITES = {"text": ("&str", "set_text"), "integer": ("i64", "set_integer"), "decimal": ("&str", "set_json")}


def rust_name(name: str) -> str:
    """Name of the method for a field; `type` is a keyword in Rust."""
    return "type_" if name == "type" else name


def rust_variant(name: str) -> str:
    """Name of an enum variant: order.paid becomes OrderPaid, payment_failed becomes PaymentFailed."""
    return pascal(name.replace("-", "_").replace(".", "_"))


# Matches text that rustdoc and clippy require in backticks: URLs, and identifiers within prose.
_CODE = re.compile(r"(?<![`\w\[:])(https?://[^\s,;]*[^\s,;.]|[A-Za-z]\w*_\w+)(?![`\w\]])")


def rust_comment(text: str, indent: str = "") -> str:
    text = _CODE.sub(r"`\1`", " ".join(text.split()))
    return "\n".join(
        textwrap.wrap(
            text, 118, initial_indent=f"{indent}/// ", subsequent_indent=f"{indent}/// ", break_on_hyphens=False
        )
    )


def _sentence(field: Row) -> str:
    if "values" in field:
        return f"One of [`{field['values']}`], or a value that the service added later."
    return str(field["cpp_doc"]) or _DOCS.get(field["type"], f"The {field['name'].replace('_', ' ')}.")


def _getter(resource: Row, field: Row) -> Row:
    kind, nullable = field["type"], field["nullable"]
    made, reader = {"view": (f"{field['of']}<'_>", "part"), "views": (f"Vec<{field['of']}>", "list")}.get(
        kind
    ) or _READERS[kind]
    if "values" in field:
        made = f"{field['values']}<'_>"
    end = "`None` when the field is null or absent." if nullable else ""
    return {
        "method": rust_name(field["name"]),
        "doc": f"{_sentence(field)} {end} Service interface: {resource['section']}.",
        "type": f"Option<{made}>" if nullable else made,
        "made": made,
        "reader": f"maybe_{reader}" if nullable else reader,
        "kind": kind,
        "of": field["of"],
        "values": field.get("values", ""),
        "key": field["name"] + ("?" if nullable else ""),
        "name": field["name"],
    }


def _options(options: list[Row]) -> list[Row]:
    out = []
    for option in options:
        kind = option["kind"]
        if kind not in ("hooks", "headers"):
            out.append({**option, "rust_type": _OPTIONS[kind], "setter": _SETTERS.get(kind, "")})
        elif kind == "headers":
            out.append(option)
    return out


def prepare_rust(data: Row) -> Row:
    resources = [resource for resource in data["resources"] if not resource.get("by_hand_in_cpp")]
    # A nested resource borrows from the resource that contains it if it is the value of a field, but not if it is an
    # item of a list.
    parts = {field["of"] for resource in resources for field in resource["fields"] if field["type"] == "view"}
    made = [
        {
            "name": resource["name"],
            "doc": resource["doc"],
            "section": resource["section"],
            "whole": not resource["part"],
            "borrowed": resource["name"] in parts,
            "shown": resource["shown"],
            "getters": [_getter(resource, field) for field in resource["fields"]],
        }
        for resource in resources
    ]
    for row in [row for query in data["queries"] for row in query["rows"]]:
        row["rust_type"], row["rust_setter"] = _PARAMETERS[row["type"]]
    for row in [row for operation in data["bundles"] for row in operation["optional"]]:
        row["rust_type"], row["rust_setter"] = _PARAMETERS[row["type"]]
    writes = []
    for row in data["go_writes"]:
        kind, setter = _WRITES[row["type"]]
        writes.append({**row, "rust_type": kind, "rust_setter": setter})
    prepare_rust_operations(data)
    return {
        "rust_resources": made,
        "rust_options": _options(data["go_options"]),
        "rust_writes": writes,
    }


def _argument(row: Row) -> Row:
    """Returns an argument's declaration in the public method, and how it is set."""
    name = row["name"]
    if row["type"] == "id":
        return {"public": f"{name}: impl AsRef<str>", "set": f'text("{name}", {name}.as_ref())'}
    if row["type"] in ("text", "url"):
        return {"public": f"{name}: &str", "set": f'text("{name}", {name})'}
    return {"public": f"{name}: i64", "set": f'integer("{name}", {name})'}


def _bundle(name: str, kind: str) -> Row:
    return {"public": f"{name}: {kind}", "set": f"options({name}.given.into_optional()?.as_ref())"}


def _operation_doc(operation: Row, codes: dict[str, str], methods: dict[str, str]) -> str:
    text = " ".join(described(operation, own_arguments(operation), codes, "`{}`: "))
    for name, path in methods.items():
        text = text.replace(f"{name}()", f"[`{path}`]")
    return f"{text} Service interface: {operation['section']}."


def prepare_rust_operations(data: Row) -> None:
    variants = {name: rust_variant(code) for name, code in error_codes(data["errors"]).items()}
    codes = {name: f"[`ErrorCode::{code}`](crate::ErrorCode::{code})" for name, code in variants.items()}
    for operation in data["operations"]:
        if operation["many"]:
            is_text = operation["parameters"][0]["type"] == "ids"
            operation["rust_ids"] = "<Item: AsRef<str>>" if is_text else "<Item = i64>"
            operation["rust_set"] = 'text("id", id.as_ref())' if is_text else 'integer("id", *id)'
            operation["rust_read"] = f"{snake(operation['group'])}.get"
        if operation["by_hand"]:
            continue
        rows = [_argument(operation["id"])] if operation["id"] else []
        if operation["list"]:
            rows.append(_bundle("query", operation["query"]))
            operation["rust_result"] = f"List<{operation['list']}>"
        else:
            rows += [_argument(row) for row in operation["required"]]
            if operation["options"]:
                rows.append(_bundle("options", f"{operation['options']}Options"))
            operation["rust_result"] = {"None": "()"}.get(operation["result"], operation["result"])
        given = {"id": 'args.text("{0}")', "integer": 'args.integer("{0}")'}
        own = own_arguments(operation)
        parts = [given.get(row["type"], '&args.text("{0}")').format(row["name"]) for row in own]
        parts += ["common!(query, args)"] if operation["list"] else ["options"] if operation["options"] else []
        operation["rust_driver"] = ", ".join(parts)
        operation["rust_arguments"] = rows
        operation["rust_sets"] = "".join(f".{row['set']}?" for row in rows)
        methods = {
            row["name"]: f"{row['group']}::{row['name']}"
            for row in data["operations"]
            if row["group"] == operation["group"]
        }
        operation["rust_doc"] = _operation_doc(operation, codes, methods)
