"""Sample data such as the service sends, and functions that change the data for a test."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from .._errors import InvalidArgumentError
from .._not_given import NOT_GIVEN

_made: tuple[int, dict[str, Any]] | None = None


def catalog() -> tuple[int, dict[str, Any]]:
    """The account's number and its sample data, cached; two threads may both read the file, harmlessly."""
    global _made
    if _made is None:
        samples = json.loads((Path(__file__).parent / "samples.json").read_text("utf-8"))
        age = datetime.now(UTC).replace(microsecond=0) - datetime.fromisoformat(samples["made_at"])
        _made = samples["account"], {name: _later(data, age) for name, data in samples["data"].items()}
    return _made


def _later(data: Any, age: timedelta) -> Any:
    """The sample with all times moved forward: a subscription that is paid for in the sample is then paid for today."""
    if not isinstance(data, dict):
        return data
    moved = {
        name: (datetime.fromisoformat(value) + age).isoformat()
        for name, value in data.items()
        if name.endswith("_at") and value is not None
    }
    return data | moved


def require_known(function: str, fields: Iterable[str], known: Iterable[str]) -> None:
    """Raises TypeError for a field that is not one of the known fields."""
    known = list(known)
    unknown = next((name for name in fields if name not in known), None)
    if unknown is None:
        return
    from difflib import get_close_matches

    near = get_close_matches(unknown, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"the fields are {', '.join(known)}."
    raise TypeError(
        f"{function}() got an unexpected keyword argument {unknown!r}: {hint} Fields that the interface does not name "
        "go through data=."
    )


def changed(data: Any, fields: dict[str, Any]) -> Any:
    """A copy of `data` in which `fields` replace members."""
    if not fields:
        return _without_not_given(data) if isinstance(data, dict) else data
    if data is None or data is NOT_GIVEN:
        data = {}
    if not isinstance(data, dict):
        raise InvalidArgumentError("data is not an object, so it has no fields to change: leave the fields out")
    return _without_not_given(data | fields)


def _without_not_given(members: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not NOT_GIVEN}


def plain(value: Any, name: str) -> Any:
    """A copy of the value for json.dumps. Copies every container, so that changes to the copy do not affect the
    caller's value or the catalog."""
    if isinstance(value, Mapping):
        return {key: plain(member, f"{name}.{key}") for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [plain(member, name) for member in value]
    if isinstance(value, datetime):
        if value.utcoffset() is None:
            raise InvalidArgumentError(f"{name} is a datetime without an offset: make it aware (datetime.now(UTC))")
        return value.isoformat()
    if isinstance(value, Decimal):
        number = int(value) if value.is_finite() and value == value.to_integral_value() else float(value)
        if Decimal(repr(number)) != value:
            raise InvalidArgumentError(f"{name}: {value} is not a number that JSON keeps; use fewer digits")
        return number
    from .._webhook import Resource

    return value.to_dict() if isinstance(value, Resource) else value
