"""Comparison of ids; public as billcore.same_id."""

from __future__ import annotations

from ._errors import InvalidArgumentError


def same_id(a: str | int, b: str | int, /) -> bool:
    """Whether both ids name the same record: True when their texts are equal.

    A webhook may have an id as an int that the REST interface has as a str, so `event.data.id == order.id` can be False
    for the same order. a, b: ids of the same kind of record, str or int; anything else, including None and bool, raises
    InvalidArgumentError. Nothing is normalised: "07" is not 7. As a key of a dict or a database use str(id). Service
    interface: Events.
    """
    return _text(a) == _text(b)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return int.__repr__(value)  # the digits, even if a subclass formats itself differently
    kind = "None" if value is None else f"a {type(value).__name__}"
    raise InvalidArgumentError(f"an id is a str or an int, not {kind}: compare the .id of two records")
