"""The message for a body or for parameters that do not fit: what was wrong, and what there is instead."""

from __future__ import annotations

import re
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from billcore_sandbox.control.bodies import LINE, TOKEN
from billcore_sandbox.errors import Refusal, invalid

# Where it was wrong: "$.delivery.event", or "$.headers[...]".
_PLACE = re.compile(r"\$((?:\.\w+)*)")
_PATTERNS = {LINE: "of one line without spaces around it", TOKEN: "that can be the name of a header"}


def mistake(error: msgspec.ValidationError, body: type[msgspec.Struct], what: str) -> Refusal:
    """The refusal of what msgspec could not convert to `body`. what: "fields" or "parameters"."""
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
        return invalid(f"{text} (use one of {', '.join(values)})")
    return invalid(f"{text} ({what}: {', '.join(body.__struct_fields__)})")
