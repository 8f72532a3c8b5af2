"""Prepares the typed inline functions that read the fields of resources in C."""

from __future__ import annotations

import textwrap

from .words import Row, snake

# Field type -> end of the runtime function's name, the accessor's output parameters, and the arguments that the
# accessor passes to the runtime function after the field's name.
_OUTPUTS = {
    "integer": ("int64", ["int64_t* out"], ["out"]),
    "text": ("text", ["billcore_str* out"], ["out"]),
    "word": ("text", ["billcore_str* out"], ["out"]),
    "boolean": ("bool", ["bool* out"], ["out"]),
    "time": ("time", ["billcore_str* text", "int64_t* unix_micros"], ["text", "unix_micros"]),
    "decimal": ("number", ["billcore_str* out"], ["out"]),
    "id": ("id", ["billcore_str* text", "bool* is_integer"], ["text", "is_integer"]),
    "object": ("object", ["billcore_value** out"], ["out"]),
    "view": ("object", ["billcore_value** out"], ["out"]),
    "any": ("any", ["billcore_value** out"], ["out"]),
}
_NOTES = {
    "time": "The pointers text and unix_micros may be NULL.",
    "id": "An opaque id: its text, and whether the service sent it as a JSON integer. is_integer may be NULL.",
    "object": "The caller frees *out.",
    "view": "As a JSON value. The caller frees *out.",
    "any": "The caller frees *out.",
}


def c_comment(text: str) -> str:
    """Formats a text as the comment of a C declaration, wrapped to the line width."""
    words = " ".join(text.split()).replace("@since ", "@since\N{NO-BREAK SPACE}")  # no line break after @since
    lines = [line.replace("\N{NO-BREAK SPACE}", " ") for line in textwrap.wrap(words, 115)]
    lines[-1] = lines[-1].replace(" @since", "  @since")
    return "/** " + "\n * ".join(lines) + (" */" if len(lines[-1]) < 112 else "\n */")


def cpp_comment(text: str, indent: str = "") -> str:
    begin = f"{indent}/// "
    words = " ".join(text.split())
    return "\n".join(textwrap.wrap(words, 120, initial_indent=begin, subsequent_indent=begin, break_on_hyphens=False))


def c_line_comment(text: str) -> str:
    return f"  /** {text.removesuffix('.')} */"


def _sentence(field: Row, values: dict[str, list[str]]) -> str:
    if "values" in field:
        return ", ".join(values[field["values"]]) + ", or a value that the service added later."
    doc = field["cpp_doc"] or field["name"].replace("_", " ").capitalize() + "."
    note = _NOTES.get(field["type"], "")
    return f"{doc} {note}".strip() if field["type"] != "id" else note


def _end(resource: Row, field: Row) -> str:
    return f"Service interface: {resource['section']}. @since {field.get('since', '0.1')}"


def _accessor(name: str, path: str, nullable: bool, field: Row, resource: Row) -> Row:
    kind, outputs, arguments = _OUTPUTS[field["type"]]
    values = {row["name"]: row["values"] for row in resource["enumerations"]}
    if nullable:
        outputs, arguments = [*outputs, "bool* present"], [*arguments, "present"]
    else:
        arguments = [*arguments, "NULL"]
    return {
        "name": name,
        "doc": f"{_sentence(field, values)} {_end(resource, field)}",
        "parameters": outputs,
        "call": f"billcore_resource_{kind}",
        "arguments": [f'BILLCORE_STR("{path}")', *arguments],
        "made": "",
    }


def _list(resource: Row, field: Row, by_name: dict[str, Row]) -> list[Row]:
    name = field["name"]
    prefix, one = f"billcore_{resource['c_name']}_", name.removesuffix("s")
    end = _end(resource, field)
    words = name.replace("_", " ")
    literal = f'BILLCORE_STR("{name}")'
    of_resources = field["type"] == "views"
    made = f"billcore_{by_name[field['of']]['c_name']}" if of_resources else ""
    beyond = "BILLCORE_ERROR_INVALID_ARGUMENT beyond the last item."
    return [
        {
            "name": f"{prefix}{name}_count",
            "doc": f"Number of the {resource['c_words']}'s {words}. {end}",
            "parameters": ["size_t* out"],
            "call": f"billcore_resource_{'list' if of_resources else 'integers'}_count",
            "arguments": [literal, "out"],
            "made": "",
        },
        {
            "name": f"{prefix}{one}_at",
            "doc": f"Item `index`, from 0, of the {resource['c_words']}'s {words}; {beyond}"
            f"{' The caller frees *out.' if of_resources else ''} {end}",
            "parameters": ["size_t index", f"{made}** out" if of_resources else "int64_t* out"],
            "call": f"billcore_resource_{'list' if of_resources else 'integer'}_at",
            "arguments": [literal, "index", "out"],
            "made": made,
        },
    ]


def _members(resource: Row, by_name: dict[str, Row]) -> list[Row]:
    out = []
    for field in resource["fields"]:
        name = f"billcore_{resource['c_name']}_{field['name']}"
        mark = "?" if field["nullable"] else ""
        if field["type"] in ("views", "integers"):
            out += _list(resource, field, by_name)
            continue
        out.append(_accessor(name, field["name"] + mark, field["nullable"], field, resource))
        if field["type"] == "view":
            for part in by_name[field["of"]]["fields"]:
                path = f"/{field['name']}{mark}/{part['name']}{'?' if part['nullable'] else ''}"
                nullable = field["nullable"] or part["nullable"]
                out.append(_accessor(f"{name}_{part['name']}", path, nullable, part, resource))
    return out


def _headers(resources: list[Row], by_name: dict[str, Row]) -> list[Row]:
    """Plans one header for each resource. The header also has the nested resources that no other resource uses.

    A nested resource that several resources use gets its own header.
    """
    listed = {
        resource["name"]: [field["of"] for field in resource["fields"] if field["type"] == "views"]
        for resource in resources
    }
    users = [part for parts in listed.values() for part in parts]
    shared = {part for part in users if users.count(part) > 1}
    headers = []
    for resource in resources:
        if resource["part"] and resource["name"] not in shared:
            continue
        parts = [by_name[part] for part in listed[resource["name"]]]
        own = [part for part in parts if part["name"] not in shared]
        includes = sorted(part["c_name"] for part in parts if part["name"] in shared) or ["resource"]
        title = f"{resource['c_words'].capitalize()}s."
        name = resource["c_name"]
        headers.append({"c_name": name, "title": title, "includes": includes, "faces": [*own, resource]})
    return headers


def prepare_c_faces(resources: list[Row]) -> Row:
    by_name = {resource["name"]: resource for resource in resources}
    for resource in resources:
        resource.setdefault("c_name", snake(resource["name"]))
        resource.setdefault("part", False)
        words = resource["c_name"].replace("_", " ")
        resource["c_words"] = words
        resource["c_article"] = "an" if words[0] in "aeiou" else "a"
    for resource in resources:
        resource["c_members"] = _members(resource, by_name)
    whole = [resource for resource in resources if not resource["part"]]
    return {"c_faces": by_name, "c_headers": _headers(resources, by_name), "whole_resources": whole}
