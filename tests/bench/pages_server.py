"""Runs an nginx that serves lists of orders, immediately or after a delay."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any

from .bodies import spelled
from .nginx import ACCOUNT, Nginx
from .turns import ROOT

PER_PAGE = 100
ECHO = "/usr/lib/nginx/modules/ngx_http_echo_module.so"

FILES = """
  sendfile on;
  tcp_nopush on;
  open_file_cache max=4096 inactive=1h;
  map $arg_page $page {{ default $arg_page; "" 1; }}
  server {{ listen 127.0.0.1:{pages};
"""
ANSWER = "rewrite ^(.*/orders)$ $1/$page break; }}"
STATES = ("paid", "paid", "paid", "confirmed", "payment_pending", "paid", "payment_failed", "payment_refunded")


def _server(delay: int) -> str:
    """Returns the configuration of nginx's server. nginx's echo module delays each request with its own timer; then
    nginx sends the file."""
    if delay == 0:
        return f"{FILES} location / {{{{ {ANSWER} }}}}"
    sleep = f"location / {{{{ echo_sleep {delay / 1000}; echo_exec @answer; }}}}"
    return f"{FILES} {sleep} location @answer {{{{ {ANSWER} }}}}"


def orders(pages: int) -> Iterator[dict[str, Any]]:
    """Yields the orders of a list of `pages` pages, latest first: copies of the example, with different ids, times and
    amounts."""
    example = json.loads((ROOT / "tests/fixtures/wire/_examples.json").read_text("utf-8"))["Order"]
    latest = datetime(2025, 4, 25, 7, 29, 58, tzinfo=UTC)
    for number in range(pages * PER_PAGE, 0, -1):
        total = 4900 + number * 37 % 50000
        yield {
            **example,
            "id": f"ord_{pages}_{number:06}",
            "created_at": (latest - timedelta(minutes=pages * PER_PAGE - number)).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "total": total,
            "total_with_vat": total * 5 // 4,
            "reference_id": f"seat-{number:06}",
            "state": STATES[number * 7 % len(STATES)],
            "remote_id": f"pi_3Pq{number:06}",
            "delivery": {"link": f"https://portal.billing.example/d/{number:06}"},
        }


def read_of(listed: Iterable[dict[str, Any]]) -> int:
    """Returns the sum that a contender must return: the sum of the amounts and of the lengths of the ids and states
    of all orders."""
    return sum(len(order["id"]) + order["total_with_vat"] + len(order["state"]) for order in listed)


def chunks_of(listed: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    rest = iter(listed)
    while chunk := list(islice(rest, PER_PAGE)):
        yield chunk


def answers(pages: int) -> Iterator[bytes]:
    """Yields the pages of the list as JSON."""

    def link(page: int) -> str | None:
        place = f"subscription/sub_{pages}/orders"
        return f"https://api.billing.example/{ACCOUNT}/{place}?page={page}" if 1 <= page <= pages else None

    for page, chunk in enumerate(chunks_of(orders(pages)), 1):
        pagination = {
            "total": pages * PER_PAGE,
            "count": len(chunk),
            "per_page": PER_PAGE,
            "current_page": page,
            "total_pages": pages,
            "links": {"next": link(page + 1), "previous": link(page - 1)},
        }
        yield spelled({"data": chunk, "pagination": pagination})


class PagesServer(Nginx):
    """Serves lists of orders, each answer after `delay` milliseconds. lists: the number of pages of each list."""

    def __init__(self, folder: Path, lists: Iterable[int], delay: int, processor: int) -> None:
        modules = f"load_module {ECHO};" if delay else ""
        super().__init__(folder, _server(delay), ["pages"], modules=modules, processor=processor)
        for pages in lists:
            place = self.root / ACCOUNT / f"subscription/sub_{pages}/orders"
            place.mkdir(parents=True)
            for number, answer in enumerate(answers(pages), 1):
                (place / str(number)).write_bytes(answer)
        self.base_url = f"http://127.0.0.1:{self.ports['pages']}/{ACCOUNT}"
