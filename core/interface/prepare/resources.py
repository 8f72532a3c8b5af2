"""Prepares how C++ and Python read and describe the fields of resources."""

from __future__ import annotations

from collections.abc import Iterator

from .words import Row, snake

_CPP_TYPES = {
    "id": "Id",
    "integer": "std::int64_t",
    "text": "std::string_view",
    "word": "std::string_view",
    "boolean": "bool",
    "time": "Time",
    "decimal": "std::string_view",
    "object": "Value",
    "any": "Value",
    "integers": "std::vector<std::int64_t>",
}
_CPP_READERS = {
    "id": "id_field",
    "integer": "integer",
    "text": "text",
    "word": "text",
    "boolean": "boolean",
    "time": "time",
    "decimal": "number_text",
    "object": "object",
    "any": "any",
    "view": "view",
    "views": "objects",
    "integers": "integers",
}
_PYTHON_TYPES = {
    "id": "str | int",
    "integer": "int",
    "text": "str",
    "word": "str",
    "boolean": "bool",
    "time": "datetime",
    "decimal": "Decimal",
    "object": "dict[str, Any]",
    "any": "Any",
    "integers": "list[int]",
}
# Field type -> type of the arguments in billcore.testing that set fields of this type, if it differs from the type in
# _PYTHON_TYPES.
_GIVEN_TYPES = {
    "time": "datetime | str",
    "decimal": "Decimal | float",
    "object": "Mapping[str, Any]",
    "integers": "Sequence[int]",
    "view": "{of} | Mapping[str, Any]",
    "views": "Sequence[{of} | Mapping[str, Any]]",
}
_COLUMNS = {"word": "text", "object": "json", "any": "json", "view": "json", "views": "json", "integers": "json"}
_PYTHON_DOCS = {
    "id": "Opaque id, str or int as received; compare with billcore.same_id().",
    "integer": "Integer.",
    "text": "Text.",
    "word": "Text.",
    "boolean": "True or False.",
    "time": "Aware datetime.",
}


def _described(field: Row) -> str:
    """Joins the unit and the doc of a field into one sentence; empty if the field has neither."""
    doc: str = field.get("doc", "")
    if "unit" in field:
        unit = str(field["unit"]).capitalize()
        if not doc:
            return f"{unit}."
        return f"{unit} ({doc})." if "=" in doc else f"{unit}, {doc}."
    return doc


def _with_end(sentence: str, end: str) -> str:
    """Appends `end` to the first sentence of the text `sentence`."""
    first, dot, rest = sentence.partition(". ")
    return f"{first.removesuffix('.')}{end}.{' ' + rest if dot else ''}"


def _python_doc(field: Row) -> str:
    if "values" in field:
        article = "An" if field["values"][0] in "AEIOU" else "A"
        return f"{article} {field['values']}; at run time it may be a value that this version does not know yet."
    kind = field["type"]
    sentence = _described(field)
    if kind == "decimal":
        sentence = _with_end(sentence, "; a decimal.Decimal")
    elif kind == "time" and sentence:
        sentence = _with_end(sentence, "; aware datetime")
    elif kind == "views":
        sentence = f"List of {field['of']}."
    elif kind == "view" and not sentence:
        sentence = f"{field['of']}."
    sentence = sentence or _PYTHON_DOCS[kind]
    return _with_end(sentence, ", or None") if field.get("nullable") else sentence


def _prepare_field(field: Row) -> None:
    kind, name = field["type"], field["name"]
    nullable = field.setdefault("nullable", False)
    field.setdefault("of", "")
    field.setdefault("secret", False)
    field.setdefault("cpp_name", name)
    described = _described(field)
    field["cpp_doc"] = described
    if "values" in field:
        field["cpp_doc"] = f"One of {snake(field['values'])}, or a value this library does not know yet."
    cpp_type = {"view": field["of"], "views": f"std::vector<{field['of']}>"}.get(kind) or _CPP_TYPES[kind]
    reader = _CPP_READERS[kind] + (f"<{field['of']}>" if field["of"] else "")
    field["cpp_type"] = f"std::optional<{cpp_type}>" if nullable else cpp_type
    field["cpp_read"] = f'{"nullable_" if nullable else ""}{reader}("{name}")'
    python_type = {"view": field["of"], "views": f"list[{field['of']}]"}.get(kind) or _PYTHON_TYPES[kind]
    if "values" in field:
        python_type = field["values"]
    field["python_type"] = f"{python_type} | None" if nullable else python_type
    given_type = _GIVEN_TYPES.get(kind, python_type).format(of=field["of"])
    field["python_given_type"] = given_type + " | NotGiven" + (" | None" if nullable else "")
    field["python_doc"] = _python_doc(field)
    field["reference_doc"] = described or ("see " + field["values"] if "values" in field else "")
    field["column"] = _COLUMNS.get(kind, kind)


def _in_order_of_use(resources: list[Row]) -> Iterator[Row]:
    """Yields the resources in an order in which each comes after the resources that its fields contain."""
    by_name = {resource["name"]: resource for resource in resources}
    done: set[str] = set()

    def visit(resource: Row) -> Iterator[Row]:
        if resource["name"] in done:
            return
        done.add(resource["name"])
        for field in resource["fields"]:
            if field["of"]:
                yield from visit(by_name[field["of"]])
        yield resource

    for resource in resources:
        yield from visit(resource)


_WRITTEN_TYPES = {"text": "str", "integer": "int", "decimal": "int | float | Decimal"}


def _prepare_write(write: Row) -> None:
    for field in write["fields"]:
        field["python_type"] = f"{_WRITTEN_TYPES[field['type']]} | None"
        field["doc"] = _described(field)


def prepare_resources(data: Row) -> Row:
    resources, enumerations = data["resource"], data["enumeration"]
    by_name = {row["name"]: row for row in enumerations}
    for resource in resources:
        resource.setdefault("shown", [])
        resource.setdefault("amount", None)
        resource.setdefault("list", "")
        for field in resource["fields"]:
            _prepare_field(field)
        resource["enumerations"] = [by_name[field["values"]] for field in resource["fields"] if "values" in field]
    for write in data["write"]:
        _prepare_write(write)
    in_cpp = [resource for resource in _in_order_of_use(resources) if not resource.get("by_hand_in_cpp")]
    secrets = dict.fromkeys(field["name"] for resource in resources for field in resource["fields"] if field["secret"])
    return {
        "resources": resources,
        "secret_fields": list(secrets),
        "resources_in_cpp": in_cpp,
        "enumerations": enumerations,
        "writes": data["write"],
    }
