"""Comparison of ids; public as billcore.same_id."""

from __future__ import annotations

from ._errors import InvalidArgumentError


def same_id(a: str | int, b: str | int, /) -> bool:
    """Whether both ids name the same record: True if the ids are equal as text.

    The id of a record may be an int in a webhook and a str in an answer, so `event.data.id == order.id` can be False
    for the same order. Both arguments must be ids of the same kind of record, str or int; another type, even None or
    bool, raises InvalidArgumentError. The comparison does not normalise ids: "07" and 7 are different ids. Use str(id)
    as a key in a dict or a database. Service interface: Events.
    """
    return _text(a) == _text(b)


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return int.__repr__(value)  # the digits, even if a subclass of int has its own __repr__
    kind = "None" if value is None else f"a {type(value).__name__}"
    raise InvalidArgumentError(f"an id is a str or an int, not {kind}: compare the .id of two records")
