"""Error messages for bodies and parameters of the wrong form: they name the error and the allowed values or names."""

from __future__ import annotations

import re
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from billcore_sandbox.control.bodies import LINE, TOKEN
from billcore_sandbox.errors import Refusal, invalid

# The place of an error in msgspec's message: "$.delivery.event" or "$.headers[...]".
_PLACE = re.compile(r"\$((?:\.\w+)*)")
_PATTERNS = {LINE: "of one line without spaces around it", TOKEN: "that can be the name of a header"}


def mistake(error: msgspec.ValidationError, body: type[msgspec.Struct], what: str) -> Refusal:
    """The Refusal for a body or query that msgspec could not convert to `body`. what: "fields" or "parameters"."""
    text = str(error)
    for pattern, words in _PATTERNS.items():
        text = text.replace(f"matching regex {pattern!r}", words)
    place = _PLACE.search(text)
    values: tuple[Any, ...] = ()
    for name in place[1].split(".")[1:] if place else ():
        hint = get_type_hints(body).get(name)
        kinds = [hint, *get_args(hint)]
        body = next((each for each in kinds if isinstance(each, type) and issubclass(each, msgspec.Struct)), body)
        values = next((get_args(each) for each in kinds if get_origin(each) is Literal), ())
    if values:
        return invalid(f"{text} (use one of {', '.join(map(str, values))})")
    return invalid(f"{text} ({what}: {', '.join(body.__struct_fields__)})")
