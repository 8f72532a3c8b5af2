"""How resources, pages and events are shown in notebooks and by rich. Imported when one is shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

from ._webhook import format_amount

if TYPE_CHECKING:
    from ._client import Page
    from ._webhook import Event, Resource

_Row: TypeAlias = tuple[str, str]

_AMOUNTS = ("price", "price_with_vat", "price_without_vat", "total", "total_with_vat")
_NAMES = ("id", "name", "status", "state", "type")
_LONGEST = 200
_MOST_ROWS = 20


def _plain(value: object, name: str, owner: Mapping[str, Any]) -> str:
    """A member as text. URLs are not shown: with a subscription's signed URLs anyone can act for the customer."""
    if isinstance(value, str) and "://" in value:
        return "(a URL, not shown)"
    currency = owner.get("currency")
    if name in _AMOUNTS and isinstance(value, int) and isinstance(currency, str):
        try:
            return format_amount(value, currency)
        except ValueError:  # the amount exceeds 64 bits
            return str(value)
    if isinstance(value, (dict, list)):
        kind, count = ("members", len(value)) if isinstance(value, dict) else ("items", len(value))
        return f"({count} {kind})" if value else "(empty)"
    text = "" if value is None else str(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _rows(members: Mapping[str, Any]) -> list[_Row]:
    return [(name, _plain(value, name, members)) for name, value in members.items()]


def _table(title: str, rows: Iterable[_Row]) -> str:
    body = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows)
    return f"<table><caption>{escape(title)}</caption>{body}</table>"


def html(resource: Resource) -> str:
    return _table(type(resource).__name__, _rows(resource.to_dict()))


def html_of_event(event: Event) -> str:
    envelope = event.to_dict()
    data = envelope.pop("data", None)
    table = _table(type(event).__name__, _rows(envelope))
    return table + _table("data", _rows(data)) if isinstance(data, dict) else table


def html_of_page(page: Page[Resource]) -> str:
    items = page.items
    shown = [item.to_dict() for item in items[:_MOST_ROWS]]
    names = list(dict.fromkeys(name for one in shown for name in one))
    head = "".join(f"<th>{escape(name)}</th>" for name in names)
    lines = (
        "".join(f"<td>{escape(_plain(one[name], name, one) if name in one else '')}</td>" for name in names)
        for one in shown
    )
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    title = "1 item" if len(items) == 1 else f"{len(items)} items"
    if len(items) > _MOST_ROWS:
        title += f", the first {_MOST_ROWS} shown"
    return f"<table><caption>{escape(title)}</caption><tr>{head}</tr>{body}</table>"


def rich_repr(shown: Resource | Event) -> Iterator[tuple[str, object]]:
    """What repr() shows, as arguments of a call: Order(id=9102337, state='paid', total_with_vat='18.75 DKK')."""
    members = shown.to_dict()
    for name in _NAMES:
        if isinstance(members.get(name), (str, int)):
            yield name, members[name]
    amount = next((name for name in ("total_with_vat", "price") if name in members), None)
    if amount is not None:
        yield amount, _plain(members[amount], amount, members)
