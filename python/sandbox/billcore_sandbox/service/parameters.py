"""The parameters of each operation, and the unknown parameters of a request."""

from __future__ import annotations

import json

import msgspec

from billcore_sandbox.service.calls import Request, parse_query
from billcore_sandbox.service.lists import plain
from billcore_sandbox.service.routes import OPERATIONS

_MOST, _LONGEST = 100, 100
_TAKES_ANY_FIELD = "products.update"  # see ProductWrite


def _names(fields: type[msgspec.Struct] | None) -> tuple[str, ...]:
    return () if fields is None else tuple(each.encode_name for each in msgspec.structs.fields(fields))


QUERY = {operation.name: _names(operation.query) for operation in OPERATIONS}
BODY = {operation.name: _names(operation.body) for operation in OPERATIONS}


def parameters(operation: str) -> tuple[str, ...]:
    """The names of an operation's query parameters and body fields."""
    return QUERY[operation] + BODY[operation]


def unknown(operation: str, request: Request) -> list[str]:
    """The names of a request's unknown query parameters and fields: at most 100, each cut after 100 characters."""
    found = [name for name, _ in parse_query(request.query) if plain(name) not in QUERY[operation]]
    if request.body and operation != _TAKES_ANY_FIELD:
        found += [name for name in _fields(request.body) if name not in BODY[operation]]
    return [name[:_LONGEST] for name in dict.fromkeys(found)][:_MOST]


def _fields(body: bytes) -> list[str]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return []
    return list(value) if isinstance(value, dict) else []
