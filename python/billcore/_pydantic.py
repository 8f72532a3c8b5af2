"""Lets pydantic and FastAPI use resources as types. Imported when pydantic needs the schema of a resource type."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ._errors import DecodeError
from ._webhook import _restore

if TYPE_CHECKING:
    from pydantic_core import CoreSchema

    from ._webhook import Resource


def schema(kind: type[Resource]) -> CoreSchema:
    """Returns a schema that accepts a resource or a dict with its JSON, and serializes a resource with to_dict()."""
    from pydantic_core import core_schema

    def read(value: Any) -> Resource:
        if isinstance(value, kind):
            return value
        if not isinstance(value, dict):
            raise ValueError(f"must be a billcore.{kind.__name__} or an object, not {type(value).__name__}")
        try:
            made: Resource = _restore(kind.__name__, json.dumps(value, allow_nan=False), "")
        except (TypeError, ValueError, RecursionError, DecodeError) as error:
            raise ValueError(f"is not plain JSON: {error}") from None
        return made

    return core_schema.no_info_plain_validator_function(
        read,
        serialization=core_schema.plain_serializer_function_ser_schema(lambda resource: resource.to_dict()),
        metadata={"pydantic_js_functions": [lambda _schema, _handler: {"type": "object", "title": kind.__name__}]},
    )
