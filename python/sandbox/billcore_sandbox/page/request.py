"""A request for the page: its account and links, and how a view renders its answer."""

from __future__ import annotations

import secrets
from typing import Any
from urllib.parse import urlencode

from billcore_sandbox.control.common import named_account
from billcore_sandbox.http.answers import Scope
from billcore_sandbox.service.calls import Reply, number_of, parse_query
from billcore_sandbox.store import Account
from billcore_sandbox.world import World

PREFIX = "/_page"
NAMES = (
    ("/", "Traffic"),
    (f"{PREFIX}/subscriptions", "Subscriptions"),
    (f"{PREFIX}/upcoming", "Upcoming"),
    (f"{PREFIX}/faults", "Break it"),
    (f"{PREFIX}/endpoints", "Endpoints"),
    (f"{PREFIX}/accounts", "Accounts"),
    (f"{PREFIX}/journal", "Journal"),
    (f"{PREFIX}/inbox", "Inbox"),
)
PAGE = 50  # rows of a list that are shown at once
_MOST_PAGES = 10**6
_MOST_NOTES = 100
_MOST_QUERY = 8 << 10  # bytes of a query


class Shared:
    """What all requests for the page share.

    token: a secret that each form of the page has, and which a page of another origin cannot read. version: part of the
    URLs of static files, so that a browser does not use those of another sandbox on the same port.
    """

    def __init__(self) -> None:
        self.token = secrets.token_urlsafe()
        self.version = secrets.token_hex(4)
        self._notes: dict[str, tuple[str, bool]] = {}

    def note(self, text: str, *, wrong: bool = False) -> str:
        """Keep the outcome of a form for the page that the browser shows next; returns the note's id."""
        number = secrets.token_hex(4)
        self._notes[number] = (text, wrong)
        if len(self._notes) > _MOST_NOTES:
            del self._notes[next(iter(self._notes))]
        return number

    def noted(self, number: str | None) -> tuple[str, bool] | None:
        """A note, and whether it is an error."""
        return self._notes.get(number or "")


class PageRequest:
    """A request for a page or a part of a page.

    query: the parameters of the URL; the value of a repeated parameter is its last one. too_long: its query is longer
    than any that the page makes, so its parameters were not read: that would take too long.
    """

    def __init__(self, world: World, scope: Scope, shared: Shared) -> None:
        self.world, self.shared = world, shared
        self.method, self.path = scope["method"], scope["raw_path"].decode("ascii")
        self.head = self.method == "HEAD"
        self.too_long = len(scope["query_string"]) > _MOST_QUERY
        self.pairs = [] if self.too_long else parse_query(scope["query_string"])
        self.query = dict(self.pairs)
        self._headers: list[tuple[bytes, bytes]] = scope["headers"]

    def header(self, name: str) -> str:
        """The value of a header, whose name is in lower case; "" without it."""
        return next((value.decode("latin-1") for each, value in self._headers if each == name.encode()), "")

    def all(self, name: str) -> list[str]:
        """The values of a parameter, each once: links of the page repeat them."""
        return [*dict.fromkeys(value for each, value in self.pairs if each == name and value)]

    def number(self, name: str) -> int | None:
        """The value of a parameter as a number from 1; None without it, or if it is no such number."""
        number = number_of(self.query.get(name, ""))
        return None if number < 0 else number

    @property
    def page(self) -> int:
        """The page of a list that the URL names, counted from 1."""
        return min(self.number("page") or 1, _MOST_PAGES)

    @property
    def chosen(self) -> Account | None:
        """The account that the URL names; None: all accounts. Raises Refusal 404."""
        return named_account(self.world, self.query.get("account") or None)

    @property
    def account(self) -> Account:
        """The account that the URL names, or the first one. Raises Refusal 404."""
        return self.chosen or self.world.store.accounts[0]

    def only(self, target: str) -> bool:
        """Whether htmx asks for one part of the page, the element with this id."""
        return self.header("hx-target") == target

    def link(self, path: str, **changes: Any) -> str:
        """A URL with the chosen account and these parameters; None: without the parameter."""
        kept = {"account": self.query.get("account")}
        pairs = [(name, value) for name, value in {**kept, **changes}.items() if value not in (None, "", [])]
        return f"{path}?{urlencode(pairs, doseq=True)}" if pairs else path

    def same(self, **changes: Any) -> str:
        """The URL of this page with other parameters; None: without the parameter."""
        now: dict[str, Any] = {}
        for name, value in dict.fromkeys(self.pairs):
            if value and name != "note" and name in self.query:
                now.setdefault(name, []).append(value)
        return self.link(self.path, **{**now, **changes})

    def render(self, template: str, *, status: int = 200, **values: Any) -> Reply:
        """An answer with HTML from a file of `templates`."""
        from billcore_sandbox.page.render import html

        body = html(template, {"request": self, "world": self.world, "views": NAMES, "status": status, **values})
        headers = [("Cache-Control", "no-store"), ("Vary", "HX-Target")]
        return Reply(status, body, headers, "text/html; charset=utf-8")
