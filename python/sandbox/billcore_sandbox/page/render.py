"""Renders the templates. No text becomes HTML: all is escaped, and characters that change how it reads are named."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from billcore_sandbox.resources import money

# Controls but tab and line feed, format characters such as right-to-left overrides, separators, and lone surrogates.
_ODD = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f"
    "\ud800-\udfff\ufeff\ufff0-\ufffb\U000e0000-\U000e0fff]"
)


class Exact(str):
    """A text of which nothing is replaced: the value of a field of a form. It is escaped as any other text."""


def html(template: str, values: dict[str, Any]) -> bytes:
    """A rendered file of `templates`."""
    return _environment().get_template(template).render(values).encode("utf-8")


@cache
def _environment() -> Environment:
    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=visible,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "money": money,
        "exact": Exact,
        "short": short,
        "time": time,
        "size": size,
        "to_json": to_json,
    }
    return made


def visible(value: Any) -> Any:
    """The text with its invisible characters replaced by their code points, such as ⟨U+202E⟩."""
    if isinstance(value, Markup | Exact) or not isinstance(value, str):
        return value
    return _ODD.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", value)


def pretty(text: str) -> str | None:
    """JSON with one member a line, and each value with the characters that were sent; None if it is not JSON."""
    try:
        return msgspec.json.format(text, indent=2)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError):
        return None


def short(value: Any, most: int = 120) -> str:
    """The text in one line of at most `most` characters."""
    line = " ".join(str(value)[: most * 4].split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def time(text: str | None) -> str:
    """A time as `iso` or `iso_precise` wrote it, as date and time in UTC."""
    return "" if text is None else f"{text[:10]} {text[11:19]}"


def size(count: int) -> str:
    """A number of bytes."""
    return (
        f"{count} B" if count < 1024 else f"{count / 1024:.1f} KB" if count < 1 << 20 else f"{count / (1 << 20):.1f} MB"
    )


def to_json(value: Any) -> str:
    """The value as indented JSON."""
    return json.dumps(value, indent=2, ensure_ascii=False)
