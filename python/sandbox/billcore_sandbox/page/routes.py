"""The table of the page's views."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from billcore_sandbox.page.request import PREFIX
from billcore_sandbox.page.views import (
    accounts,
    books,
    endpoints,
    faults,
    live,
    shown,
    subscriptions,
    traffic,
    upcoming,
)


class View(NamedTuple):
    """A view: a function that is called with the request, and with the id in the path if it has one."""

    method: str
    path: str
    action: Callable[..., Any]


def _get(path: str, action: Callable[..., Any]) -> View:
    return View("GET", path, action)


VIEWS = (
    _get("/", traffic.show),
    _get(f"{PREFIX}/rows", live.rows),
    _get(f"{PREFIX}/changes", live.changes),
    _get(f"{PREFIX}/subscriptions", subscriptions.show),
    # Where the form of a purchase leads if the product is paid once, so that the answer has no subscription id.
    _get(f"{PREFIX}/subscriptions/", subscriptions.show),
    _get(f"{PREFIX}/subscriptions/{{id}}", subscriptions.one),
    _get(f"{PREFIX}/upcoming", upcoming.show),
    _get(f"{PREFIX}/faults", faults.show),
    _get(f"{PREFIX}/endpoints", endpoints.show),
    _get(f"{PREFIX}/accounts", accounts.show),
    _get(f"{PREFIX}/journal", books.journal),
    _get(f"{PREFIX}/inbox", books.inbox),
    _get(f"{PREFIX}/raw/request/{{id}}/body", shown.of_request),
    _get(f"{PREFIX}/raw/request/{{id}}/answer", shown.of_answer),
    _get(f"{PREFIX}/raw/delivery/{{id}}/body", shown.of_delivery),
    _get(f"{PREFIX}/raw/delivery/{{id}}/answer", shown.of_receiver),
)
