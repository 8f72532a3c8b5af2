"""The inputs of a form for a control route, made from the types of the route's body."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

import msgspec
from msgspec import inspect


class Input(NamedTuple):
    """An input.

    name: of the form's field. default: what an empty input says. choices: the values of a select, and how they read.
    least, most: of a number.
    """

    name: str
    label: str
    type: str  # number, text, json or select
    value: str
    default: str
    about: str
    choices: dict[str, str] = {}  # noqa: RUF012  nothing changes it
    least: float | None = None
    most: float | None = None
    step: str = "1"
    required: bool = False


def inputs(
    body: type[msgspec.Struct],
    defaults: Mapping[str, Any],
    values: Mapping[str, str],
    about: Mapping[str, str] | None = None,
) -> list[Input]:
    """Make an input for each field that `defaults` names.

    values: the texts with which the inputs begin. about: help texts of fields.
    """
    types = _types(body)
    return [
        _input(name, types[name], default, values.get(name, ""), (about or {}).get(name, ""))
        for name, default in defaults.items()
    ]


@cache
def _types(body: type[msgspec.Struct]) -> dict[str, inspect.Type]:
    about = inspect.type_info(body)
    assert isinstance(about, inspect.StructType)
    return {each.name: _plain(each.type) for each in about.fields}


def _plain(type_: inspect.Type) -> inspect.Type:
    """The type without its description, and without null."""
    while isinstance(type_, inspect.Metadata | inspect.UnionType):
        if isinstance(type_, inspect.Metadata):
            type_ = type_.type
        else:
            type_ = next(each for each in type_.types if not isinstance(each, inspect.NoneType))
    return type_


def _input(name: str, type_: inspect.Type, default: Any, value: str, about: str) -> Input:
    given = (value, shown(default), about)
    if isinstance(type_, inspect.BoolType):
        empty = "any" if default is None else f"default: {'yes' if default else 'no'}"
        return Input(name, name, "select", value, empty, about, choices={"true": "yes", "false": "no"})
    if isinstance(type_, inspect.LiteralType):
        empty = f"default: {shown(default)}" if default is not None else "any"
        return Input(name, name, "select", value, empty, about, choices={str(each): str(each) for each in type_.values})
    if isinstance(type_, inspect.IntType):
        return Input(name, name, "number", *given, least=type_.ge, most=type_.le)
    if isinstance(type_, inspect.FloatType):
        return Input(
            name, name, "number", *given, least=type_.gt if type_.ge is None else type_.ge, most=type_.le, step="any"
        )
    if isinstance(type_, inspect.StrType):
        return Input(name, name, "text", *given)
    return Input(f"{name}:json", name, "json", *given)


def shown(value: Any) -> str:
    """A value as a form says it: a text as it is, another value as JSON, and nothing for null."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
