"""Formats resources, pages and events for notebooks and for rich. Loaded when a program first shows one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape
from typing import TYPE_CHECKING, Any, TypeAlias

from ._shown_fields import AMOUNTS, SHOWN, WORTH
from ._webhook import format_amount

if TYPE_CHECKING:
    from ._client import Page
    from ._webhook import Event, Resource

_Members: TypeAlias = dict[str, Any]

_LONGEST = 200
_MOST_ROWS = 20


def _text(kind: str, name: str, members: _Members) -> str:
    """Returns a member's text, but never a URL: anyone with a subscription's signed URL can act for the customer."""
    value, currency = members[name], members.get("currency")
    if isinstance(value, str) and "://" in value:
        return "(a URL, not shown)"
    if name in AMOUNTS.get(kind, ()) and type(value) is int and abs(value) < 2**63 and isinstance(currency, str):
        return format_amount(value, currency)
    if isinstance(value, (dict, list)):
        return f"({_count(len(value), 'member' if isinstance(value, dict) else 'item')})" if value else "(empty)"
    text = "" if value is None else str(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def _row(cells: Iterable[str], tag: str = "td") -> str:
    return "<tr>" + "".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def _table(title: str, rows: Iterable[str]) -> str:
    return f"<table><caption>{escape(title)}</caption>{''.join(rows)}</table>"


def _members(kind: str, title: str, members: _Members) -> str:
    rows = (f"<tr><th>{escape(name)}</th><td>{escape(_text(kind, name, members))}</td></tr>" for name in members)
    return _table(title, rows)


def html(resource: Resource) -> str:
    kind = type(resource).__name__
    return _members(kind, kind, resource.to_dict())


def html_of_event(event: Event) -> str:
    envelope = event.to_dict()
    data = envelope.pop("data", None)
    table = _members("", type(event).__name__, envelope)
    return table + _members(type(event.data).__name__, "data", data) if isinstance(data, dict) else table


def html_of_page(page: Page[Resource]) -> str:
    shown = [(type(item).__name__, item.to_dict()) for item in page.items[:_MOST_ROWS]]
    names = list(dict.fromkeys(name for _, members in shown for name in members))
    rows = [_row([_text(kind, name, members) if name in members else "" for name in names]) for kind, members in shown]
    title = _count(len(page.items), "item")
    if len(page.items) > _MOST_ROWS:
        title += f", the first {_MOST_ROWS} shown"
    return _table(title, [_row(names, "th"), *rows])


def rich_repr(shown: Resource | Event) -> Iterator[tuple[str, object]]:
    """Yields the names and values for repr(): Order(id=9102337, state='paid', total_with_vat='18.75 DKK')."""
    kind, members = type(shown).__name__, shown.to_dict()
    for name in SHOWN.get(kind, ("id", "name")):
        if isinstance(members.get(name), (str, int)):
            yield name, members[name]
    if (amount := WORTH.get(kind)) in members:
        yield amount, _text(kind, amount, members)
