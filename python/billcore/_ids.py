"""Comparing ids; public as billcore.same_id."""

from __future__ import annotations

from ._errors import InvalidArgumentError


def same_id(a: str | int, b: str | int, /) -> bool:
    """Do both ids name the same record? True when their texts are equal.

    Webhooks may carry as an int the id that the REST interface gives as a str, so `event.data.id == order.id` can be
    False for the same order. a, b: ids of one kind of record, str or int; anything else, also None and bool, raises
    InvalidArgumentError. Nothing is normalised: "07" is not 7. For a key of a dict or of a database use str(id).
    Service interface: Events.
    """
    return _text(a) == _text(b)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return int.__repr__(value)  # the digits, also of a subclass that shows itself in another way
    kind = "None" if value is None else f"a {type(value).__name__}"
    raise InvalidArgumentError(f"an id is a str or an int, not {kind}: compare the .id of two records")
